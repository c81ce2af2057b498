// SPDX-License-Identifier: Apache-2.0
#include "eval/stopping/paper_rule.h"

#include <cmath>

#include "eval/intervals/distributions.h"
#include "eval/intervals/mean.h"

namespace sluice::eval {

PaperRule::PaperRule(const Target& target, std::size_t exploratory)
    : StoppingRule(target), exploratory_(exploratory) {
    if (exploratory < 2) throw InternalError("an exploratory stage has at least two trials");
}

Interval PaperRule::interval(const Moments& moments) const {
    return normal_interval(moments, target().confidence);
}

double PaperRule::trials_needed(double variation, double /*skewness*/) const {
    const double ratio =
        normal_quantile(0.5 + target().confidence / 2) * variation / target().relative_half_width;
    return std::ceil(ratio * ratio);
}

}  // namespace sluice::eval
