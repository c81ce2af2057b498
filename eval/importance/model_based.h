// SPDX-License-Identifier: Apache-2.0
/// Model-based estimation of a tail quantile of all flows (CCEval, Algorithm 2): original trials, search for
/// a change of measure, trials under it, interval. Whoever runs trials in parallel takes the parts from
/// cross_entropy.h and weighted_quantile.h instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "eval/importance/cross_entropy.h"

namespace sluice::eval {

struct ModelBasedSettings {
    double p = 0.99;
    double confidence = 0.95;
    std::size_t original_trials = 100;  ///< m_or
    std::size_t batch = 40;             ///< K
    std::size_t trials =
        400;  ///< m_is: the clustered interval needs 2, the batched one two batches
    /// Of a Poisson process over a trial's length all flows finish in the end, so that E[alpha] is known. Without
    /// that it is the mean over the original trials, as in the paper.
    bool known_flow_count = false;
    std::uint64_t seed = 1;
    SearchSettings search;
};

struct ModelBasedResult {
    Interval interval;  ///< clustered_weighted_interval
    /// The paper's; empty where there are fewer than two batches, or a batch does not reach the quantile.
    std::optional<Interval> batched;
    WeightReport weights;
    SizeFit fit;  ///< the interval is of the fitted distribution if `kind` is Fitted
    SizeKind kind = SizeKind::Fitted;
    Change change;
    double threshold = 0;
    std::size_t trials_run = 0;  ///< all of them, those of the search included
    /// The variance of the tail probability of an original trial by that of a changed one: how many times fewer
    /// trials importance sampling needs after its search. Below 1 it does not pay.
    double gain = 1;
};

/// DegenerateWeights where the weights carry no estimate.
ModelBasedResult estimate_tail_quantile(const Traffic& traffic, const Simulate& simulate,
                                        const ModelBasedSettings& settings = {});

}  // namespace sluice::eval
