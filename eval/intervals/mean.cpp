// SPDX-License-Identifier: Apache-2.0
#include "eval/intervals/mean.h"

#include <cmath>
#include <limits>

#include "eval/intervals/distributions.h"

namespace sluice::eval {
namespace {

void check(const Moments& moments, double confidence) {
    check_confidence(confidence);
    if (moments.count() < 2) throw InternalError("an interval needs at least two values");
}

Interval symmetric(const Moments& moments, double confidence, double quantile) {
    const double arm = quantile * moments.standard_error();
    return {moments.mean(), moments.mean() - arm, moments.mean() + arm, confidence};
}

/// The t statistic at which Hall's transformation has the value y; lambda = skewness / sqrt(N).
double inverse_transform(double y, double lambda) {
    if (std::fabs(lambda) < 1e-9) return y;
    const double inside = 1 + lambda * (y - lambda / 6);
    // Beyond its inflection the cubic is no approximation of a distribution function any more.
    if (inside <= 0) {
        return lambda > 0 ? -std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::infinity();
    }
    return 3 / lambda * (std::cbrt(inside) - 1);
}

/// Lengths below and above the mean, in standard errors.
struct Arms {
    double lower = 0;
    double upper = 0;
};

Arms corrected_arms(double count, double skewness, double confidence,
                    const Correction& correction) {
    const double miss = (1 - confidence) * correction.miss_factor;
    const double lambda = correction.skewness_factor * skewness / std::sqrt(count);
    const auto freedom = static_cast<std::size_t>(std::fmin(std::fmax(1.0, count - 1), 1e15));
    const double y = t_quantile(1 - miss / 2, freedom);
    return {inverse_transform(y, lambda), -inverse_transform(-y, lambda)};
}

}  // namespace

Interval normal_interval(const Moments& moments, double confidence) {
    check(moments, confidence);
    return symmetric(moments, confidence, normal_quantile(0.5 + confidence / 2));
}

Interval student_interval(const Moments& moments, double confidence) {
    check(moments, confidence);
    return symmetric(moments, confidence, t_quantile(0.5 + confidence / 2, moments.count() - 1));
}

Interval skewed_interval(const Moments& moments, double confidence) {
    return corrected_interval(moments, confidence, {1, 1});
}

Interval corrected_interval(const Moments& moments, double confidence,
                            const Correction& correction) {
    check(moments, confidence);
    const double error = moments.standard_error();
    if (error == 0) return {moments.mean(), moments.mean(), moments.mean(), confidence};
    const double count = static_cast<double>(moments.count());
    const Arms arms = corrected_arms(count, moments.skewness(), confidence, correction);
    return {moments.mean(), moments.mean() - error * arms.lower,
            moments.mean() + error * arms.upper, confidence};
}

double corrected_half_width(double count, double skewness, double confidence,
                            const Correction& correction) {
    const Arms arms = corrected_arms(count, skewness, confidence, correction);
    return (arms.lower + arms.upper) / 2 / std::sqrt(count);
}

}  // namespace sluice::eval
