// SPDX-License-Identifier: Apache-2.0
/// How a host's step reaches whoever wants to know of it.
#pragma once

#include "core/packet/state.h"

namespace sluice::step {

/// What a host's step tells, and asks before it executes something: a policy of the step. This one calls
/// World::callbacks, and memory is always there; gpu/program/lane_events.h has that of lanes.
struct CallbackEvents {
    /// Something is about to be executed at a host. False: it must wait for memory.
    SLUICE_HD static bool has_room(World&, NodeId) { return true; }
    /// The same for the start of a flow.
    SLUICE_HD static bool has_room_for_flow(World&, NodeId, FlowSlot) { return true; }
    /// An application has what it could not do for want of memory done. False: it must wait.
    SLUICE_HD static bool resume(World&, NodeId) { return true; }
    /// An application must wait for memory; nothing else may happen at the host before.
    SLUICE_HD static bool is_stuck(const World&, NodeId) { return false; }
    /// The last in-order byte of a flow has come.
    SLUICE_HD static void received([[maybe_unused]] World& world, [[maybe_unused]] NodeId node,
                                   [[maybe_unused]] FlowSlot flow, [[maybe_unused]] Tick now) {
#if !defined(__CUDA_ARCH__)
        if (world.callbacks.received != nullptr) {
            world.callbacks.received(world, node, flow, now);
        }
#endif
    }
    /// All of a flow is acknowledged.
    SLUICE_HD static void sent([[maybe_unused]] World& world, [[maybe_unused]] NodeId node,
                               [[maybe_unused]] FlowSlot flow, [[maybe_unused]] Tick now) {
#if !defined(__CUDA_ARCH__)
        if (world.callbacks.sent != nullptr) {
            world.callbacks.sent(world, node, flow, now);
        }
#endif
    }
    /// An application's timer.
    SLUICE_HD static void timer([[maybe_unused]] World& world, [[maybe_unused]] NodeId node,
                                [[maybe_unused]] std::uint64_t token, [[maybe_unused]] Tick now) {
#if !defined(__CUDA_ARCH__)
        if (world.callbacks.timer != nullptr) {
            world.callbacks.timer(world, node, token, now);
        }
#endif
    }
};

}  // namespace sluice::step
