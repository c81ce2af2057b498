// SPDX-License-Identifier: Apache-2.0
/// What ACKs that are no packets are to the ports that they cross.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::step {

inline constexpr int kCrossShift = 30;
inline constexpr int kPartShift = 16;
inline constexpr int kStretchShift = 20;
/// Changes of a stream that have not come to a port yet, at most.
inline constexpr std::uint32_t kMostComing = 8;

/// Where ACKs are no packets: the stream of them that crosses a port, of constant rate between changes, and what a
/// sleeping port is (docs/models/phases.md, Local phases). Times are those of the port's link.
struct CrossStream {
    /// Before `from` the stream has not `rate` of what it will have.
    struct Change {
        Tick from = 0;
        std::int64_t rate = 0;
    };
    std::int64_t rate = 0;  ///< bytes per 2^kCrossShift ticks, once all changes have come
    /// Bytes that have crossed until `since`, in 1/2^kPartShift of one: HPCC goes by the busiest of several truncated
    /// counters, so that ports that the same ACKs cross must not drift apart by what is rounded at each change.
    std::int64_t parts = 0;
    Tick since = 0;
    std::int64_t capacity = 0;  ///< of the port, as `rate`
    std::int64_t most = 0;      ///< of it, that slows data: what is beyond is counted only
    std::uint32_t stretch =
        0;  ///< transmitter time beside a packet's own, 1/2^kStretchShift of it,
    std::int64_t stretched_by = 0;  ///< at this rate
    std::uint32_t coming = 0;       ///< changes
    bool asleep = false;            ///< the port, or the host it belongs to, is skipping
    Change changes[kMostComing]{};  ///< in no order
};

/// What `rate` brings in so many ticks, in parts of bytes.
SLUICE_HD inline std::int64_t parts_in(std::int64_t rate, Tick ticks) {
    const std::int64_t size = rate < 0 ? -rate : rate;
    const auto parts = static_cast<std::int64_t>(
        static_cast<congestion::uint128>(static_cast<std::uint64_t>(ticks)) *
            static_cast<std::uint64_t>(size) >>
        (kCrossShift - kPartShift));
    return rate < 0 ? -parts : parts;
}

/// What has crossed a port until `local`, not before `since`; in parts of bytes.
SLUICE_HD inline std::int64_t crossed_parts(const CrossStream& stream, Tick local) {
    std::int64_t parts = stream.parts + parts_in(stream.rate, local - stream.since);
    for (std::uint32_t i = 0; i < stream.coming; ++i) {
        const CrossStream::Change& change = stream.changes[i];
        parts -= parts_in(change.rate, (local < change.from ? local : change.from) - stream.since);
    }
    return parts;
}

/// The same, to the nearest byte.
SLUICE_HD inline std::int64_t crossed(const CrossStream& stream, Tick local) {
    return (crossed_parts(stream, local) + (std::int64_t{1} << (kPartShift - 1))) >> kPartShift;
}

/// The stream has come to `local`: what has come by then is no change any more.
SLUICE_HD inline void advance(CrossStream& stream, Tick local) {
    stream.parts = crossed_parts(stream, local);
    stream.since = local;
    for (std::uint32_t i = stream.coming; i-- > 0;) {
        if (stream.changes[i].from <= local) {
            stream.changes[i] = stream.changes[--stream.coming];
        }
    }
}

/// From `from` on, not before `since`, the stream has `rate` more.
SLUICE_HD inline void change(CrossStream& stream, Tick from, std::int64_t rate) {
    stream.rate += rate;
    if (from > stream.since) {
        stream.changes[stream.coming++] = {from, rate};
    }
}

/// Transmitter time at `local` beside a packet's own, 1/2^kStretchShift of it.
SLUICE_HD inline std::uint32_t stretch_at(CrossStream& stream, Tick local) {
    std::int64_t rate = stream.rate;
    for (std::uint32_t i = 0; i < stream.coming; ++i) {
        rate -= local < stream.changes[i].from ? stream.changes[i].rate : 0;
    }
    if (rate != stream.stretched_by) {
        advance(stream, local);  // so that nobody looks at what has come again
        const std::int64_t slows = rate < stream.most ? rate : stream.most;
        stream.stretch =
            static_cast<std::uint32_t>((static_cast<std::uint64_t>(slows) << kStretchShift) /
                                       static_cast<std::uint64_t>(stream.capacity - slows));
        stream.stretched_by = rate;
    }
    return stream.stretch;
}

}  // namespace sluice::step
