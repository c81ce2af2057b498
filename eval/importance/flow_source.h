// SPDX-License-Identifier: Apache-2.0
/// The flows of one trial under a change of measure that is switched off once the rare event has happened
/// (switching change of measure; CCEval, eq. 10 and Algorithm 2), and the weights of what comes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "eval/importance/size_model.h"

namespace sluice::eval {

/// Poisson arrivals in [0, length), sizes from a model.
struct Traffic {
    double rate = 0;    ///< flows per second, > 0
    double length = 0;  ///< of a trial, seconds, > 0
    SizeModel sizes;

    double flows_per_trial() const { return rate * length; }
};

/// How draws differ from the original distribution: z ~ Normal(shift, scale^2) instead of (0, 1), that is
/// mu~ = mu + sigma shift and sigma~ = sigma scale; arrivals are rate_factor times as frequent.
struct Change {
    double shift = 0;
    double scale = 1;
    double rate_factor = 1;
    /// This share of trials, drawn at random, is of the original distribution after all, and weights are those of
    /// the mixture (Hesterberg, Technometrics 37, 1995): none exceeds 1 / original_share. 0: the paper's, weights
    /// without a bound.
    double original_share = 0;

    /// ln of original / changed density at z.
    double log_ratio(double z) const;
};

struct Arrival {
    double time = 0;  ///< seconds
    double size = 0;  ///< bytes
};

/// What became of a flow.
struct WeightedFlow {
    double metric = 0;  ///< completion time or slowdown
    double log_weight = 0;
};

class FlowSource {
  public:
    /// Draws are pure functions of (seed, trial, flow). `threshold`: gamma_max; infinite: never switched off.
    /// The traffic outlives the source.
    FlowSource(const Traffic& traffic, const Change& change, double threshold, std::uint64_t seed,
               std::uint64_t trial);

    /// The next flow, to be asked for when the one before has arrived and what has finished by then has been
    /// reported: whether it is drawn from the changed distribution depends on that. Empty at the end.
    std::optional<Arrival> next();

    /// A flow has finished at `time` with this metric. In the order of times.
    void finished(double time, double metric);

    /// For simulators that take all flows at once: flows that next() has drawn as changed after `time` are drawn
    /// again from the original distribution. True if there are any.
    bool redraw_after(double time);

    const std::vector<Arrival>& arrivals() const { return arrivals_; }
    /// In the order of finished().
    const std::vector<WeightedFlow>& outcomes() const { return outcomes_; }
    double threshold() const { return threshold_; }
    /// Of flows that have arrived before the change was switched off.
    const std::vector<double>& changed_z() const { return changed_z_; }
    /// ln of the trial's likelihood ratio until its end; its expectation's exponential is 1.
    double log_weight_at_end() const;

  private:
    void draw();
    double log_ratio(double time) const;
    double log_weight(double time) const;

    const Traffic* traffic_;
    Change change_;
    double threshold_;
    std::uint64_t key_;
    bool original_ = false;  ///< a trial of the original distribution
    bool changed_ = true;    ///< the next draw is, unless original_
    bool ended_ = false;
    /// The last draw: the last arrival, or the first one beyond the end.
    Arrival pending_;
    double pending_z_ = 0;
    bool pending_changed_ = true;
    std::vector<Arrival> arrivals_;
    std::vector<char> is_changed_;
    std::vector<double> log_ratios_;       ///< original / changed, of the first i + 1 arrivals
    std::vector<double> log_corrections_;  ///< of sizes, likewise
    std::vector<double> changed_z_;
    std::vector<WeightedFlow> outcomes_;
};

/// Simulates a trial: takes all flows from the source and reports every one that finishes, as its comments say.
/// Deterministic given the flows (or depends on the trial's number only).
using Simulate = std::function<void(FlowSource& source, std::uint64_t trial)>;

/// A simulator that takes all flows at once.
struct Finish {
    double time = 0;
    double metric = 0;
};
using SimulateAll =
    std::function<std::vector<Finish>(const std::vector<Arrival>& flows, std::uint64_t trial)>;

/// Runs it once, and again where a flow exceeds the threshold: flows after that moment are drawn anew. The
/// same result as of a simulator that asks flow by flow, at up to twice the cost.
Simulate in_two_passes(SimulateAll simulate);

}  // namespace sluice::eval
