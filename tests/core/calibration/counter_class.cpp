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

TEST_CASE("unit.counters.of_ports_with_rates_of_their_own_the_busiest_counts") {
    using hybrid::counted_time;
    using hybrid::Counter;
    // Of equal rates it is the excess.
    for (const std::int64_t bytes : {700, 1024, 1090, 1175, 4186}) {
        const double excess = counter_excess({0, 300, 900}, bytes, 1024);
        CHECK(counted_time({{{0, 2.0, bytes}, {300, 2.0, bytes}, {900, 2.0, bytes}}}, 1024) ==
              doctest::Approx(excess * static_cast<double>(bytes) / 2));
    }
    // A port that is four times as fast never is the busiest.
    CHECK(counted_time({{{0, 1.0, 1090}, {300, 4.0, 1090}}}, 1024) == doctest::Approx(1090));
    // One that is a little faster is while it alone rolls over.
    CHECK(counted_time({{{0, 1.0, 1090}, {300, 1.2, 1090}}}, 1024) ==
          doctest::Approx(1090 + 66.0 / 1024 * (2048 / 1.2 - 1024)));
    // Place by place, each with bytes of its own.
    const std::vector<Counter> counters = {
        {0, 1.0, 3333}, {777, 1.5, 4000}, {-40, 0.9, 3000}, {5000, 1.1, 1024}};
    double sum = 0;
    for (std::int64_t place = 0; place < 1024; ++place) {
        double longest = 0;
        for (const Counter& counter : counters) {
            const std::int64_t from = ((place + counter.ahead) % 1024 + 1024) % 1024;
            longest = std::max(
                longest, static_cast<double>((from + counter.bytes) / 1024 * 1024) / counter.rate);
        }
        sum += longest;
    }
    CHECK(counted_time({counters}, 1024) == doctest::Approx(sum / 1024));
}

TEST_CASE("unit.counters.that_drift_against_each_other_stand_anywhere") {
    using hybrid::counted_time;
    using hybrid::Counter;
    const std::vector<Counter> first = {{0, 1.0, 1090}, {400, 1.0, 1090}};
    const std::vector<Counter> second = {{0, 1.0, 1170}, {900, 1.1, 1170}};
    double sum = 0;
    constexpr std::int64_t kStep = 2;
    for (std::int64_t drift = 0; drift < 1024; drift += kStep) {
        std::vector<Counter> both = first;
        for (Counter counter : second) {
            counter.ahead += drift;
            both.push_back(counter);
        }
        sum += counted_time(both, 1024);
    }
    std::vector<Counter> apart = first;
    apart.insert(apart.end(), second.begin(), second.end());
    apart[first.size()].drifts = true;
    CHECK(counted_time(apart, 1024) == doctest::Approx(sum * kStep / 1024).epsilon(1e-3));
    CHECK(counted_time(apart, 1024) > counted_time(first, 1024));
}
