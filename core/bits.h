// SPDX-License-Identifier: Apache-2.0
/// Words of bits.
#pragma once

#include <cstdint>

namespace sluice {

/// The place of the lowest bit that is set; `bits` is not 0.
inline std::uint32_t first_bit(std::uint64_t bits) {
    return static_cast<std::uint32_t>(__builtin_ctzll(bits));
}

}  // namespace sluice
