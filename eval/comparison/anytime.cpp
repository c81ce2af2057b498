// SPDX-License-Identifier: Apache-2.0
#include "eval/comparison/anytime.h"

#include <cmath>

#include "eval/intervals/distributions.h"

namespace sluice::eval {
namespace {

/// Half of the width in units of the deviation, for a known deviation.
double half_width(double n, double confidence, double best_at) {
    const double miss = 1 - confidence;
    const double l = -2 * std::log(miss);
    const double rate = (l + std::log(l + 1)) / best_at;  // r^2
    const double mixed = n * rate + 1;
    return std::sqrt(2 * mixed / (n * n * rate) * std::log(std::sqrt(mixed) / miss));
}

}  // namespace

Interval anytime_interval(const Moments& moments, double confidence, double best_at) {
    check_confidence(confidence);
    if (moments.count() < 2) throw InternalError("an interval needs at least two values");
    const double level = 0.5 + confidence / 2;
    const double widen = t_quantile(level, moments.count() - 1) / normal_quantile(level);
    const double arm = widen * moments.deviation() *
                       half_width(static_cast<double>(moments.count()), confidence, best_at);
    return {moments.mean(), moments.mean() - arm, moments.mean() + arm, confidence};
}

double anytime_trials(double deviation, double wanted, double confidence, double best_at) {
    check_confidence(confidence);
    if (!(wanted > 0)) throw InternalError("anytime_trials: a half-width is greater than 0");
    double low = 2;
    double high = 1e18;
    while (high > low * (1 + 1e-6)) {
        const double middle = std::sqrt(low * high);
        (deviation * half_width(middle, confidence, best_at) > wanted ? low : high) = middle;
    }
    return std::ceil(high);
}

}  // namespace sluice::eval
