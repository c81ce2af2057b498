// SPDX-License-Identifier: Apache-2.0
#include "eval/importance/weighted_quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "eval/intervals/distributions.h"
#include "eval/intervals/mean.h"

namespace sluice::eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sorted {
    std::vector<double> values;  ///< descending
    std::vector<double> beyond;  ///< sum of weights of the first i + 1
};

Sorted sort_all(const std::vector<WeightedTrial>& trials) {
    std::vector<WeightedFlow> all;
    for (const auto& trial : trials) {
        all.insert(all.end(), trial.outcomes.begin(), trial.outcomes.end());
    }
    std::stable_sort(all.begin(), all.end(), [](const WeightedFlow& a, const WeightedFlow& b) {
        return a.metric > b.metric;
    });
    Sorted sorted;
    double sum = 0;
    for (const WeightedFlow& outcome : all) {
        sum += std::exp(outcome.log_weight);
        sorted.values.push_back(outcome.metric);
        sorted.beyond.push_back(sum);
    }
    return sorted;
}

/// Eq. 13: the last of the descending values whose weights sum to at most `mass`; its index + 1, 0 if none.
std::size_t count_within(const Sorted& sorted, double mass) {
    const auto end =
        std::upper_bound(sorted.beyond.begin(), sorted.beyond.end(), mass * (1 + 1e-12));
    return static_cast<std::size_t>(end - sorted.beyond.begin());
}

/// Per trial, the weights of flows beyond `value`.
std::vector<double> masses_beyond(const std::vector<WeightedTrial>& trials, double value) {
    std::vector<double> masses;
    for (const auto& trial : trials) {
        double sum = 0;
        for (const WeightedFlow& outcome : trial.outcomes) {
            if (outcome.metric >= value) sum += std::exp(outcome.log_weight);
        }
        masses.push_back(sum);
    }
    return masses;
}

double expected_mass(const std::vector<WeightedTrial>& trials, const FlowsPerTrial& flows,
                     double p) {
    if (!(p > 0 && p < 1)) throw InternalError("a quantile lies between 0 and 1");
    return (1 - p) * static_cast<double>(trials.size()) * flows.mean;
}

}  // namespace

std::optional<double> find_weighted_quantile(const std::vector<WeightedTrial>& trials,
                                             const FlowsPerTrial& flows, double p) {
    const Sorted sorted = sort_all(trials);
    const std::size_t count = count_within(sorted, expected_mass(trials, flows, p));
    if (count == 0 || count == sorted.values.size()) return std::nullopt;
    return sorted.values[count - 1];
}

double weighted_quantile(const std::vector<WeightedTrial>& trials, const FlowsPerTrial& flows,
                         double p) {
    const std::optional<double> value = find_weighted_quantile(trials, flows, p);
    if (!value) {
        throw DegenerateWeights(
            "importance sampling: the weights do not reach across the quantile; more trials, or "
            "none of it");
    }
    return *value;
}

WeightReport examine_weights(const std::vector<WeightedTrial>& trials, double value) {
    WeightReport report;
    double sum = 0;
    double squares = 0;
    double largest = 0;
    for (double mass : masses_beyond(trials, value)) {
        sum += mass;
        squares += mass * mass;
        largest = std::max(largest, mass);
    }
    if (sum > 0) {
        report.effective_trials = sum * sum / squares;
        report.largest_share = largest / sum;
    }
    Moments weights;
    for (const auto& trial : trials) weights.add(std::exp(trial.log_weight_at_end));
    report.mean_weight = weights.mean();
    report.mean_weight_error = weights.standard_error();
    return report;
}

void check_weights(const WeightReport& report) {
    const char* advice = "shorter trials, a less extreme quantile, or no importance sampling";
    if (report.effective_trials < kFewestEffectiveTrials) {
        throw DegenerateWeights(fmt::format(
            "importance sampling: the weights are worth {:.1f} trials, at least {} are needed; {}",
            report.effective_trials, kFewestEffectiveTrials, advice));
    }
    if (report.largest_share > kLargestShare) {
        throw DegenerateWeights(
            fmt::format("importance sampling: one trial has {:.0f}% of the weight, at most {:.0f}% "
                        "are allowed; {}",
                        100 * report.largest_share, 100 * kLargestShare, advice));
    }
    if (std::fabs(report.mean_weight - 1) > 5 * report.mean_weight_error + 1e-9) {
        throw DegenerateWeights(
            fmt::format("importance sampling: the mean weight is {:.3g} +- {:.2g}, not 1; {}",
                        report.mean_weight, report.mean_weight_error, advice));
    }
}

Interval clustered_weighted_interval(const std::vector<WeightedTrial>& trials,
                                     const FlowsPerTrial& flows, double p, double confidence) {
    check_confidence(confidence);
    if (trials.size() < 2) throw InternalError("a clustered interval needs at least two trials");
    Interval interval{weighted_quantile(trials, flows, p), -kInfinity, kInfinity, confidence};
    const Moments masses(masses_beyond(trials, interval.estimate));
    const Interval tail = corrected_interval(masses, confidence);
    // The error of E[alpha] is independent of the weights'. Ends of the true tail mass by the estimated one:
    const double count_arm =
        normal_quantile(0.5 + confidence / 2) * flows.standard_error / flows.mean;
    const double more = std::hypot(tail.high / tail.estimate - 1, count_arm);
    const double less = std::hypot(1 - tail.low / tail.estimate, count_arm);
    const Sorted sorted = sort_all(trials);
    const double mass = expected_mass(trials, flows, p);
    const std::size_t high = count_within(sorted, mass / (1 + more));
    if (high > 0) interval.high = sorted.values[high - 1];
    if (less < 1) {
        const std::size_t low = count_within(sorted, mass / (1 - less));
        if (low < sorted.values.size()) interval.low = sorted.values[low];
    }
    return interval;
}

Interval batched_weighted_interval(const std::vector<WeightedTrial>& trials,
                                   const FlowsPerTrial& flows, double p, double confidence,
                                   std::size_t batch) {
    if (batch == 0 || trials.size() / batch < 2) {
        throw InternalError("the batch method needs at least two batches");
    }
    Moments quantiles;
    for (std::size_t begin = 0; begin + batch <= trials.size(); begin += batch) {
        const auto first = trials.begin() + static_cast<std::ptrdiff_t>(begin);
        const std::vector<WeightedTrial> part(first, first + static_cast<std::ptrdiff_t>(batch));
        quantiles.add(weighted_quantile(part, flows, p));
    }
    return student_interval(quantiles, confidence);
}

std::optional<Interval> find_batched_interval(const std::vector<WeightedTrial>& trials,
                                              const FlowsPerTrial& flows, double p,
                                              double confidence, std::size_t batch) {
    if (batch == 0 || trials.size() / batch < 2) return std::nullopt;
    try {
        return batched_weighted_interval(trials, flows, p, confidence, batch);
    } catch (const DegenerateWeights&) {
        return std::nullopt;
    }
}

double relative_variance(const std::vector<WeightedTrial>& trials, double value) {
    const Moments masses(masses_beyond(trials, value));
    return masses.mean() > 0 ? masses.variance() / (masses.mean() * masses.mean()) : 0;
}

}  // namespace sluice::eval
