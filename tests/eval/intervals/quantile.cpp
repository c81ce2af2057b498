// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "eval/intervals/quantile.h"

using namespace sluice::eval;
using doctest::Approx;

namespace {

std::vector<double> up_to(int n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

}  // namespace

TEST_CASE("unit.eval.quantile.is_an_order_statistic") {
    // 1 to 100: 99 values are at most 99. 0.07 * 100 is 7.000000000000001 in double and still rank 7.
    CHECK(quantile_of_sorted(up_to(100), 0.99) == 99);
    CHECK(quantile_of_sorted(up_to(100), 0.07) == 7);
    CHECK(quantile_of_sorted(up_to(10), 0.99) == 10);
    CHECK(quantile_of_sorted({5}, 0.5) == 5);
    CHECK_THROWS_AS(quantile_of_sorted({}, 0.5), sluice::InternalError);
    CHECK_THROWS_AS(quantile_of_sorted({5}, 1), sluice::InternalError);
}

TEST_CASE("unit.eval.quantile.ranks_come_from_the_binomial_distribution") {
    // Median of 10: P(B <= 1) = 11/1024 = 0.0107 <= 0.025, P(B <= 2) = 56/1024 = 0.0547 > 0.025: rank 2,
    // and 9 by symmetry, the table's 97.9% interval.
    const Interval median = order_statistic_interval(up_to(10), 0.5, 0.95);
    CHECK(median.low == 2);
    CHECK(median.high == 9);
    // The 99th percentile's upper end exists once 0.99^n <= 0.025: n >= 367.04, so 368.
    CHECK(std::isinf(order_statistic_interval(up_to(367), 0.99, 0.95).high));
    CHECK(order_statistic_interval(up_to(368), 0.99, 0.95).high == 368);
}

TEST_CASE("unit.eval.quantile.a_cluster_of_equal_values_counts_once") {
    // 40 trials, trial i of 25 equal values i: as uncertain as 40 values, not 1,000. The median's share has
    // standard error sqrt(40/39 * 40 * 12.5^2) / 1000 = 0.0801, whereas 1,000 independent values'
    // is 0.0158. t of 39: 2.0227; arm on the logit scale 2.0227 * 0.0801 / 0.25 = 0.648: shares
    // 0.3434 and 0.6566, ranks 344 and 657: values 14 and 27.
    Trials trials;
    for (int i = 1; i <= 40; ++i) trials.emplace_back(25, i);
    const Interval clustered = clustered_quantile_interval(trials, 0.5, 0.95);
    CHECK(clustered.estimate == 20);
    CHECK(clustered.low == 14);
    CHECK(clustered.high == 27);
    std::vector<double> pooled;
    for (const auto& trial : trials) pooled.insert(pooled.end(), trial.begin(), trial.end());
    const Interval independent = order_statistic_interval(pooled, 0.5, 0.95);
    CHECK(clustered.half_width() > 4 * independent.half_width());
}

TEST_CASE("unit.eval.quantile.trials_of_different_sizes_pool_their_values") {
    // One trial of 90 ones, nine of a single 2, one without values: the pooled 50th percentile is 1, whereas
    // the median trial's is 2.
    Trials trials(10, {2});
    trials[0].assign(90, 1);
    trials.emplace_back();
    CHECK(clustered_quantile_interval(trials, 0.5, 0.95).estimate == 1);
    CHECK_THROWS_AS(clustered_quantile_interval({{1, 2}}, 0.5, 0.95), sluice::InternalError);
    CHECK_THROWS_AS(clustered_quantile_interval({{}, {}}, 0.5, 0.95), sluice::InternalError);
}

TEST_CASE("unit.eval.quantile.too_few_values_leave_an_end_open") {
    // 5 trials of 4 values tell nothing of the 99.9th percentile's upper end.
    Trials trials;
    for (int i = 0; i < 5; ++i) trials.push_back({1.0 + i, 2.0 + i, 3.0 + i, 4.0 + i});
    CHECK(std::isinf(clustered_quantile_interval(trials, 0.999, 0.95).high));
}
