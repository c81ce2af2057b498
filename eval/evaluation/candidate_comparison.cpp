// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluation/candidate_comparison.h"

#include <algorithm>

namespace sluice::eval {

CandidateComparison::CandidateComparison(const EvaluationPlan& plan) {
    if (!plan.comparison) return;
    const std::size_t candidates = plan.labels.size();
    const double miss = 1 - plan.aim.confidence;
    PairedSettings paired;
    // Several pairs with the reference: what is said of all of them holds together.
    paired.confidence = 1 - miss / static_cast<double>(candidates - 1);
    paired.margin = plan.comparison->margin;
    paired.smaller_is_better = plan.metrics[plan.comparison->metric].smaller_is_better;
    pairs_.assign(candidates, PairedComparison(paired));
    verdicts_.assign(candidates, Verdict::Undecided);
    if (candidates < 3 || plan.aim.fixed) return;
    EliminationSettings settings;
    settings.family_error = miss;
    settings.margin = paired.margin;
    settings.smaller_is_better = paired.smaller_is_better;
    elimination_.emplace(candidates, settings);
}

void CandidateComparison::add_round(const std::vector<std::optional<double>>& figures) {
    if (pairs_.empty()) return;
    for (std::size_t c = 0; c < figures.size(); ++c) {
        if (is_left(c) && !figures[c]) return;
    }
    for (std::size_t c = 1; c < pairs_.size(); ++c) {
        if (!is_left(c) || !is_left(0)) continue;
        pairs_[c].add(*figures[c], *figures[0]);
        if (verdicts_[c] == Verdict::Undecided && pairs_[c].trials() >= 2) {
            verdicts_[c] = pairs_[c].result().verdict;
        }
    }
    if (!elimination_) return;
    std::vector<double> values;
    for (const std::optional<double>& figure : figures) values.push_back(figure.value_or(0));
    elimination_->add_round(values);
}

bool CandidateComparison::decided() const {
    if (elimination_) return elimination_->finished();
    return std::all_of(verdicts_.begin() + (verdicts_.empty() ? 0 : 1), verdicts_.end(),
                       [](Verdict verdict) { return verdict != Verdict::Undecided; });
}

std::optional<PairedResult> CandidateComparison::against_reference(std::size_t candidate) const {
    if (pairs_.empty() || candidate == 0 || pairs_[candidate].trials() < 2) return std::nullopt;
    PairedResult result = pairs_[candidate].result();
    if (verdicts_[candidate] != Verdict::Undecided) result.verdict = verdicts_[candidate];
    return result;
}

}  // namespace sluice::eval
