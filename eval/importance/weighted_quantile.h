// SPDX-License-Identifier: Apache-2.0
/// Quantiles pooled over all flows of weighted trials (CCEval, eq. 11 to 13), with intervals, and whether the
/// weights allow any.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/error.h"
#include "eval/importance/flow_source.h"
#include "eval/intervals/interval.h"

namespace sluice::eval {

/// What is left of a trial.
struct WeightedTrial {
    std::vector<WeightedFlow> outcomes;
    double log_weight_at_end = 0;
};

/// E[alpha], finished flows of a trial in the original distribution.
struct FlowsPerTrial {
    double mean = 0;
    double standard_error = 0;  ///< 0 where known
};

struct WeightReport {
    /// (sum y)^2 / sum y^2 over trials, y the weights of a trial's flows beyond the quantile: as many trials of
    /// equal weight would do as well. Trials without such a flow count nothing.
    double effective_trials = 0;
    double largest_share = 0;  ///< of the largest y in the sum
    /// Mean of the likelihood ratio at the end of trials, 1 in expectation, and its standard error.
    double mean_weight = 1;
    double mean_weight_error = 0;
};

/// Weights that carry no estimate: an error, not a number. what() says which limit is broken.
class DegenerateWeights : public ConfigError {
  public:
    using ConfigError::ConfigError;
};

/// Fewer effective trials, or a larger share of one trial, than this is DegenerateWeights; so is a mean weight
/// more than five standard errors from 1.
constexpr double kFewestEffectiveTrials = 20;
constexpr double kLargestShare = 0.2;

/// Eq. 12 and 13. DegenerateWeights where no flow at all is left beyond the quantile or none before it.
double weighted_quantile(const std::vector<WeightedTrial>& trials, const FlowsPerTrial& flows,
                         double p);

/// Empty in these cases.
std::optional<double> find_weighted_quantile(const std::vector<WeightedTrial>& trials,
                                             const FlowsPerTrial& flows, double p);

/// At `value`, an estimate of the quantile.
WeightReport examine_weights(const std::vector<WeightedTrial>& trials, double value);
/// Throws DegenerateWeights.
void check_weights(const WeightReport& report);

/// The default: trials as clusters. An interval of the tail mass beyond the estimate (corrected_interval of y
/// over trials, and the error of E[alpha]) is read off the weighted values. Ends are infinite where these do
/// not reach so far.
Interval clustered_weighted_interval(const std::vector<WeightedTrial>& trials,
                                     const FlowsPerTrial& flows, double p, double confidence);

/// Squared coefficient of variation, over trials, of the weight at or beyond `value`: how many trials an interval takes.
/// 0 where there is no such weight.
double relative_variance(const std::vector<WeightedTrial>& trials, double value);

/// The paper's batch method: quantiles of batches of K consecutive trials, and Student's interval of their
/// mean. A quantile of few flows is biased, and so is the mean of such. Trials that fill no batch are left out; two
/// batches at least, else InternalError. `flows` has to be a number that does not depend on the batches.
Interval batched_weighted_interval(const std::vector<WeightedTrial>& trials,
                                   const FlowsPerTrial& flows, double p, double confidence,
                                   std::size_t batch);

/// Empty where there are fewer than two batches, or a batch does not reach the quantile.
std::optional<Interval> find_batched_interval(const std::vector<WeightedTrial>& trials,
                                              const FlowsPerTrial& flows, double p,
                                              double confidence, std::size_t batch);

}  // namespace sluice::eval
