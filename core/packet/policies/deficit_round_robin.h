// SPDX-License-Identifier: Apache-2.0
/// Deficit round robin over classes 1..7 (Shreedhar and Varghese, 1995), quantum = weight x one full
/// frame, so equal weights serve full packets in turn.
#pragma once

#include "core/packet/state.h"

namespace sluice::step {

struct DeficitRoundRobin {
    static constexpr const char* kWord = "dwrr";

    SLUICE_HD static std::uint32_t pick(const World& world, Egress& egress, std::uint32_t mask) {
        const std::int32_t frame = world.payload + world.data_overhead;
        std::uint32_t current = egress.last_class;
        for (;;) {
            if ((mask >> current & 1U) != 0 &&
                egress.deficit[current] >= egress.queue[current].front().bytes) {
                egress.deficit[current] -= egress.queue[current].front().bytes;
                egress.last_class = static_cast<std::uint8_t>(current);
                return current;
            }
            if ((mask >> current & 1U) == 0) {
                egress.deficit[current] = 0;
            }
            current = current == kClasses - 1 ? 1 : current + 1;
            if ((mask >> current & 1U) != 0) {
                egress.deficit[current] += world.config->queues.weights[current] * frame;
            }
        }
    }
};

}  // namespace sluice::step
