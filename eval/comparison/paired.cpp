// SPDX-License-Identifier: Apache-2.0
#include "eval/comparison/paired.h"

#include <algorithm>
#include <cmath>

#include "eval/comparison/anytime.h"

namespace sluice::eval {

PairedComparison::PairedComparison(const PairedSettings& settings) : settings_(settings) {
    check_confidence(settings.confidence);
    if (!(settings.margin >= 0) || settings.minimum_trials < 2) {
        throw InternalError("PairedComparison: a setting is out of its range");
    }
}

void PairedComparison::add(double candidate, double reference) {
    differences_.add(candidate - reference);
    reference_.add(reference);
}

PairedResult PairedComparison::result() const {
    PairedResult result;
    result.difference = anytime_interval(differences_, settings_.confidence);
    result.reference_mean = reference_.mean();
    const double margin = settings_.margin * std::fabs(reference_.mean());
    if (trials() >= settings_.minimum_trials) {
        if (margin > 0 && result.difference.low >= -margin && result.difference.high <= margin) {
            result.verdict = Verdict::Same;
        } else if (!result.difference.contains(0)) {
            const bool smaller = result.difference.high < 0;
            result.verdict =
                smaller == settings_.smaller_is_better ? Verdict::Better : Verdict::Worse;
        }
    }
    if (result.verdict == Verdict::Undecided) result.more_trials = more_trials(margin);
    return result;
}

std::optional<double> PairedComparison::more_trials(double margin) const {
    const double distance = std::fabs(differences_.mean());
    // To tell it from zero, or to fit it between the margins, whichever takes less.
    const double width = std::max(distance, margin - distance);
    // Less than rounding of the mean leaves of a zero.
    if (!(width > 1e-12 * differences_.deviation())) return std::nullopt;
    const double needed =
        std::max(static_cast<double>(settings_.minimum_trials),
                 anytime_trials(differences_.deviation(), width, settings_.confidence));
    return std::max(1.0, needed - static_cast<double>(trials()));
}

}  // namespace sluice::eval
