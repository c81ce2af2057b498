// SPDX-License-Identifier: Apache-2.0
#include "core/step/skip.h"

#include <algorithm>

namespace sluice::step {

void shift_host(World& world, NodeId host, Tick dt) {
    PlainVector<Timer>& timers = world.host[host].timers;
    bool moved = false;
    for (std::uint32_t i = 0; i < timers.count; ++i) {
        if (timers[i].kind == TimerKind::sender) {
            timers[i].time += dt;
            moved = true;
        }
    }
    if (moved) {
        std::make_heap(timers.data, timers.data + timers.count,
                       [](const Timer& a, const Timer& b) { return b.before(a); });
    }
}

}  // namespace sluice::step
