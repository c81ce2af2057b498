// SPDX-License-Identifier: Apache-2.0
#include "eval/stopping/stopping_rule.h"

#include <algorithm>
#include <cmath>

#include "eval/intervals/distributions.h"

namespace sluice::eval {

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
    // Trials grow with ln cv^2 = ln s^2 - 2 ln |mean|, whose variance by the delta method is
    // (b2 - 1 - 4 g1 cv + 4 cv^2) / n.
    const double spread =
        moments.kurtosis() - 1 - 4 * sign * skewness * variation + 4 * variation * variation;
    // A sample shows too little kurtosis; a normal distribution's 2 is the least that is assumed.
    const double error = std::sqrt(std::max(2.0, spread) / n);
    const double arm = t_quantile(0.5 + target_.confidence / 2, moments.count() - 1) * error;
    const auto at = [&](double shift) {
        return std::max(static_cast<double>(first_look()),
                        trials_needed(variation * std::exp(shift / 2), std::fabs(skewness)));
    };
    return TrialForecast{at(0), at(-arm), at(arm)};
}

}  // namespace sluice::eval
