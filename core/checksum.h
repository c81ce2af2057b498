// SPDX-License-Identifier: Apache-2.0
/// A 64-bit sum over bytes, the same on every machine: against damage, not against intent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/random.h"

namespace sluice {

inline std::uint64_t checksum(std::string_view bytes) {
    std::uint64_t sum = mix_bits(bytes.size());
    std::size_t at = 0;
    while (at < bytes.size()) {
        std::uint64_t word = 0;
        for (int i = 0; i < 8 && at < bytes.size(); ++i, ++at) {
            word |= std::uint64_t{static_cast<unsigned char>(bytes[at])} << (8 * i);
        }
        sum = mix_bits(sum ^ word);
    }
    return sum;
}

}  // namespace sluice
