// SPDX-License-Identifier: Apache-2.0
/// Starting a transmission, the same for NICs and switches.
#pragma once

#include "core/ns3/state.h"
#include "core/packet/egress.h"

namespace sluice::ns3 {

/// The end of the transmission takes its place before the arrival at the peer, as in ns-3.
inline void start_transmission(State& state, PortId port, step::Egress& egress,
                               const step::Packet& packet, std::uint32_t int_hops, std::uint32_t ce,
                               Tick now) {
    Port& own = state.port[port];
    own.transmitted_order = state.queue.take_order();
    own.end_scheduled = false;
    const Tick arrival = step::push_on_link(state.world, port, egress, packet, int_hops, ce, now);
    state.queue.push(arrival, event_code(EventKind::arrival, egress.peer));
}

}  // namespace sluice::ns3
