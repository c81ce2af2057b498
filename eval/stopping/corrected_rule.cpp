// SPDX-License-Identifier: Apache-2.0
#include "eval/stopping/corrected_rule.h"

#include <cmath>

namespace sluice::eval {

CorrectedRule::CorrectedRule(const Target& target, const CorrectedRuleSettings& settings)
    : StoppingRule(target), settings_(settings) {
    if (settings.minimum_trials < 2 || !(settings.look_growth > 1) ||
        !(settings.correction.miss_factor > 0 && settings.correction.miss_factor <= 1)) {
        throw InternalError("CorrectedRule: a setting is out of its range");
    }
}

Interval CorrectedRule::interval(const Moments& moments) const {
    return corrected_interval(moments, target().confidence, settings_.correction);
}

std::size_t CorrectedRule::look_after(std::size_t n) const {
    return static_cast<std::size_t>(std::ceil(static_cast<double>(n) * settings_.look_growth));
}

double CorrectedRule::trials_needed(double variation, double skewness) const {
    // The width falls as trials grow; bisection on a logarithmic scale.
    double low = 2;
    double high = 1e18;
    while (high > low * (1 + 1e-6)) {
        const double middle = std::sqrt(low * high);
        const double width = variation * corrected_half_width(middle, skewness, target().confidence,
                                                              settings_.correction);
        (width > target().relative_half_width ? low : high) = middle;
    }
    return std::ceil(high);
}

}  // namespace sluice::eval
