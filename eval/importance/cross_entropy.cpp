// SPDX-License-Identifier: Apache-2.0
#include "eval/importance/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

namespace sluice::eval {
namespace {

struct Searched {
    std::vector<WeightedTrial> trials;
    std::vector<std::vector<double>> changed_z;  ///< by trial
};

/// Eq. 16 and 17 in z.
Change update(const Searched& searched, double threshold, const SearchSettings& settings) {
    double count = 0;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < searched.trials.size(); ++i) {
        double events = 0;
        for (const WeightedFlow& outcome : searched.trials[i].outcomes) {
            if (outcome.metric >= threshold) events += std::exp(outcome.log_weight);
        }
        for (double z : searched.changed_z[i]) {
            count += events;
            sum += events * z;
            squares += events * z * z;
        }
    }
    if (!(count > 0)) return {0, 1, 1, settings.original_share};
    const double mean = sum / count;
    const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
    return {std::clamp(mean, -settings.largest_shift, settings.largest_shift),
            std::clamp(deviation, 1.0, settings.largest_scale), 1, settings.original_share};
}

/// The estimate of the quantile, or less where so few values lie beyond it that they tell nothing.
double rare_enough(const std::vector<WeightedTrial>& trials, const FlowsPerTrial& flows, double p,
                   std::size_t fewest) {
    std::vector<double> metrics;
    for (const auto& trial : trials) {
        for (const WeightedFlow& outcome : trial.outcomes) metrics.push_back(outcome.metric);
    }
    if (metrics.empty()) {
        throw DegenerateWeights(
            "importance sampling: no flow finishes in the trials of the search");
    }
    const std::size_t rank = std::min(std::max<std::size_t>(1, fewest), metrics.size()) - 1;
    const auto place = metrics.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(metrics.begin(), place, metrics.end(), std::greater<double>());
    const std::optional<double> quantile = find_weighted_quantile(trials, flows, p);
    return quantile ? std::min(*quantile, *place) : *place;
}

}  // namespace

WeightedTrial run_weighted(const Traffic& traffic, const Simulate& simulate, const Change& change,
                           double threshold, std::uint64_t seed, std::uint64_t trial,
                           std::vector<double>* changed_z) {
    FlowSource source(traffic, change, threshold, seed, trial);
    simulate(source, trial);
    if (changed_z != nullptr) *changed_z = source.changed_z();
    return {source.outcomes(), source.log_weight_at_end()};
}

Found search_change(const Traffic& traffic, const Simulate& simulate, double p,
                    const FlowsPerTrial& flows, std::uint64_t seed, std::uint64_t first_trial,
                    const SearchSettings& settings) {
    if (settings.epochs == 0 || settings.trials_per_epoch == 0) {
        throw InternalError("search_change: epochs and trials are greater than 0");
    }
    Found found;
    found.threshold = std::numeric_limits<double>::infinity();
    Searched searched;
    for (std::size_t epoch = 0; epoch < settings.epochs; ++epoch) {
        for (std::size_t i = 0; i < settings.trials_per_epoch; ++i) {
            searched.changed_z.emplace_back();
            const std::uint64_t trial = first_trial + searched.trials.size();
            searched.trials.push_back(run_weighted(traffic, simulate, found.change, found.threshold,
                                                   seed, trial, &searched.changed_z.back()));
        }
        found.threshold = rare_enough(searched.trials, flows, p, settings.fewest_events);
        found.change = update(searched, found.threshold, settings);
        found.epochs.push_back(found.change);
    }
    return found;
}

}  // namespace sluice::eval
