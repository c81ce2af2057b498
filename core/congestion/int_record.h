// SPDX-License-Identifier: Apache-2.0
/// In-band telemetry: what one switch port tells about itself in 64 bits, as HPCC's ns-3 packs it.
///
///   bits  0-2   index of the port's rate in IntRates
///   bits  3-26  time, whole nanoseconds, modulo 2^24 (16.8 ms)
///   bits 27-46  bytes the port has sent, in units of 128 x multiplier, truncated, modulo 2^20
///   bits 47-63  bytes queued at the port, in units of 80 x multiplier, truncated, modulo 2^17
///
/// Stamped at dequeue; both counts exclude the departing packet. Differences between two records of
/// one port are taken modulo the field, so they are right while less than one wrap lies between.
/// A queue longer than the field wraps too (10.5 MB x multiplier), as it does in the reference.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion {

inline constexpr int kIntRateBits = 3;
inline constexpr int kIntTimeBits = 24;
inline constexpr int kIntBytesBits = 20;
inline constexpr int kIntQueueBits = 17;
inline constexpr int kIntTimeShift = kIntRateBits;
inline constexpr int kIntBytesShift = kIntTimeShift + kIntTimeBits;
inline constexpr int kIntQueueShift = kIntBytesShift + kIntBytesBits;
inline constexpr std::uint64_t kIntRateMask = (1U << kIntRateBits) - 1;
inline constexpr std::uint64_t kIntTimeMask = (1U << kIntTimeBits) - 1;
inline constexpr std::uint64_t kIntBytesMask = (1U << kIntBytesBits) - 1;
inline constexpr std::uint64_t kIntQueueMask = (1U << kIntQueueBits) - 1;
inline constexpr std::uint64_t kIntBytesUnit = 128;
inline constexpr std::uint64_t kIntQueueUnit = 80;
inline constexpr int kMaxIntMultiplier = 4096;

/// The units of a network's records with the reciprocals that make stamping free of divisions.
struct IntUnits {
    std::uint64_t bytes_unit = kIntBytesUnit;
    std::uint64_t queue_unit = kIntQueueUnit;
    std::uint64_t bytes_reciprocal = 0;  ///< ceil(2^64 / bytes_unit)
    std::uint64_t queue_reciprocal = 0;
};

/// 1 <= multiplier <= kMaxIntMultiplier.
SLUICE_HD inline IntUnits int_units(int multiplier) {
    IntUnits units;
    units.bytes_unit = kIntBytesUnit * static_cast<std::uint64_t>(multiplier);
    units.queue_unit = kIntQueueUnit * static_cast<std::uint64_t>(multiplier);
    units.bytes_reciprocal = ~std::uint64_t{0} / units.bytes_unit + 1;
    units.queue_reciprocal = ~std::uint64_t{0} / units.queue_unit + 1;
    return units;
}

/// floor(count / unit). The product with the reciprocal is exact for count x unit < 2^64: with
/// r = (2^64 + e) / unit, 0 <= e < unit, its excess count x e / (unit x 2^64) stays below 1 / unit.
SLUICE_HD inline std::uint64_t whole_units(std::uint64_t count, std::uint64_t unit,
                                           std::uint64_t reciprocal) {
    if ((count >> 44) != 0) {  // units stay below 2^20
        return count / unit;
    }
    return static_cast<std::uint64_t>((static_cast<uint128>(count) * reciprocal) >> 64);
}

/// now, tx_bytes, queue >= 0; 0 <= rate_index < 8.
SLUICE_HD inline IntRecord pack_int(Tick now, std::int64_t tx_bytes, std::int64_t queue,
                                    int rate_index, const IntUnits& units) {
    const std::uint64_t time = static_cast<std::uint64_t>(now) / kNanosecond;
    const std::uint64_t bytes =
        whole_units(static_cast<std::uint64_t>(tx_bytes), units.bytes_unit, units.bytes_reciprocal);
    const std::uint64_t queued =
        whole_units(static_cast<std::uint64_t>(queue), units.queue_unit, units.queue_reciprocal);
    return (static_cast<std::uint64_t>(rate_index) & kIntRateMask) |
           ((time & kIntTimeMask) << kIntTimeShift) | ((bytes & kIntBytesMask) << kIntBytesShift) |
           ((queued & kIntQueueMask) << kIntQueueShift);
}

/// The record of a port that has sent so many units more, modulo the field.
SLUICE_HD inline IntRecord with_more_units(IntRecord record, std::uint64_t units) {
    const std::uint64_t bytes = ((record >> kIntBytesShift) + units) & kIntBytesMask;
    return (record & ~(kIntBytesMask << kIntBytesShift)) | bytes << kIntBytesShift;
}

SLUICE_HD inline int int_rate_index(IntRecord record) {
    return static_cast<int>(record & kIntRateMask);
}

/// Queue length, bytes (a multiple of the unit).
SLUICE_HD inline std::int64_t int_queue_bytes(IntRecord record, int multiplier) {
    return static_cast<std::int64_t>((record >> kIntQueueShift) * kIntQueueUnit *
                                     static_cast<std::uint64_t>(multiplier));
}

/// Nanoseconds from `earlier` to `later`, modulo 2^24.
SLUICE_HD inline std::int64_t int_time_delta(IntRecord later, IntRecord earlier) {
    return static_cast<std::int64_t>(((later >> kIntTimeShift) - (earlier >> kIntTimeShift)) &
                                     kIntTimeMask);
}

/// Bytes sent from `earlier` to `later`, modulo 2^20 units.
SLUICE_HD inline std::int64_t int_bytes_delta(IntRecord later, IntRecord earlier, int multiplier) {
    const std::uint64_t units =
        ((later >> kIntBytesShift) - (earlier >> kIntBytesShift)) & kIntBytesMask;
    return static_cast<std::int64_t>(units * kIntBytesUnit *
                                     static_cast<std::uint64_t>(multiplier));
}

/// What a port would have said after `part` of `parts` equal steps from `earlier` to `later`: each field truncated, as it is
/// in records. `phase`, below `parts`, is how far it is from the next unit at first.
SLUICE_HD inline IntRecord record_between(IntRecord earlier, IntRecord later, std::uint32_t part,
                                          std::uint32_t parts, std::uint32_t phase) {
    const auto share = [&](std::uint64_t whole) { return (whole * part + phase) / parts; };
    const auto moved = [&](int shift, std::uint64_t mask) {
        const std::uint64_t step = ((later >> shift) - (earlier >> shift)) & mask;
        return (((earlier >> shift) + share(step)) & mask) << shift;
    };
    const std::uint64_t before = earlier >> kIntQueueShift;
    const std::uint64_t after = later >> kIntQueueShift;
    const std::uint64_t queue =
        after >= before ? before + share(after - before) : before - share(before - after);
    return (later & kIntRateMask) | moved(kIntTimeShift, kIntTimeMask) |
           moved(kIntBytesShift, kIntBytesMask) | queue << kIntQueueShift;
}

}  // namespace sluice::congestion
