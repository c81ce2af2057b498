// SPDX-License-Identifier: Apache-2.0
/// A host's step in a lane (step::CallbackEvents has the duties): memory is asked for before anything is
/// executed, so that a host that finds none stands at an instant before which all is done and after which
/// nothing is.
#pragma once

#include "core/packet/nic.h"
#include "gpu/program/lane.h"

namespace sluice::gpu {

/// Room for one packet more in a link or queue.
SLUICE_HD inline bool room_for_one(step::Memory& memory, step::Ring& ring) {
    return ring.reserve(memory, 1);
}

/// More than any one event of a host's puts into its heap, jobs aside: a turn passed on, and timers of two
/// senders.
inline constexpr std::uint32_t kTimersOfAnEvent = 4;

struct LaneEvents {
    SLUICE_HD static bool has_room(step::World& world, NodeId node) {
        step::Host& host = world.host[node];
        step::Memory& memory = world.memory;
        bool there = host.timers.reserve(memory, host.timers.count + kTimersOfAnEvent);
        for (PortId p = world.first_port[node]; p < world.first_port[node + 1]; ++p) {
            step::Egress& egress = world.egress[p];
            there = there && room_for_one(memory, egress.queue[0]) &&
                    room_for_one(memory, world.link[egress.out]);
        }
        return there;
    }

    SLUICE_HD static bool has_room_for_flow(step::World& world, NodeId node, FlowSlot flow) {
        step::Host& host = world.host[node];
        step::Memory& memory = world.memory;
        bool there = host.free_senders.count > 0 ||
                     host.senders.reserve(memory, host.senders.count + 1);
        there = there && host.free_senders.reserve(memory, host.senders.capacity);
        for (PortId p = world.first_port[node]; p < world.first_port[node + 1]; ++p) {
            step::HostPort& port = world.host_port[p];
            there = there && port.sender.reserve(memory, port.sender.count + 1) &&
                    port.ready.reserve(memory, port.ready.count + 1);
        }
        return there && has_int_slots(world, host, flow);
    }

    SLUICE_HD static void received(step::World&, NodeId, FlowSlot, Tick) {}

    SLUICE_HD static void sent(step::World& world, NodeId node, FlowSlot flow, Tick) {
        // Nothing is left of a flow that sent nothing twice and whose packets kept their order.
        if (world.result[flow].retransmitted == 0 && !world.route_by_table &&
            !world.links_changed) {
            step::return_int_slots(world, world.host[node], flow);
        }
    }

    SLUICE_HD static void timer(step::World&, NodeId, std::uint64_t, Tick) {}

  private:
    /// Sees to it that take_int_slots() finds a free block.
    SLUICE_HD static bool has_int_slots(step::World& world, step::Host& host, FlowSlot flow) {
        if (world.int_block == 0) {
            return true;
        }
        const std::int64_t packets =
            (world.spec[flow].size + world.payload - 1) / world.payload;
        const std::uint32_t size_class =
            step::int_size_class(world, static_cast<std::uint32_t>(packets));
        while (host.free_ints.count <= size_class) {
            if (!host.free_ints.push(world.memory, step::IntBlock{})) {
                return false;
            }
        }
        step::IntBlock& free = host.free_ints[size_class];
        if (free.empty()) {
            free = step::new_int_block(world.memory, size_class, world.int_stride);
        }
        return !free.empty();
    }
};

}  // namespace sluice::gpu
