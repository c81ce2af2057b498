// SPDX-License-Identifier: Apache-2.0
/// CCEval's model-free rule (section 4.2): an exploratory stage, then a look after every trial, until the
/// first N with v_(1-rho/2) s_N <= epsilon |mean| sqrt(N) (eq. 2). What is reproduced, not what is
/// recommended: it stops early exactly when the tail has not shown itself yet (docs/evaluation.md).
#pragma once

#include "eval/stopping/stopping_rule.h"

namespace sluice::eval {

class PaperRule final : public StoppingRule {
  public:
    explicit PaperRule(const Target& target, std::size_t exploratory = 20);

    std::size_t first_look() const override { return exploratory_; }
    /// Eq. 1.
    Interval interval(const Moments& moments) const override;

  protected:
    std::size_t look_after(std::size_t n) const override { return n + 1; }
    /// Eq. 3: (v cv / epsilon)^2.
    double trials_needed(double variation, double skewness) const override;

  private:
    std::size_t exploratory_;
};

}  // namespace sluice::eval
