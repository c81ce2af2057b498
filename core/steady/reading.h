// SPDX-License-Identifier: Apache-2.0
/// What a detector is told: of a group before the first reading, and of a flow in each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/congestion/laws.h"
#include "core/units.h"

namespace sluice::steady {

/// One reading of one flow.
struct FlowReading {
    /// Local time at which `acked` was reached (not the time of the reading): two readings give an
    /// average rate without rounding to whole packets per interval. Equal to the previous reading's
    /// if nothing was acknowledged in between.
    Tick progress = 0;
    std::int64_t acked = 0;      ///< payload bytes acknowledged
    std::int64_t in_flight = 0;  ///< payload bytes sent and not acknowledged
    std::int64_t rate = 0;       ///< the law's current rate, bits/s
    std::int64_t echoes = 0;     ///< ACKs that told the law of a mark; 0 if it counts none
};

/// What a detector knows of a group before the first reading.
struct GroupFacts {
    congestion::Parameters congestion;
    Tick base_rtt = 0;            ///< the largest of its flows
    std::int64_t line_rate = 0;   ///< the largest of its flows' NICs, bits/s
    std::int64_t payload = 1000;  ///< bytes of a full packet
    std::size_t flows = 0;
    std::size_t ports = 0;
    std::size_t sharing = 1;  ///< most flows whose data packets leave by one port
    /// Most switches of a flow that is alone on its ports or meets others' ACK packets there: counters of bytes by
    /// which a law may go.
    std::size_t counters = 0;
    Tick lag = 0;  ///< the most that a flow of it has skipped so far, in whatever group
};

/// Which detectors there are: the list in core/steady/detectors.h. The first is the default.
enum class DetectorKind : std::uint8_t;

/// Zero or negative: chosen from the facts (Wormhole appendix F, docs/models/phases.md).
struct DetectorSettings {
    DetectorKind kind{};
    double theta = 0;       ///< relative range of a metric (Wormhole eq. 6)
    Tick span = 0;          ///< least observed time, l x the sampling period
    double eps_bw = 0;      ///< hygra: range of bandwidth, relative to line rate (eq. 1)
    double eps_q = 0;       ///< range of queue depth, bytes
    int stable_rounds = 0;  ///< hygra: N_stable
    double tolerance = 0;   ///< bounded trend: relative error of a flow's bytes by skips
    double growth = 0;      ///< first skip at most this many spans; doubles with every skip made
};

}  // namespace sluice::steady
