// SPDX-License-Identifier: Apache-2.0
/// When a NIC port decides what it sends next.
#pragma once

#include "core/memory_space.h"
#include "core/packet/state.h"

namespace sluice::step {

/// May this NIC port send ACKs now (as far as PFC goes)?
SLUICE_HD inline bool ack_ready(const World& world, const Egress& egress) {
    return (egress.nonempty & 1U) != 0 &&
           (egress.paused >> world.config->queues.ack_pause_class & 1U) == 0;
}

SLUICE_HD inline bool sender_paused(const Host& host, const Egress& egress, std::uint32_t sender) {
    return egress.paused != 0 && (egress.paused >> host.senders[sender].traffic_class & 1U) != 0;
}

/// Sets the next decision of a port of `host`.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void decide(World& world, const Host& host, PortId port,
                                                    Tick now) {
    is_in_shared_memory(world);
    is_in_global_memory(host);
    const Egress& egress = world.egress[port];
    if (!egress.up) {
        world.link[port].decision = kNever;
        return;
    }
    Tick at = kNever;
    if (ack_ready(world, egress)) {
        at = now;
    } else {
        const HostPort& nic = world.host_port[port];
        for (std::uint32_t i = 0; i < nic.ready.count; ++i) {
            if (nic.ready[i] < at && !sender_paused(host, egress, nic.sender[i])) {
                at = nic.ready[i];
            }
        }
    }
    if (at != kNever) {
        const Tick soonest = egress.free_at > now ? egress.free_at : now;
        at = at < soonest ? soonest : at;
    }
    world.link[port].decision = at;
}

/// The same after `flow` has joined the port's others: at a port that can send nothing, one more that is
/// paused and has a connection of its own changes nothing. Flows that keep coming to a paused host would be
/// looked at all over each time.
SLUICE_HD inline void decide_joined(World& world, const Host& host, PortId port, FlowSlot flow,
                                    Tick now) {
    const bool alone = world.spec[flow].connection == kNone;
    if (!alone || world.link[port].decision != kNever ||
        !sender_paused(host, world.egress[port], world.sender_at[flow])) {
        decide(world, host, port, now);
    }
}

}  // namespace sluice::step
