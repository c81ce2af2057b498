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
#include <vector>

#include "core/steady/reading.h"
#include "core/units.h"

namespace sluice::steady {

/// What a detector concludes.
struct Verdict {
    bool steady = false;
    /// Steady: the longest skip, local ticks, within which extrapolation is trusted.
    Tick longest_skip = 0;
    /// Steady: mean rates over the observed span, payload bytes per second, by flow.
    std::vector<double> rate;
    /// Steady: the share of marked ACKs among packets acknowledged over that span, by flow.
    std::vector<double> marked;
    /// Steady: the laws' mean rates over that span, bits/s, by flow; none: the metric is another one.
    std::vector<double> law;
    /// Not steady: why, a short constant ("rate range", "trend", "queue", "span"), for phases.csv.
    const char* reason = "";
};

/// What a group's flows do, sample by sample, and what follows from it. Detectors are listed in core/steady/detectors.h.
class Detector {
  public:
    virtual ~Detector() = default;

    virtual std::unique_ptr<Detector> clone() const = 0;
    /// The group's flows changed: forget everything.
    virtual void reset(const GroupFacts& facts) = 0;
    /// One sample: `flows` by the group's order of flows, `queues` (bytes) by its order of ports.
    virtual void add(Tick now, const std::vector<FlowReading>& flows,
                     const std::vector<std::int64_t>& queues) = 0;
    /// True if this detector reads `queues`; otherwise callers may pass none.
    virtual bool reads_queues() const { return false; }
    virtual const Verdict& judge() const = 0;
    /// A skip of `skipped` (as cut short by the caller) was made on the last verdict. What follows
    /// is the probe that confirms it or not; the next verdict may allow a longer one.
    virtual void resumed(Tick skipped) = 0;
};

/// `settings` with every value that was left open filled in for this group.
DetectorSettings resolved(const DetectorSettings& settings, const GroupFacts& facts);

/// Sampling period for a group: a fraction of its base RTT, no less than a few packets' time.
Tick sampling_period(const GroupFacts& facts);

}  // namespace sluice::steady
