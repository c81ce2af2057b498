// SPDX-License-Identifier: Apache-2.0
/// Candidates compared trial by trial, on common random numbers: each with the reference, and of three or more who is left.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "eval/comparison/elimination.h"
#include "eval/comparison/paired.h"
#include "eval/evaluation/plan.h"

namespace sluice::eval {

class CandidateComparison {
  public:
    /// Without a comparison in the plan nobody ever leaves, and nothing is open.
    explicit CandidateComparison(const EvaluationPlan& plan);

    /// A figure a candidate, of those that are left; others are ignored. None: the trial has no such value, and is no
    /// pair.
    void add_round(const std::vector<std::optional<double>>& figures);
    bool is_left(std::size_t candidate) const {
        return !elimination_ || elimination_->left(candidate);
    }
    /// Whether there is a verdict, where one is asked for.
    bool decided() const;
    /// Of a candidate and the reference (candidate 0); empty before two trials. A verdict stands once it is reached.
    std::optional<PairedResult> against_reference(std::size_t candidate) const;
    /// Null: fewer than three candidates, or a number of trials that is given.
    const Elimination* elimination() const { return elimination_ ? &*elimination_ : nullptr; }

  private:
    std::vector<PairedComparison>
        pairs_;  ///< by candidate, the reference's unused; empty: nothing is compared
    std::vector<Verdict> verdicts_;  ///< by candidate, the first that was not Undecided
    std::optional<Elimination> elimination_;
};

}  // namespace sluice::eval
