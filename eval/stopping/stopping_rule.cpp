// SPDX-License-Identifier: Apache-2.0
#include "eval/stopping/stopping_rule.h"

#include <algorithm>
#include <cmath>

#include "eval/intervals/distributions.h"

namespace sluice::eval {
namespace {

/// Of ln cv^2 = ln s^2 - 2 ln |mean|, times n, by the delta method; skewness counts towards the mean's sign.
double log_variance(double variation, double skewness, double kurtosis) {
    return kurtosis - 1 - 4 * skewness * variation + 4 * variation * variation;
}

/// What is assumed at least, because few values show too little kurtosis: a normal distribution's, and where
/// skewness is beyond two standard errors that of a log-normal one with the same coefficient of variation.
double assumed_log_variance(double variation, double skewness, double n) {
    const double normal = log_variance(variation, 0, 3);
    if (skewness <= 2 * std::sqrt(6 / n)) return normal;
    const double w = 1 + variation * variation;
    const double log_normal_kurtosis = w * w * (w * w + 2 * w + 3) - 3;
    return std::max(normal, log_variance(variation, (w + 2) * variation, log_normal_kurtosis));
}

}  // namespace

StoppingRule::StoppingRule(const Target& target) : target_(target) {
    check_confidence(target.confidence);
    if (!(target.relative_half_width > 0)) {
        throw InternalError("a relative half-width must be greater than 0");
    }
}

Decision StoppingRule::decide(const Moments& moments) const {
    const std::size_t n = moments.count();
    if (n >= first_look() &&
        interval(moments).relative_half_width() <= target_.relative_half_width) {
        return {Outcome::Reached, 0};
    }
    if (n >= target_.maximum_trials) return {Outcome::Exhausted, 0};
    const std::size_t next = n < first_look() ? first_look() : look_after(n);
    return {Outcome::Continue, std::min(next, target_.maximum_trials)};
}

std::optional<TrialForecast> StoppingRule::forecast(const Moments& moments) const {
    if (moments.count() < 2 || moments.mean() == 0 || moments.deviation() == 0) return std::nullopt;
    const double variation = moments.deviation() / std::fabs(moments.mean());
    const double skewness = moments.skewness();
    const double sign = moments.mean() < 0 ? -1 : 1;
    const double n = static_cast<double>(moments.count());
    const double error =
        std::sqrt(std::max(log_variance(variation, sign * skewness, moments.kurtosis()),
                           assumed_log_variance(variation, sign * skewness, n)) /
                  n);
    const double arm = t_quantile(0.5 + target_.confidence / 2, moments.count() - 1) * error;
    const auto at = [&](double shift) {
        return std::max(static_cast<double>(first_look()),
                        trials_needed(variation * std::exp(shift / 2), std::fabs(skewness)));
    };
    return TrialForecast{at(0), at(-arm), at(arm)};
}

}  // namespace sluice::eval
