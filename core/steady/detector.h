// SPDX-License-Identifier: Apache-2.0
/// Tells when a group of flows (a partition, or the whole network) has become steady, and how far
/// what was seen may be extrapolated. A detector reads series that the phase controller samples
/// between windows from counters that the engine keeps anyway; it knows nothing of engines.
///
/// All times are the group's local time, in which skips take no time: a series is continuous across
/// them, and bytes do not count what was skipped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/congestion/types.h"
#include "core/ids.h"
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
    Tick lag = 0;             ///< the most that a flow of it has skipped so far, in whatever group
};

/// What a detector concludes.
struct Verdict {
    bool steady = false;
    /// Steady: the longest skip, local ticks, within which extrapolation is trusted.
    Tick longest_skip = 0;
    /// Steady: mean rates over the observed span, payload bytes per second, by flow.
    std::vector<double> rate;
    /// Not steady: why, a short constant ("rate range", "trend", "queue", "span"), for phases.csv.
    const char* reason = "";
};

class Detector {
  public:
    virtual ~Detector() = default;
    /// The group's flows changed: forget everything.
    virtual void reset(const GroupFacts& facts) = 0;
    /// One sample: `flows` by the group's order of flows, `queues` (bytes) by its order of ports.
    virtual void add(Tick now, const std::vector<FlowReading>& flows,
                     const std::vector<std::int64_t>& queues) = 0;
    /// True if this detector reads `queues`; otherwise callers may pass none.
    virtual bool reads_queues() const = 0;
    virtual Verdict judge() const = 0;
    /// A skip of `skipped` (as cut short by the caller) was made on the last verdict. What follows
    /// is the probe that confirms it or not; the next verdict may allow a longer one.
    virtual void resumed(Tick skipped) = 0;
};

enum class Metric : std::uint8_t { hygra, rate, inflight, queue };

/// Zero or negative: chosen from the facts (Wormhole appendix F, docs/models/phases.md).
struct DetectorSettings {
    Metric metric = Metric::rate;
    double theta = 0;       ///< rate, inflight, queue: relative range (Wormhole eq. 6)
    Tick span = 0;          ///< least observed time, l x the sampling period
    double eps_bw = 0;      ///< hygra: range of bandwidth, relative to line rate (eq. 1)
    double eps_q = 0;       ///< hygra: range of queue depth, bytes
    int stable_rounds = 0;  ///< hygra: N_stable
    double tolerance = 0;   ///< bounded trend: relative error of a flow's bytes by skips
    double growth = 0;      ///< first skip at most this many spans; doubles with every skip made
};

const char* metric_name(Metric metric);

/// `settings` with every value that was left open filled in for this group.
DetectorSettings resolved(const DetectorSettings& settings, const GroupFacts& facts);

std::unique_ptr<Detector> make_detector(const DetectorSettings& settings);

/// Sampling period for a group: a fraction of its base RTT, no less than a few packets' time.
Tick sampling_period(const GroupFacts& facts);

}  // namespace sluice::steady
