// SPDX-License-Identifier: Apache-2.0
/// Factors between the units of rates: bits/s of links and laws, payload bytes/s of verdicts, packets per tick of skips.
#pragma once

namespace sluice {

inline constexpr double kTicksPerSecond = 1e12;
/// A rate in bits/s over this is in bytes per tick.
inline constexpr double kBitsPerByteAndTick = 8 * kTicksPerSecond;

}  // namespace sluice
