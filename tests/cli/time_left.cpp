// SPDX-License-Identifier: Apache-2.0
#include "cli/time_left.h"

#include <doctest/doctest.h>

using namespace sluice;

TEST_CASE("unit.time_left.of_an_even_pace") {
    TimeLeft left;
    CHECK_FALSE(left.seconds());
    for (int i = 1; i <= 400; ++i) left.note(0.25 * i, 0.25 * i / 200);
    CHECK(*left.seconds() == doctest::Approx(100));
}

TEST_CASE("unit.time_left.follows_a_run_that_becomes_faster") {
    // A tenth in 60 s, the rest in 10: at the mean pace 200 s would be left 3 s before the end.
    TimeLeft left;
    for (int i = 1; i <= 240; ++i) left.note(0.25 * i, 0.1 * i / 240);
    for (int i = 1; i <= 28; ++i) left.note(60 + 0.25 * i, 0.1 + 0.9 * i / 40);
    CHECK(*left.seconds() < 10);
    CHECK(*left.seconds() >= 3);
}

TEST_CASE("unit.time_left.of_one_that_stands_still_nothing_is_known") {
    TimeLeft left;
    left.note(1, 0.5);
    for (int i = 2; i <= 100; ++i) left.note(i, 0.5);
    CHECK_FALSE(left.seconds());
    left.note(101, 1);
    CHECK(*left.seconds() == 0);
}
