// SPDX-License-Identifier: Apache-2.0
/// The default: sequential in the manner of Chow and Robbins (Ann. Math. Statist. 36, 1965), with three
/// corrections for finite trial counts, chosen by measurement (bench/eval/coverage; docs/evaluation.md
/// has the table): a minimum of trials, so that rare events have been seen; looks at trial counts that
/// grow by a tenth; and the interval of corrected_interval.
#pragma once

#include "eval/intervals/mean.h"
#include "eval/stopping/stopping_rule.h"

namespace sluice::eval {

struct CorrectedRuleSettings {
    /// With fewer, the promise does not hold for rare events: 1,000 trials hold ten of an event of
    /// probability 1% (three or fewer with probability 1%).
    std::size_t minimum_trials = 1000;
    double look_growth = 1.1;  ///< > 1
    Correction correction;
};

class CorrectedRule final : public StoppingRule {
  public:
    explicit CorrectedRule(const Target& target, const CorrectedRuleSettings& settings = {});

    std::size_t first_look() const override { return settings_.minimum_trials; }
    Interval interval(const Moments& moments) const override;

  protected:
    std::size_t look_after(std::size_t n) const override;
    double trials_needed(double variation, double skewness) const override;

  private:
    CorrectedRuleSettings settings_;
};

}  // namespace sluice::eval
