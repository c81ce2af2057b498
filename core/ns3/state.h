// SPDX-License-Identifier: Apache-2.0
/// What the nodes of Arithmetic::ns3 have beside the columns of step::World, and what they share
/// with each other: one event queue for the whole network.
///
/// In whole nanoseconds many events fall on one instant, and ns-3 executes them in the order in
/// which they were scheduled, over the whole network. That order decides whose packet is queued
/// first, and single completion times with it. It cannot be told from the packets (it is the whole
/// ancestry of an event), so here it is kept as ns-3 keeps it: one queue, and everything that ns-3
/// schedules takes its place in the same order, even where nothing needs to be executed.
/// Facts from the HPCC ns-3 (qbb-net-device.cc, rdma-hw.cc, switch-node.cc); docs/models/hpcc_import.md.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ns3/event_queue.h"
#include "core/packet/state.h"

namespace sluice::ns3 {

enum class EventKind : std::uint32_t { arrival, transmitted, nic_wake, timer };

inline constexpr int kKindBits = 2;
/// Ports, and timers set at one time, that an event's code can name.
inline constexpr std::uint32_t kMaxIndex = 1U << (kCodeBits - kKindBits);

inline EventCode event_code(EventKind kind, std::uint32_t index) {
    return index << kKindBits | static_cast<std::uint32_t>(kind);
}
inline EventKind event_kind(EventCode code) {
    return static_cast<EventKind>(code & ((1U << kKindBits) - 1));
}
inline std::uint32_t event_index(EventCode code) { return code >> kKindBits; }

struct Port {
    std::uint64_t transmitted_order = 0;  ///< place of the current transmission's end
    Tick wake_at = kNever;                ///< NIC: the pending wake-up for pacing
    std::uint64_t wake_order = 0;
    NodeId node = kNone;
    bool end_scheduled = false;  ///< the transmission's end is an event, not only a place
};

/// A timer that is set: a flow's start, an application's, a sender's.
struct PendingTimer {
    step::Timer timer;
    NodeId host = kNone;
};

struct State {
    State(step::World& world_in, Tick reach) : world(world_in), queue(reach) {}

    step::World& world;
    EventQueue queue;
    std::vector<Port> port;
    std::vector<PendingTimer> timer;
    std::vector<std::uint32_t> free_timers;
    std::size_t open_flows = 0;  ///< started and not complete
};

/// The first whole nanosecond that is not before `at`.
inline Tick whole_nanoseconds(Tick at) {
    return (at + kNanosecond - 1) / kNanosecond * kNanosecond;
}

/// Schedules a host's timer at its time, which is a whole number of nanoseconds.
void set_timer(State& state, NodeId host, const step::Timer& timer);

/// True while `port` transmits: until the end of the transmission, whose place at that very instant
/// counts.
inline bool transmitting(const State& state, PortId port, const step::Egress& egress, Tick now) {
    return egress.free_at > now ||
           (egress.free_at == now && state.port[port].transmitted_order > state.queue.current());
}

/// Somebody waits for the end of the transmission: it becomes an event.
inline void await_end(State& state, PortId port, const step::Egress& egress) {
    Port& own = state.port[port];
    if (!own.end_scheduled) {
        own.end_scheduled = true;
        state.queue.insert(egress.free_at, own.transmitted_order,
                           event_code(EventKind::transmitted, port));
    }
}

}  // namespace sluice::ns3
