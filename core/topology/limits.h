// SPDX-License-Identifier: Apache-2.0
/// What a network may hold. Beyond these a value is a mistake of the input, refused before anything
/// is allocated for it; within them no product of bytes, rate and time overflows 64 bits (a packet
/// of 2^20 bytes lasts at most 8.4e15 ps).
#pragma once

#include <cstdint>

#include "core/units.h"

namespace sluice {

inline constexpr std::int64_t kMaxNodes = 4'000'000;
inline constexpr std::int64_t kMaxLinks = 32'000'000;
inline constexpr Rate kMinLinkRate{1'000};
inline constexpr Rate kMaxLinkRate{1'000'000'000'000'000};
inline constexpr Tick kMaxLinkDelay = 1'000 * kSecond;

}  // namespace sluice
