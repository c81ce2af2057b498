// SPDX-License-Identifier: Apache-2.0
/// What a batch's check with mode packet comes to, by hand, and how checks are drawn.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "experiment/batch/batch_check.h"

using namespace sluice;

namespace {

std::vector<CheckedPair> pairs_of(const std::vector<double>& batch,
                                  const std::vector<double>& packet) {
    std::vector<CheckedPair> pairs;
    for (std::size_t i = 0; i < batch.size(); ++i) pairs.push_back({i, batch[i], packet[i], 0, 0});
    return pairs;
}

}  // namespace

TEST_CASE("unit.batch_check.of_one_there_is_no_interval") {
    const BatchCheck check = check_of(pairs_of({1.1}, {1.0}));
    CHECK(check.checked == 1);
    CHECK(check.mean_error == doctest::Approx(0.1));
    CHECK(check.largest_error == doctest::Approx(0.1));
    CHECK(check.half_width == 0);
    CHECK(check.pairs == 0);
}

TEST_CASE("unit.batch_check.errors_by_hand") {
    // Errors -1%, 0, +4%: mean 1%; deviation sqrt((4 + 1 + 9) / 2)% = sqrt(7)%; t(0.975, 2) = 4.3027.
    const BatchCheck check = check_of(pairs_of({0.99, 2, 3.12}, {1, 2, 3}));
    CHECK(check.mean_error == doctest::Approx(0.01));
    CHECK(check.half_width == doctest::Approx(4.302653 * 0.01 * std::sqrt(7.0 / 3)).epsilon(1e-5));
    // Of each the others' root mean square; the middle one is of -1% and 4%.
    REQUIRE(check.error_bars.size() == 3);
    CHECK(check.error_bars[0] == doctest::Approx(1.96 * std::sqrt((0 + 16e-4) / 2)));
    CHECK(check.error_bars[1] == doctest::Approx(1.96 * std::sqrt((1e-4 + 16e-4) / 2)));
    CHECK(check.error_bars[2] == doctest::Approx(1.96 * std::sqrt(1e-4 / 2)));
    CHECK(check.median_bar == check.error_bars[0]);
    CHECK(check.largest_error == doctest::Approx(0.04));
}

TEST_CASE("unit.batch_check.rankings_by_hand") {
    // One of six pairs is the other way round: tau (5 - 1) / 6.
    CHECK(check_of(pairs_of({1, 2, 4, 3}, {1, 2, 3, 4})).tau == doctest::Approx(4.0 / 6));
    CHECK(check_of(pairs_of({4, 3, 2, 1}, {1, 2, 3, 4})).tau == doctest::Approx(-1));
    // A tie in the batch: 5 of 6 pairs agree, 5 are untied there: 5 / sqrt(5 * 6).
    CHECK(check_of(pairs_of({1, 2, 3, 3}, {1, 2, 3, 4})).tau ==
          doctest::Approx(5 / std::sqrt(30.0)));
    CHECK(check_of(pairs_of({1, 1}, {1, 2})).tau == 0);
}

TEST_CASE("unit.batch_check.those_with_like_times_say_how_far_one_is_off") {
    // Ten short ones that are right, ten long ones that are off by 10%: a quarter of twenty are nearest.
    std::vector<double> batch;
    std::vector<double> packet;
    for (int i = 0; i < 10; ++i) {
        batch.insert(batch.end(), {1 + 0.001 * i, (2 + 0.1 * i) * (i % 2 == 0 ? 1.1 : 0.9)});
        packet.insert(packet.end(), {1 + 0.001 * i, 2 + 0.1 * i});
    }
    const BatchCheck check = check_of(pairs_of(batch, packet));
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(check.error_bars[i] == doctest::Approx(i % 2 == 0 ? 0 : 0.196));
    }
    // All 45 of the first, 100 mixed ones, and few of the others.
    CHECK(check.pairs_apart > 145);
    CHECK(check.pairs_apart < 170);
    CHECK(check.tau_apart == 1);
}

TEST_CASE("unit.batch_check.pairs_closer_than_the_error_are_left_out") {
    // Errors of -1%, +1%, 0, 0: bars of 1.1% to 1.6%. The first two are 0.5% apart and change places.
    const BatchCheck check = check_of(pairs_of({1.01, 0.99495, 2, 3}, {1, 1.005, 2, 3}));
    CHECK(check.pairs == 6);
    CHECK(check.pairs_apart == 5);
    CHECK(check.tau == doctest::Approx(4.0 / 6));
    CHECK(check.tau_apart == 1);
}

TEST_CASE("unit.batch_check.draws_are_of_all_and_nested") {
    std::vector<std::size_t> all(1000);
    std::iota(all.begin(), all.end(), 0);
    const std::vector<std::size_t> few = draw_checks(all, 40);
    const std::vector<std::size_t> more = draw_checks(all, 80);
    CHECK(few.size() == 40);
    CHECK(std::is_sorted(few.begin(), few.end()));
    CHECK(std::includes(more.begin(), more.end(), few.begin(), few.end()));
    CHECK(draw_checks(all, 2000) == all);
    CHECK(draw_checks({}, 3).empty());
    // From everywhere: each fifth has 200 of 1,000, 16 of 80 expected; 4 sigma is 14.
    for (std::size_t part = 0; part < 5; ++part) {
        const auto in =
            std::count_if(more.begin(), more.end(), [&](std::size_t e) { return e / 200 == part; });
        CHECK(in > 1);
        CHECK(in < 31);
    }
}
