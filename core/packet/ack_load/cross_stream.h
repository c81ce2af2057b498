// SPDX-License-Identifier: Apache-2.0
/// What ACKs that are no packets are to the ports that they cross.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::step {

/// Where ACKs are no packets: the stream of them that crosses a port, of constant rate between the instants
/// at which it is set, and what a sleeping port is (docs/models/phases.md, Local phases).
struct CrossStream {
    std::int64_t rate = 0;  ///< bytes per 2^kCrossShift ticks
    /// Bytes that have crossed until `since`, in 1/2^kPartShift of one: HPCC goes by the busiest of several truncated
    /// counters, so that ports that the same ACKs cross must not drift apart by what is rounded at each change.
    std::int64_t parts = 0;
    Tick since = 0;             ///< in the time of the port's link
    std::uint32_t stretch = 0;  ///< transmitter time beside a packet's own, 1/2^kStretchShift of it
    bool asleep = false;        ///< the port, or the host it belongs to, is skipping
};
inline constexpr int kCrossShift = 30;
inline constexpr int kPartShift = 16;
inline constexpr int kStretchShift = 20;

/// What has crossed a port until `local`, in the time of its link, not before the stream was set; in parts of bytes.
SLUICE_HD inline std::int64_t crossed_parts(const CrossStream& stream, Tick local) {
    const auto elapsed = static_cast<std::uint64_t>(local - stream.since);
    return stream.parts + static_cast<std::int64_t>(static_cast<congestion::uint128>(elapsed) *
                                                        static_cast<std::uint64_t>(stream.rate) >>
                                                    (kCrossShift - kPartShift));
}

/// The same, to the nearest byte.
SLUICE_HD inline std::int64_t crossed(const CrossStream& stream, Tick local) {
    return (crossed_parts(stream, local) + (std::int64_t{1} << (kPartShift - 1))) >> kPartShift;
}

}  // namespace sluice::step
