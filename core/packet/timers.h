// SPDX-License-Identifier: Apache-2.0
/// A host's timers: a binary heap ordered by (time, kind, id).
#pragma once

#include "core/memory_space.h"
#include "core/packet/state.h"

namespace sluice::step {

SLUICE_DEVICE_NOINLINE SLUICE_HD inline void push_timer(Memory& memory, Host& host,
                                                        const Timer& timer) {
    is_in_global_memory(host);
    if (!host.timers.push(memory, timer)) {
        return;
    }
    std::uint32_t child = host.timers.count - 1;
    while (child > 0) {
        const std::uint32_t parent = (child - 1) / 2;
        if (!timer.before(host.timers[parent])) {
            break;
        }
        host.timers[child] = host.timers[parent];
        child = parent;
    }
    host.timers[child] = timer;
}

SLUICE_DEVICE_NOINLINE SLUICE_HD inline Timer pop_timer(Host& host) {
    is_in_global_memory(host);
    const Timer top = host.timers[0];
    const Timer last = host.timers[--host.timers.count];
    const std::uint32_t count = host.timers.count;
    std::uint32_t parent = 0;
    for (;;) {
        std::uint32_t child = 2 * parent + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && host.timers[child + 1].before(host.timers[child])) {
            ++child;
        }
        if (!host.timers[child].before(last)) {
            break;
        }
        host.timers[parent] = host.timers[child];
        parent = child;
    }
    if (count > 0) {
        host.timers[parent] = last;
    }
    return top;
}

/// True for an answer's timer whose flow's slot was given back, and for a sender's timer that an earlier one has replaced or whose flow has finished. Whether it
/// still comes up or is taken out of the heap before depends on the window: it must do nothing.
SLUICE_HD inline bool superseded(const World& world, const Host& host, const Timer& timer) {
    if (timer.kind == TimerKind::answer) {
        return world.id[timer.slot] != timer.id;
    }
    if (timer.kind != TimerKind::sender) {
        return false;
    }
    const Sender& sender = host.senders[timer.slot];
    return sender.flow == kNone || world.id[sender.flow] != timer.id ||
           world.sender_at[sender.flow] != timer.slot || sender.armed != timer.time;
}

/// Removes senders' superseded timers from a host's heap, and grows it if most entries stay. The time-outs of finished
/// messages would lie there for milliseconds, thousands of them, and make every other timer slower.
inline void tidy_timers(World& world, Host& host) {
    PlainVector<Timer>& timers = host.timers;
    const std::uint32_t count = timers.count;
    timers.count = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Timer timer = timers[i];  // the heap is never longer than what was read
        if (timer.kind != TimerKind::sender || !superseded(world, host, timer)) {
            push_timer(world.memory, host, timer);
        }
    }
    if (timers.count > timers.capacity / 2) {
        timers.reserve(world.memory, 2 * timers.capacity);
    }
}

/// Adds the start of a flow or an application's timer to a host and wakes it.
SLUICE_HD inline void schedule(World& world, NodeId node, const Timer& timer) {
#if !defined(__CUDA_ARCH__)
    if (world.callbacks.timer_set != nullptr) {
        world.callbacks.timer_set(world.callbacks.timer_set_context, node, timer);
        return;
    }
#endif
    push_timer(world.memory, world.host[node], timer);
    const CellId home = world.home[node];
    wake_cell(world, home, timer.time);
    if (world.followed != nullptr && home != node && timer.time < world.followed[home]) {
        world.followed[home] = timer.time;  // cells are nodes where anything is folded
    }
    if (world.track_flows) {
        world.announced.push(world.memory, timer.time);
    }
}

/// Sets a timer for a host other than the one that steps, a lookahead ahead at least.
SLUICE_HD inline void call(World& world, NodeId node, const Timer& timer) {
    if (world.shared) {
        world.calls.push(world.memory, Call{node, timer});
        return;
    }
    schedule(world, node, timer);
#if !defined(__CUDA_ARCH__)
    if (world.callbacks.call_set != nullptr) {
        world.callbacks.call_set(world.callbacks.call_set_context, node, timer.time);
    }
#endif
}

}  // namespace sluice::step
