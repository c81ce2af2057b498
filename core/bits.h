// SPDX-License-Identifier: Apache-2.0
/// Sets of small numbers, a bit of each in words of 64.
#pragma once

#include <cstdint>

namespace sluice {

/// The lowest bit that is set in `bits`, not 0.
inline std::uint32_t first_bit(std::uint64_t bits) {
    return static_cast<std::uint32_t>(__builtin_ctzll(bits));
}

}  // namespace sluice
