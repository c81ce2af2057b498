// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "eval/warmup/warmup.h"

using namespace sluice;
using namespace sluice::eval;
using doctest::Approx;

TEST_CASE("unit.eval.warmup.ramps_of_equal_times") {
    // E[min(S, t)] = t up to S: 90% of it.
    CHECK(ramp_length({2, 2, 2}) == Approx(1.8));
    // One of 1 s and one of 9 s: 9 of 10 s are reached at 8 s.
    CHECK(ramp_length({9, 1}) == Approx(8));
    CHECK_THROWS_AS(ramp_length({}), InternalError);
    CHECK_THROWS_AS(ramp_length({1, 0}), InternalError);
}

TEST_CASE("unit.eval.warmup.ramps_of_exponential_times") {
    // E[min(S, t)] / E[S] = 1 - exp(-t / E[S]).
    std::vector<double> times;
    for (std::uint64_t i = 0; i < 200'000; ++i)
        times.push_back(-3 * std::log(1 - uniform(1, 1, i)));
    CHECK(ramp_length(times) == Approx(-3 * std::log(0.1)).epsilon(0.02));
}

TEST_CASE("unit.eval.warmup.window_between_ramps") {
    const Window window = find_window({1, 1}, 20);
    CHECK(window.begin == Approx(0.9));
    CHECK(window.end == Approx(19.1));
    CHECK(window.ramp_share == Approx(0.09));
    CHECK_FALSE(window.mostly_ramps);
    CHECK(describe(window).empty());
}

TEST_CASE("unit.eval.warmup.short_trials_are_mostly_ramps") {
    const Window short_one = find_window({1, 1}, 3);
    CHECK(short_one.mostly_ramps);
    CHECK(short_one.begin < short_one.end);
    const Window too_short = find_window({1, 1}, 1);
    CHECK(too_short.ramp_share == 1);
    CHECK(too_short.begin == 0);
    CHECK(too_short.end == 1);
    CHECK(describe(too_short).find("lengthen the trial") != std::string::npos);
    CHECK_THROWS_AS(find_window({1}, 0), InternalError);
}
