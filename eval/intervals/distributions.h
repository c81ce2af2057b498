// SPDX-License-Identifier: Apache-2.0
/// Distribution functions and quantiles that intervals need.
#pragma once

#include <cstddef>

namespace sluice::eval {

double normal_density(double x);
/// P(Z <= x), accurate in both tails (erfc).
double normal_cdf(double x);
/// The x with P(Z <= x) = probability, by Halley's method on normal_cdf: exact but for rounding.
/// InternalError unless 0 < probability < 1.
double normal_quantile(double probability);

/// As student_t_quantile of core/results, whose series costs as many terms as there are degrees of
/// freedom: above 200 the expansion in 1/freedom of Abramowitz and Stegun, 26.7.5 (error < 1e-9).
double t_quantile(double probability, std::size_t freedom);

/// P(X <= successes), X ~ Binomial(trials, p), as a sum of terms from the largest outwards.
double binomial_cdf(std::size_t successes, std::size_t trials, double p);

}  // namespace sluice::eval
