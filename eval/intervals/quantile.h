// SPDX-License-Identifier: Apache-2.0
/// Quantiles and their intervals: of independent values, and of values pooled over trials, which are
/// correlated within a trial.
#pragma once

#include <cstddef>
#include <vector>

#include "eval/intervals/interval.h"
#include "eval/intervals/mean.h"

namespace sluice::eval {

/// Which of n ascending values is the p-quantile: a rank from 1, the least integer >= p n (safe against p n that is a whole
/// number but for rounding). n >= 1.
std::size_t quantile_rank(double p, std::size_t n);

/// The smallest value at or below which at least a share p of the values lies (CCEval, eq. 7): an order
/// statistic, never interpolated. `sorted` ascends and is not empty, 0 < p < 1; else InternalError.
double quantile_of_sorted(const std::vector<double>& sorted, double p);

/// The same of values in any order, in time proportional to their number.
double quantile_of(std::vector<double> values, double p);

/// For independent values of any distribution: order statistics whose ranks the binomial distribution
/// gives; it contains the quantile with at least `confidence`. An end is infinite where the values are
/// too few: a 95% interval of the 99th percentile has an upper end from 368 values on.
Interval order_statistic_interval(const std::vector<double>& sorted, double p, double confidence);

/// The values of one trial, e.g. completion times of its flows.
using Trials = std::vector<std::vector<double>>;

/// The p-quantile of all values of all trials (not the mean of per-trial quantiles), trials as clusters:
/// Woodruff (J. Am. Statist. Assoc. 47, 1952). The variance of the share of values at or below the
/// estimate is that of the ratio of two sums over trials; a t interval of it with trials - 1 degrees of
/// freedom, on the logit scale so that it stays between 0 and 1, is read off the pooled values. Ends are
/// infinite where a share lies beyond what the pooled values resolve (less than one value outside it).
/// At least two trials, at least one value in all, else InternalError; trials may be empty.
Interval clustered_quantile_interval(const Trials& trials, double p, double confidence);

/// The same with the interval of the share by corrected_interval, for sequential evaluations: where busy trials have more
/// flows, and longer ones, a trial's part in the tail is skewed. Shares are scaled, on the side of the shorter tail.
Interval corrected_quantile_interval(const Trials& trials, double p, double confidence,
                                     const Correction& correction = {});

}  // namespace sluice::eval
