// SPDX-License-Identifier: Apache-2.0
/// Completion times kept one by one and in classes.
#include <doctest/doctest.h>

#include <cmath>

#include "core/random.h"
#include "core/results/completion_times.h"

using namespace sluice;

TEST_CASE("unit.results.completion_times.classes_are_within_their_error_of_the_exact") {
    CompletionTimes exact;
    CompletionTimes classes(100);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        // From 1 ps to 1000 s, evenly over orders of magnitude; many below 2^12.
        const auto time = static_cast<Tick>(std::pow(10.0, 15 * uniform(1, 2, i)));
        exact.add(time);
        classes.add(time);
    }
    exact.close();
    classes.close();
    CHECK(classes.count() == exact.count());
    CHECK(classes.most() == exact.most());
    CHECK(std::abs(classes.mean_seconds() / exact.mean_seconds() - 1) < 1e-12);
    for (unsigned percent = 0; percent <= 100; ++percent) {
        const Tick is = exact.percentile(percent);
        const Tick counted = classes.percentile(percent);
        CAPTURE(percent);
        CHECK(counted <= is);
        CHECK(is - counted <= is / 2048);
    }
}

TEST_CASE("unit.results.completion_times.few_are_exact_and_the_largest_has_a_class") {
    CompletionTimes few;
    few.add(3);
    few.add(1);
    few.close();
    CHECK(few.percentile(50) == 1);
    CHECK(few.percentile(99) == 3);
    CHECK(few.mean_seconds() == doctest::Approx(2e-12));
    CompletionTimes one(0);
    one.add(kNever - 1);
    one.add(0);
    one.close();
    CHECK(one.most() == kNever - 1);
    CHECK(one.percentile(1) == 0);
    CHECK(one.percentile(100) >= (kNever - 1) / 2048 * 2047);
}
