// SPDX-License-Identifier: Apache-2.0
/// The few arithmetic rules that all laws share, usable on host and device.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace sluice::congestion {

__extension__ typedef unsigned __int128 uint128;

SLUICE_HD constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return b < a ? b : a; }
SLUICE_HD constexpr std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }

/// A computed rate becomes an integer by truncation. Saturates where the conversion would be
/// undefined (callers clamp to the line rate right after); NaN becomes 0.
SLUICE_HD inline std::int64_t truncated_rate(double bits_per_second) {
    constexpr double kLimit = 4611686018427387904.0;  // 2^62: adding a step cannot overflow
    if (!(bits_per_second > 0)) {
        return 0;
    }
    return bits_per_second < kLimit ? static_cast<std::int64_t>(bits_per_second)
                                    : static_cast<std::int64_t>(kLimit);
}

/// floor(a x b / c) without overflow of the product. a, b >= 0, c > 0; the result fits 63 bits.
SLUICE_HD inline std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) {
    const uint128 product = static_cast<uint128>(a) * static_cast<uint128>(b);
    const auto divisor = static_cast<std::uint64_t>(c);
    if (static_cast<std::uint64_t>(product >> 64) == 0) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(product) / divisor);
    }
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(product / divisor));
}

/// A rate that is `at_100g` on a 100 Gb/s NIC and proportional to the NIC's rate; at least 1.
SLUICE_HD inline std::int64_t in_proportion(std::int64_t at_100g, std::int64_t line_rate) {
    return larger(scaled(at_100g, line_rate, 100'000'000'000), 1);
}

/// A rate times `factor` > 0, truncated, within [lowest, highest].
SLUICE_HD inline std::int64_t rescaled(std::int64_t rate, double factor, std::int64_t lowest,
                                       std::int64_t highest) {
    const std::int64_t wanted = truncated_rate(static_cast<double>(rate) * factor);
    return smaller(larger(wanted, lowest), highest);
}

/// A mark in the sequence space after a cut of `bytes` in flight: earlier, but not below `acked`.
SLUICE_HD inline std::int64_t rewound(std::int64_t mark, std::int64_t acked, std::int64_t bytes) {
    return mark > acked ? larger(mark - bytes, acked) : mark;
}

}  // namespace sluice::congestion
