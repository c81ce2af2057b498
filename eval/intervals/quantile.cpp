// SPDX-License-Identifier: Apache-2.0
#include "eval/intervals/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/intervals/distributions.h"
#include "eval/intervals/ratio.h"

namespace sluice::eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_share(double p) {
    if (!(p > 0 && p < 1)) throw InternalError("a quantile lies between 0 and 1");
}

/// The largest rank l with P(X_(l) > quantile) <= miss, 0 if none: P(B <= l - 1), B ~ Bin(n, p).
std::size_t lower_rank(std::size_t n, double p, double miss) {
    std::size_t low = 0;
    std::size_t high = n;
    while (low < high) {
        const std::size_t middle = low + (high - low + 1) / 2;
        if (binomial_cdf(middle - 1, n, p) <= miss) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

std::vector<double> pooled(const Trials& trials) {
    std::vector<double> values;
    for (const auto& trial : trials) values.insert(values.end(), trial.begin(), trial.end());
    std::sort(values.begin(), values.end());
    return values;
}

}  // namespace

std::size_t quantile_rank(double p, std::size_t n) {
    const double exact = p * static_cast<double>(n);
    const auto rank = static_cast<std::size_t>(std::ceil(exact - 1e-9 * std::fmax(1.0, exact)));
    return std::clamp<std::size_t>(rank, 1, n);
}

double quantile_of_sorted(const std::vector<double>& sorted, double p) {
    check_share(p);
    if (sorted.empty()) throw InternalError("a quantile of no values");
    return sorted[quantile_rank(p, sorted.size()) - 1];
}

double quantile_of(std::vector<double> values, double p) {
    check_share(p);
    if (values.empty()) throw InternalError("a quantile of no values");
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(quantile_rank(p, values.size()) - 1);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

Interval order_statistic_interval(const std::vector<double>& sorted, double p, double confidence) {
    check_confidence(confidence);
    const double miss = (1 - confidence) / 2;
    const std::size_t n = sorted.size();
    Interval interval{quantile_of_sorted(sorted, p), -kInfinity, kInfinity, confidence};
    const std::size_t low = lower_rank(n, p, miss);
    if (low > 0) interval.low = sorted[low - 1];
    // The upper end by symmetry: the (1 - p)-quantile of the values negated.
    const std::size_t high = lower_rank(n, 1 - p, miss);
    if (high > 0) interval.high = sorted[n - high];
    return interval;
}

Interval clustered_quantile_interval(const Trials& trials, double p, double confidence) {
    check_confidence(confidence);
    if (trials.size() < 2) throw InternalError("a clustered interval needs at least two trials");
    const std::vector<double> values = pooled(trials);
    Interval interval{quantile_of_sorted(values, p), -kInfinity, kInfinity, confidence};
    const double n = static_cast<double>(values.size());
    const double clusters = static_cast<double>(trials.size());
    const auto at_most = std::upper_bound(values.begin(), values.end(), interval.estimate);
    const double share = static_cast<double>(at_most - values.begin()) / n;
    double squares = 0;
    for (const auto& trial : trials) {
        const auto below = std::count_if(trial.begin(), trial.end(),
                                         [&](double x) { return x <= interval.estimate; });
        const double residual =
            static_cast<double>(below) - share * static_cast<double>(trial.size());
        squares += residual * residual;
    }
    const double error = std::sqrt(clusters / (clusters - 1) * squares) / n;
    const double arm = t_quantile(0.5 + confidence / 2, trials.size() - 1) * error / (p * (1 - p));
    const double logit = std::log(p / (1 - p));
    const double low = 1 / (1 + std::exp(-(logit - arm)));
    const double high = 1 / (1 + std::exp(-(logit + arm)));
    if (low * n >= 1) interval.low = values[quantile_rank(low, values.size()) - 1];
    if ((1 - high) * n >= 1)
        interval.high = values[std::min(quantile_rank(high, values.size()), values.size() - 1)];
    return interval;
}

Interval corrected_quantile_interval(const Trials& trials, double p, double confidence,
                                     const Correction& correction) {
    check_confidence(confidence);
    check_share(p);
    const std::vector<double> values = pooled(trials);
    if (trials.size() < 2 || values.empty()) {
        throw InternalError("a clustered interval needs two trials and a value");
    }
    const double n = static_cast<double>(values.size());
    Interval interval{quantile_of_sorted(values, p), -kInfinity, kInfinity, confidence};
    // The tail: beyond the quantile from the median on, else at or below it.
    const bool beyond = p >= 0.5;
    std::vector<double> in_tail;
    std::vector<double> all;
    for (const std::vector<double>& trial : trials) {
        const auto below = std::count_if(trial.begin(), trial.end(),
                                         [&](double value) { return value <= interval.estimate; });
        all.push_back(static_cast<double>(trial.size()));
        in_tail.push_back(beyond ? all.back() - static_cast<double>(below)
                                 : static_cast<double>(below));
    }
    const Moments masses(ratio_values(in_tail, all));
    if (masses.mean() <= 0) return interval;
    const Interval mass = corrected_interval(masses, confidence, correction);
    // The value beyond which (at or below which) a share of the tail lies.
    const auto end = [&](double truth, double nowhere) {
        const double share = (beyond ? 1 - p : p) * masses.mean() / truth;
        if (!(truth > 0) || share * n < 1 || share >= 1) return nowhere;
        return values[quantile_rank(beyond ? 1 - share : share, values.size()) - 1];
    };
    interval.high = end(beyond ? mass.high : mass.low, kInfinity);
    interval.low = end(beyond ? mass.low : mass.high, -kInfinity);
    return interval;
}

}  // namespace sluice::eval
