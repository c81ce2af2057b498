// SPDX-License-Identifier: Apache-2.0
// What the busiest of several truncated counters shows, against counting it.
#include "core/calibration/counter_class.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace sluice;
using hybrid::counter_class;
using hybrid::counter_excess;

namespace {

/// Mean of the largest of floor((x + c + bytes) / unit) - floor((x + c) / unit), over all x, in units, by bytes / unit.
double counted(const std::vector<std::int64_t>& ahead, std::int64_t bytes, std::int64_t unit) {
    std::int64_t sum = 0;
    for (std::int64_t x = 0; x < unit; ++x) {
        std::int64_t largest = 0;
        for (const std::int64_t distance : ahead) {
            const std::int64_t at = x + (distance % unit + unit) % unit;
            largest = std::max(largest, (at + bytes) / unit - at / unit);
        }
        sum += largest;
    }
    return static_cast<double>(sum) / static_cast<double>(bytes);
}

}  // namespace

TEST_CASE("unit.counters.counters_that_roll_over_together_show_what_passes") {
    CHECK(counter_excess({0}, 1090, 1024) == 1);
    CHECK(counter_excess({0, 0, 0}, 1090, 1024) == 1);
    CHECK(counter_excess({0, 1024, -2048}, 1090, 1024) == 1);
    CHECK(counter_excess({0, 7, 300}, 2048, 1024) ==
          1);  // whole units, wherever the counters stand
}

TEST_CASE("unit.counters.others_show_a_rest_more_each") {
    // 1,090 bytes are a unit of 1,024 and 66: the second counter rolls over 66 of 1,024 times more.
    CHECK(counter_excess({0, 500}, 1090, 1024) == doctest::Approx((1090 + 66) / 1090.0));
    CHECK(counter_excess({0, 300, 700}, 1090, 1024) == doctest::Approx((1090 + 2 * 66) / 1090.0));
    // 20 bytes apart they share 46 of their 66.
    CHECK(counter_excess({0, 20}, 1090, 1024) == doctest::Approx((1090 + 20) / 1090.0));
    CHECK(counter_class({0, 500}, 1090, 1024) != counter_class({0, 0}, 1090, 1024));
    CHECK(counter_class({0, 500}, 1090, 1024) == counter_class({0, 300}, 1090, 1024));
}

TEST_CASE("unit.counters.the_excess_is_what_counting_finds") {
    std::mt19937 draw(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same cases each time
    for (int round = 0; round < 300; ++round) {
        const std::int64_t unit = std::int64_t{128} << draw() % 5;
        const auto bytes = static_cast<std::int64_t>(64 + draw() % 6000);
        std::vector<std::int64_t> ahead = {0};
        for (std::size_t more = draw() % 6; more > 0; --more) {
            ahead.push_back(static_cast<std::int64_t>(draw() % 100'000) - 50'000);
        }
        CAPTURE(unit);
        CAPTURE(bytes);
        CHECK(counter_excess(ahead, bytes, unit) == doctest::Approx(counted(ahead, bytes, unit)));
    }
}
