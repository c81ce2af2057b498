// SPDX-License-Identifier: Apache-2.0
/// Tells when a group of flows (a partition, or the whole network) has become steady, and how far
/// what was seen may be extrapolated. A detector reads series that the phase controller samples
/// between windows from counters that the engine keeps anyway; it knows nothing of engines.
///
/// All times are the group's local time, in which skips take no time: a series is continuous across
/// them, and bytes do not count what was skipped.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/steady/history.h"
#include "core/steady/metrics/metrics.h"
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

/// The range test of a metric, in front of guards that all metrics share: observed span, bounded
/// trend, growing skips. Levels of the history are judged from short to long.
class Detector {
  public:
    explicit Detector(const DetectorSettings& settings) : given_(settings) {}

    /// The group's flows changed: forget everything.
    void reset(const GroupFacts& facts);
    /// One sample: `flows` by the group's order of flows, `queues` (bytes) by its order of ports.
    void add(Tick now, const std::vector<FlowReading>& flows,
             const std::vector<std::int64_t>& queues);
    /// True if this detector reads `queues`; otherwise callers may pass none.
    bool reads_queues() const;
    const Verdict& judge() const { return verdict_; }
    /// A skip of `skipped` (as cut short by the caller) was made on the last verdict. What follows
    /// is the probe that confirms it or not; the next verdict may allow a longer one.
    void resumed(Tick skipped);

  private:
    template <class Rule>
    bool add_flows(const std::vector<FlowReading>& flows);
    template <class Rule>
    bool wide(std::size_t level, std::size_t flow) const;
    template <class Rule>
    const char* range_reason(std::size_t level);
    bool add_rates(std::size_t level, std::size_t flow, std::array<double, kBlocks>& rates,
                   std::array<double, kBlocks>& flights) const;
    double trusted_skip(std::size_t level, std::size_t flow, double limit) const;
    double trusted_skip(std::size_t level);
    bool covers(std::size_t level) const;
    template <class Rule>
    void trust(std::size_t level, double skip);
    template <class Rule>
    void conclude();

    DetectorSettings given_;
    DetectorSettings settings_;
    GroupFacts facts_;
    History history_;
    std::vector<FlowReading> last_;  ///< of metrics that compare
    std::vector<double> value_;      ///< the same
    std::uint64_t samples_ = 0;
    Tick now_ = 0;
    Tick skipped_ = 0;
    int confirmed_ = 0;
    Tick probe_until_ = 0;
    int stable_rounds_ = 0;
    std::size_t worst_flow_ = 0;   ///< the last to fail: asked first
    const char* reason_ = "span";  ///< of the last level judged
    Verdict verdict_;
};

/// `settings` with every value that was left open filled in for this group.
DetectorSettings resolved(const DetectorSettings& settings, const GroupFacts& facts);

/// Sampling period for a group: a fraction of its base RTT, no less than a few packets' time.
Tick sampling_period(const GroupFacts& facts);

}  // namespace sluice::steady
