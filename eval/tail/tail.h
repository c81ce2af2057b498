// SPDX-License-Identifier: Apache-2.0
/// Does the sample's own tail allow a promise about its mean? An interval for a mean rests on a finite
/// variance. A sample cannot prove one; it can show that an infinite one is not excluded, and how much
/// depends on its largest value.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sluice::eval {

enum class TailVerdict {
    Light,   ///< an infinite variance is excluded, or skewness has become harmless
    Heavy,   ///< not excluded: intervals and forecasts may be too narrow
    TooFew,  ///< fewer than 50 values: no statement
};

struct TailReport {
    TailVerdict verdict = TailVerdict::TooFew;
    /// Hill's estimate of the index alpha of P(X > x) ~ x^-alpha, from the `order` largest distances from
    /// the median on the longer side; infinite where these are all equal. Below 2: infinite variance.
    double hill_index = 0;
    std::size_t order = 0;  ///< 2 sqrt(N), at most N / 5
    /// The largest |value|'s share of the sum of |values|.
    double largest_share = 0;
    /// By how much the mean changes without its most distant value, in standard errors (jackknife).
    double influence = 0;
    /// |skewness| / sqrt(N): what the coverage of a t interval is off by, in first order.
    double skewness_of_mean = 0;
    /// Events rarer than this are likely (95%) to be absent from the sample: 3 / N (rule of three).
    /// Nothing in a sample warns of them.
    double unseen_below = 1;
};

/// Heavy where both hold: alpha <= 2 cannot be rejected at 5% (hill_index < 2 (1 + 1.645 / sqrt(order))),
/// and skewness_of_mean > 0.65 N^(-1/4). The latter falls like N^(-1/2) where the third moment is finite.
TailReport examine_tail(const std::vector<double>& values);

/// One line for people, empty for Light.
std::string describe(const TailReport& report);

}  // namespace sluice::eval
