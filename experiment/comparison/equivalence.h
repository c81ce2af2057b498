// SPDX-License-Identifier: Apache-2.0
/// Is a figure the same in two modes, within a margin? Two one-sided t-tests (Schuirmann, 1987) on the
/// differences of logarithms over pairs of runs, each test at 5%: the figure is equivalent if the
/// 90% confidence interval of the mean difference lies inside the margin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {

enum class Verdict : std::uint8_t {
    equivalent,    ///< the interval is inside the margin
    biased,        ///< the interval is outside
    not_resolved,  ///< the margin cuts the interval: these runs cannot tell
};

const char* verdict_name(Verdict verdict);

/// Differences are relative, as fractions: 0.01 means that the second of a pair is 1% larger. The
/// interval is of the ratio's geometric mean.
struct Equivalence {
    std::size_t pairs = 0;
    double bias = 0;
    double low = 0;   ///< of the 90% interval
    double high = 0;  ///< of the 90% interval
    double sd = 0;    ///< standard deviation of the differences of logarithms
    double margin = 0;
    Verdict verdict = Verdict::not_resolved;
    /// If not resolved: how many pairs with the same bias and deviation would settle it four times in
    /// five. None if it takes more than kMostPairs.
    std::optional<std::size_t> pairs_needed;
};

inline constexpr std::size_t kMostPairs = 10'000;

/// `pairs`: reference and value, at least two, all of them positive; margin > 0. The margin is the
/// same factor both ways: 0.01 allows from 1/1.01 to 1.01. InternalError otherwise.
Equivalence test_equivalence(const std::vector<std::pair<double, double>>& pairs, double margin);

/// Standard deviation of the values' logarithms; 0 of fewer than two. All of them positive.
double log_deviation(const std::vector<double>& values);

}  // namespace sluice
