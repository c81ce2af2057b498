// SPDX-License-Identifier: Apache-2.0
/// When cells of a block have something to do.
#pragma once

#include "core/bits.h"
#include "core/packet/state.h"

namespace sluice::step {

/// The earliest wake of the cells of `block` whose bit is set in `cells`; kNever if there is none.
inline Tick earliest_wake(const World& world, std::uint32_t block, std::uint64_t cells) {
    Tick at = kNever;
    for (; cells != 0; cells &= cells - 1) {
        const Tick wake = world.wake[block * 64 + first_bit(cells)];
        at = wake < at ? wake : at;
    }
    return at;
}

}  // namespace sluice::step
