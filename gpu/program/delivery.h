// SPDX-License-Identifier: Apache-2.0
/// What nodes take at a window's end of what others have sent them. False: memory is missing, and nothing is
/// taken.
#pragma once

#include "core/memory_space.h"
#include "core/packet/timers.h"
#include "gpu/program/lane.h"

namespace sluice::gpu {

/// Puts the packets that wait for `port` on its link.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline bool take_outbox(step::World& world, PortId port) {
    is_in_shared_memory(world);
    step::Wire& box = world.link[outbox_of(world, port)];
    step::Wire& link = world.link[port];
    const std::uint32_t count = box.size();
    if (count == 0) {
        return true;
    }
    if (!link.reserve(world.memory, count)) {
        return false;
    }
    for (; box.head != box.tail; box.pop()) {
        link.push(world.memory, box.front());
    }
    box.head = 0;
    box.tail = 0;
    link.arrival = step::next_arrival(link);
    return true;
}

/// Sets the timers that others have for `host`.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline bool take_calls(Lane& lane, step::World& world,
                                                        NodeId host) {
    is_in_global_memory(lane);
    is_in_shared_memory(world);
    HostPlan& plan = lane.host_plan[host];
    if (lane.callers.count == 0 || plan.called) {
        return true;
    }
    std::uint32_t count = 0;
    for (std::uint32_t c = 0; c < lane.callers.count; ++c) {
        const PlainVector<step::Call>& calls = lane.host_plan[lane.callers[c]].calls;
        for (std::uint32_t k = 0; k < calls.count; ++k) {
            count += calls[k].host == host ? 1 : 0;
        }
    }
    PlainVector<step::Timer>& timers = world.host[host].timers;
    if (count > 0 && !timers.reserve(world.memory, timers.count + count)) {
        return false;
    }
    for (std::uint32_t c = 0; count > 0 && c < lane.callers.count; ++c) {
        const PlainVector<step::Call>& calls = lane.host_plan[lane.callers[c]].calls;
        for (std::uint32_t k = 0; k < calls.count; ++k) {
            if (calls[k].host == host) {
                step::schedule(world, host, calls[k].timer);
            }
        }
    }
    plan.called = true;
    return true;
}

}  // namespace sluice::gpu
