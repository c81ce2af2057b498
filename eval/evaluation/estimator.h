// SPDX-License-Identifier: Apache-2.0
/// One metric of one candidate, trial by trial: its estimate so far, and whether that is sure enough.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "eval/evaluation/plan.h"
#include "eval/intervals/moments.h"
#include "eval/intervals/quantile.h"
#include "eval/stopping/stopping_rule.h"
#include "eval/tail/tail.h"
#include "eval/trials/metric.h"

namespace sluice::eval {

struct Estimate {
    Interval interval;                      ///< not before two trials have values: without ends
    std::size_t trials = 0;                 ///< looked at
    std::size_t empty = 0;                  ///< of them, without any value
    double values = 0;                      ///< behind it: flows, jobs, ...
    bool reached = false;                   ///< as narrow as was asked for
    std::optional<TrialForecast> forecast;  ///< of trials, all together
};

class Estimator {
  public:
    Estimator(const Metric& metric, const Aim& aim);

    /// Trials in their order. A value that is not finite is an InternalError, but for pooled quantiles.
    void add(Observation observation);
    std::size_t trials() const { return trials_; }
    std::size_t first_look() const;
    /// At a look (eval/stopping/stopping_rule.h).
    Decision decide() const;
    Estimate estimate() const;
    /// Of the values that the estimate is a mean of; TooFew for quantiles that are pooled, which need no mean.
    TailReport tail() const;
    /// A trial's figure, for figures and comparisons; pooled: the trial's own mean or quantile. None: it has no value.
    const std::vector<std::optional<double>>& figures() const { return figures_; }

  private:
    bool pooled_quantile() const {
        return metric_.estimand == Estimand::pooled && metric_.quantile.has_value();
    }
    /// What the estimate is a mean of, one value a trial.
    std::vector<double> terms() const;
    Moments moments() const;
    Interval interval() const;
    std::optional<TrialForecast> forecast() const;
    std::optional<TrialForecast> quantile_forecast() const;
    bool narrow(const Interval& interval) const;

    Metric metric_;
    Aim aim_;
    std::unique_ptr<StoppingRule> rule_;
    std::size_t trials_ = 0;
    std::size_t empty_ = 0;
    double count_ = 0;
    Moments moments_;                             ///< per trial
    std::vector<double> sums_;                    ///< pooled means: by trial
    std::vector<double> counts_;                  ///< likewise
    Trials pooled_;                               ///< pooled quantiles
    std::vector<std::optional<double>> figures_;  ///< by trial
};

}  // namespace sluice::eval
