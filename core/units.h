// SPDX-License-Identifier: Apache-2.0
/// Time, sizes and rates. Time is an integer count of picoseconds everywhere: no floating-point
/// time exists in the project. At 100 Gb/s one byte lasts exactly 80 ticks.
#pragma once

#include <cstdint>
#include <limits>

#include "core/hd.h"

namespace sluice {

/// Simulated time or duration, picoseconds. 63 bits hold 106 days.
using Tick = std::int64_t;

inline constexpr Tick kPicosecond = 1;
inline constexpr Tick kNanosecond = 1'000;
inline constexpr Tick kMicrosecond = 1'000'000;
inline constexpr Tick kMillisecond = 1'000'000'000;
inline constexpr Tick kSecond = 1'000'000'000'000;
/// Later than every instant of a simulation.
inline constexpr Tick kNever = std::numeric_limits<Tick>::max();

/// For what is reported: no simulated time is a floating-point number.
SLUICE_HD constexpr double to_seconds(Tick time) {
    return static_cast<double>(time) / static_cast<double>(kSecond);
}

/// A byte count that cannot be mistaken for another integer.
struct Bytes {
    std::int64_t count = 0;

    friend constexpr bool operator==(Bytes a, Bytes b) { return a.count == b.count; }
    friend constexpr bool operator!=(Bytes a, Bytes b) { return a.count != b.count; }
    friend constexpr bool operator<(Bytes a, Bytes b) { return a.count < b.count; }
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
};

/// A data rate in bits per second.
struct Rate {
    std::int64_t bits_per_second = 0;

    friend constexpr bool operator==(Rate a, Rate b) {
        return a.bits_per_second == b.bits_per_second;
    }
    friend constexpr bool operator!=(Rate a, Rate b) {
        return a.bits_per_second != b.bits_per_second;
    }
    friend constexpr bool operator<(Rate a, Rate b) {
        return a.bits_per_second < b.bits_per_second;
    }
};

constexpr Rate gigabits_per_second(std::int64_t n) { return {n * 1'000'000'000}; }
constexpr Rate megabits_per_second(std::int64_t n) { return {n * 1'000'000}; }
constexpr Bytes kibibytes(std::int64_t n) { return {n * 1024}; }
constexpr Bytes mebibytes(std::int64_t n) { return {n * 1024 * 1024}; }

/// How durations of transmissions are rounded.
enum class Arithmetic : std::uint8_t {
    /// Picoseconds, rounded up to the next tick. The default.
    exact,
    /// Whole nanoseconds, truncated, through ns-3's double and 64.64 fixed-point conversions, so
    /// that an HPCC ns-3 experiment gets the durations that ns-3 gives it (links run up to 1% fast).
    ns3,
};

/// ns-3's Time::FromDouble of `value` in a unit of `nanoseconds`: the double is cut to 64 fractional
/// bits, multiplied and truncated, so 0.0003 ms becomes 299 ns. Returns ticks (a multiple of 1000).
/// `value` must be finite, not negative and below 9e15 ns.
SLUICE_HD inline Tick ns3_duration(double value, std::uint64_t nanoseconds) {
    __extension__ typedef unsigned __int128 u128;
    const auto whole = static_cast<std::uint64_t>(value);
    const double fraction = value - static_cast<double>(whole);
    const auto low = static_cast<std::uint64_t>(fraction * 18446744073709551616.0);
    const u128 nanoseconds_q64 =
        ((static_cast<u128>(whole) << 64) | low) * static_cast<u128>(nanoseconds);
    return static_cast<Tick>(nanoseconds_q64 >> 64) * kNanosecond;
}

/// The same in seconds: 2.001 s becomes 2,000,999,999 ns. `seconds` must be below 9e6.
SLUICE_HD inline Tick ns3_seconds(double seconds) { return ns3_duration(seconds, 1'000'000'000U); }

/// Time to put `bytes` on a wire of `rate` under `arithmetic`. rate > 0, 0 <= bytes < 2^20.
SLUICE_HD inline Tick serialization_time(std::int64_t bytes, Rate rate, Arithmetic arithmetic) {
    if (arithmetic == Arithmetic::ns3) {
        return ns3_seconds(static_cast<double>(bytes) * 8 /
                           static_cast<double>(rate.bits_per_second));
    }
    const std::int64_t scaled = bytes * 8 * kSecond;
    return (scaled + rate.bits_per_second - 1) / rate.bits_per_second;
}

}  // namespace sluice
