// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/random.h"
#include "eval/warmup/warmup.h"

using namespace sluice;
using namespace sluice::eval;
using doctest::Approx;

TEST_CASE("unit.eval.warmup.mser5_cuts_a_step") {
    // 20 zeros, then 80 values 10, 12 in turn (means of 5: 10.8 and 11.2): any zero batch that is kept adds
    // more than 11^2 (1 - 1/n) to the squares, so the cut is at 20.
    std::vector<double> series(20, 0.0);
    for (int i = 0; i < 80; ++i) series.push_back(i % 2 == 0 ? 10 : 12);
    CHECK(mser5_cut(series) == 20);
    CHECK(mser5_cut(std::vector<double>(100, 3.0)) == 0);
    CHECK(mser5_cut(std::vector<double>(19, 3.0)) == 0);
}

TEST_CASE("unit.eval.warmup.mser5_cuts_at_most_half") {
    std::vector<double> rising;
    for (int i = 0; i < 100; ++i) rising.push_back(i);
    CHECK(mser5_cut(rising) == 50);
}

TEST_CASE("unit.eval.warmup.active_flows_at_the_middle_of_each_bin") {
    // Bins of 1 s, middles 0.5, 1.5, 2.5, 3.5. [0, 2): 2 of them; [0.6, 1.6): 1.5 only; [3.5, inf): 3.5.
    const double forever = std::numeric_limits<double>::infinity();
    const auto series = active_flows({0, 0.6, 3.5}, {2, 1.6, forever}, 4, 4);
    CHECK(series == std::vector<double>{1, 2, 0, 1});
    CHECK_THROWS_AS(active_flows({0}, {}, 4, 4), InternalError);
}

TEST_CASE("unit.eval.warmup.window_between_ramps") {
    // 200 bins over 1 s: up in 20, 10 or 11 flows, down in 30.
    std::vector<double> active;
    for (int i = 0; i < 20; ++i) active.push_back(0.5 * i);
    for (int i = 0; i < 150; ++i) active.push_back(10 + i % 2);
    for (int i = 0; i < 30; ++i) active.push_back(10 - i / 3.0);
    const Window window = find_window(active, 1);
    CHECK(window.found);
    CHECK(window.begin == Approx(0.1).epsilon(0.3));
    CHECK(window.end == Approx(0.85).epsilon(0.05));
    CHECK_FALSE(window.mostly_ramps);
    CHECK(describe(window).empty());
}

TEST_CASE("unit.eval.warmup.warns_of_a_trial_that_is_mostly_ramps") {
    // A triangle: no stable phase.
    std::vector<double> active;
    for (int i = 0; i < 100; ++i) active.push_back(i);
    for (int i = 100; i > 0; --i) active.push_back(i);
    CHECK(find_window(active, 0.002).mostly_ramps);
    CHECK(describe(find_window(active, 0.002)).find("lengthen the trial") != std::string::npos);
    // Too short a series to say anything.
    CHECK(find_window(std::vector<double>(10, 1.0), 1).mostly_ramps);
}

TEST_CASE("unit.eval.warmup.given_cuts") {
    const Window window = given_window(0.2, 0.1, 1);
    CHECK_FALSE(window.found);
    CHECK(window.begin == 0.2);
    CHECK(window.end == Approx(0.9));
    CHECK(window.ramp_share == Approx(0.3));
    CHECK_FALSE(window.mostly_ramps);
    CHECK(given_window(0.5, 0.3, 1).mostly_ramps);
    CHECK_THROWS_AS(given_window(0.5, 0.5, 1), InternalError);
    CHECK_THROWS_AS(given_window(-0.1, 0.5, 1), InternalError);
}
