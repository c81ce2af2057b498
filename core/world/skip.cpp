// SPDX-License-Identifier: Apache-2.0
#include "core/world/skip.h"

#include <algorithm>

namespace sluice::step {

void order_timers(PlainVector<Timer>& timers) {
    std::make_heap(timers.data, timers.data + timers.count,
                   [](const Timer& a, const Timer& b) { return b.before(a); });
}

void shift_host(World& world, NodeId host, Tick dt) {
    PlainVector<Timer>& timers = world.host[host].timers;
    bool moved = false;
    for (std::uint32_t i = 0; i < timers.count; ++i) {
        if (timers[i].kind == TimerKind::sender || timers[i].kind == TimerKind::answer) {
            shift_fields(timers[i], dt);
            moved = true;
        }
    }
    if (moved) {
        order_timers(timers);
    }
}

void forget_stale_wakes(World& world) {
    for (NodeId n = 0; n < world.node_count; ++n) {
        drop_stale_timers(world, n);
        refresh_wake(world, n);
    }
    for (std::uint32_t cell = 0; cell < world.cell_count; cell += 64) {
        const std::uint32_t last = std::min(cell + 64, world.cell_count);
        world.block_wake[cell / 64] = *std::min_element(world.wake + cell, world.wake + last);
    }
}

}  // namespace sluice::step
