// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "eval/comparison/anytime.h"
#include "eval/comparison/elimination.h"
#include "eval/comparison/paired.h"
#include "eval/intervals/distributions.h"

using namespace sluice;
using namespace sluice::eval;
using doctest::Approx;

namespace {

double normal_draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t n) {
    return normal_quantile(uniform(seed, stream, n) + 1e-17);
}

}  // namespace

TEST_CASE("unit.eval.anytime.width_of_the_mixture_boundary") {
    // 200 values 0 and 2 in turn: mean 1, s^2 = 200/199. miss 0.05, l = -2 ln 0.05 = 5.991465,
    // r^2 = (l + ln(l + 1))/200 = 0.0396817; N r^2 + 1 = 8.93634;
    // half-width sqrt(2 * 8.93634 / (200^2 * 0.0396817) * ln(sqrt(8.93634)/0.05)) = sqrt(0.0112600 *
    // 4.090821) = 0.214622, times s and t_199/v = 1.971957/1.959964.
    Moments moments;
    for (int i = 0; i < 200; ++i) moments.add(i % 2 == 0 ? 0 : 2);
    const Interval interval = anytime_interval(moments, 0.95, 200);
    const double expected = 0.214622 * std::sqrt(200.0 / 199) * 1.971957 / 1.959964;
    CHECK(interval.half_width() == Approx(expected).epsilon(1e-4));
    CHECK(anytime_trials(1, 0.214622, 0.95, 200) == Approx(200).epsilon(0.01));
}

TEST_CASE("unit.eval.paired.common_random_numbers_cancel") {
    // reference_n = 100 + 20 z_n, candidate 1% below plus an own noise of 1: the difference -1 - 0.2 z_n
    // has deviation 1.02, so the interval excludes 0 once its half-width is below 1.
    PairedComparison paired;
    PairedComparison unpaired;
    for (std::uint64_t n = 0; n < 400; ++n) {
        const double common = normal_draw(1, 1, n);
        const double noise = normal_draw(1, 2, n);
        paired.add(0.99 * (100 + 20 * common) + noise, 100 + 20 * common);
        unpaired.add(0.99 * (100 + 20 * normal_draw(1, 3, n)) + noise, 100 + 20 * common);
    }
    CHECK(paired.result().verdict == Verdict::Better);
    CHECK_FALSE(paired.result().more_trials);
    CHECK(paired.result().difference.contains(-1));
    // Deviation 28 and a difference of 1: thousands more.
    CHECK(unpaired.result().verdict == Verdict::Undecided);
    PairedSettings larger;
    larger.smaller_is_better = false;
    PairedComparison reversed(larger);
    for (int i = 0; i < 50; ++i) reversed.add(1, 2);
    CHECK(reversed.result().verdict == Verdict::Worse);
}

TEST_CASE("unit.eval.paired.the_same_within_a_margin") {
    PairedSettings settings;
    settings.margin = 0.01;
    PairedComparison comparison(settings);
    for (int i = 0; i < 19; ++i) comparison.add(100, 100);
    CHECK(comparison.result().verdict == Verdict::Undecided);
    comparison.add(100, 100);
    CHECK(comparison.result().verdict == Verdict::Same);
    // Differences of +-4 in turn, margin 1: the forecast is where the half-width is 1 (mean difference 0).
    PairedComparison wide(settings);
    for (int i = 0; i < 100; ++i) wide.add(i % 2 == 0 ? 104 : 96, 100);
    CHECK(wide.result().verdict == Verdict::Undecided);
    const double needed = anytime_trials(4 * std::sqrt(100.0 / 99), 1, 0.95);
    REQUIRE(wide.result().more_trials);
    CHECK(*wide.result().more_trials == Approx(needed - 100));
    // Without a margin nothing tells equal means apart.
    PairedComparison equal;
    for (int i = 0; i < 100; ++i) equal.add(i % 2 == 0 ? 104 : 96, 100);
    CHECK_FALSE(equal.result().more_trials);
}

TEST_CASE("unit.eval.paired.equal_settings_get_no_verdict") {
    // Looking after each of 500 trials, 200 repetitions: at most 5%, i.e. 10 (4 to 5 are expected at most).
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        PairedComparison comparison;
        bool told = false;
        for (std::uint64_t n = 0; n < 500 && !told; ++n) {
            comparison.add(std::exp(normal_draw(seed, 1, n)), std::exp(normal_draw(seed, 2, n)));
            told = n > 0 && comparison.result().verdict != Verdict::Undecided;
        }
        wrong += told;
    }
    CHECK(wrong <= 10);
}

TEST_CASE("unit.eval.elimination.bad_candidates_leave_early") {
    // Means 1.0, 1.02, 1.5 and 2.0, common noise 0.5, own noise 0.1.
    Elimination elimination(4);
    const double means[] = {1.02, 1.5, 1.0, 2.0};
    for (std::uint64_t n = 0; n < 5000 && !elimination.finished(); ++n) {
        std::vector<double> values;
        for (std::uint64_t i = 0; i < 4; ++i) {
            values.push_back(means[i] + 0.5 * normal_draw(9, 100, n) + 0.1 * normal_draw(9, i, n));
        }
        elimination.add_round(values);
    }
    CHECK(elimination.finished());
    CHECK(elimination.leader() == 2);
    CHECK(elimination.candidates_left() == std::vector<std::size_t>{2});
    REQUIRE(elimination.eliminated(3));
    CHECK(elimination.eliminated(3)->trials == 20);
    CHECK(elimination.eliminated(1)->trials == 20);
    REQUIRE(elimination.eliminated(0));
    CHECK(elimination.eliminated(0)->trials > 100);
    CHECK(elimination.eliminated(0)->by == 2);
}

TEST_CASE("unit.eval.elimination.ends_where_the_rest_is_the_same") {
    EliminationSettings settings;
    settings.margin = 0.05;
    Elimination elimination(2, settings);
    while (!elimination.finished() && elimination.rounds() < 2000) {
        const std::uint64_t n = elimination.rounds();
        elimination.add_round({1 + 0.1 * normal_draw(4, 0, n), 1 + 0.1 * normal_draw(4, 1, n)});
    }
    CHECK(elimination.finished());
    CHECK(elimination.candidates_left().size() == 2);
    CHECK_THROWS_AS(elimination.add_round({1}), InternalError);
    CHECK_THROWS_AS(Elimination(1), InternalError);
}

TEST_CASE("unit.eval.elimination.keeps_the_best_at_the_stated_rate") {
    // Five equal candidates: at most 5% of runs eliminate any; 200 runs, so at most 10.
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Elimination elimination(5);
        for (std::uint64_t n = 0; n < 200; ++n) {
            std::vector<double> values;
            for (std::uint64_t i = 0; i < 5; ++i) values.push_back(normal_draw(seed, i, n));
            elimination.add_round(values);
        }
        wrong += elimination.candidates_left().size() < 5;
    }
    CHECK(wrong <= 10);
}
