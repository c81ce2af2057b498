// SPDX-License-Identifier: Apache-2.0
#include "eval/importance/model_based.h"

#include <cmath>
#include <limits>

#include "eval/intervals/moments.h"

namespace sluice::eval {

ModelBasedResult estimate_tail_quantile(const Traffic& traffic, const Simulate& simulate,
                                        const ModelBasedSettings& settings) {
    if (settings.original_trials < 2 || settings.trials < 2) {
        throw InternalError("estimate_tail_quantile: at least two trials of either kind");
    }
    ModelBasedResult result;
    result.fit = traffic.sizes.fit();
    result.kind = traffic.sizes.kind();
    const double never = std::numeric_limits<double>::infinity();
    std::uint64_t trial = 0;
    std::vector<WeightedTrial> original;
    Moments counts;
    for (; trial < settings.original_trials; ++trial) {
        original.push_back(run_weighted(traffic, simulate, {}, never, settings.seed, trial));
        counts.add(static_cast<double>(original.back().outcomes.size()));
    }
    FlowsPerTrial flows{counts.mean(), counts.standard_error()};
    if (settings.known_flow_count) flows = {traffic.flows_per_trial(), 0};
    const Found found =
        search_change(traffic, simulate, settings.p, flows, settings.seed, trial, settings.search);
    trial += settings.search.epochs * settings.search.trials_per_epoch;
    std::vector<WeightedTrial> changed;
    for (std::size_t i = 0; i < settings.trials; ++i, ++trial) {
        changed.push_back(
            run_weighted(traffic, simulate, found.change, found.threshold, settings.seed, trial));
    }
    result.change = found.change;
    result.threshold = found.threshold;
    result.trials_run = static_cast<std::size_t>(trial);
    result.interval = clustered_weighted_interval(changed, flows, settings.p, settings.confidence);
    result.weights = examine_weights(changed, result.interval.estimate);
    check_weights(result.weights);
    if (!std::isfinite(result.interval.half_width())) {
        throw DegenerateWeights(
            "importance sampling: the weights are too uneven for an interval with two ends; more "
            "trials");
    }
    result.batched =
        find_batched_interval(changed, flows, settings.p, settings.confidence, settings.batch);
    result.gain = relative_variance(original, result.interval.estimate) /
                  relative_variance(changed, result.interval.estimate);
    return result;
}

}  // namespace sluice::eval
