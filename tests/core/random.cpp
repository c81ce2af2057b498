// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "core/random.h"

using namespace sluice;

TEST_CASE("unit.random.first_word_is_splitmix64") {
    // SplitMix64 seeded with 0 gives this word first; mix_bits(0) is that step.
    CHECK(mix_bits(0) == 0xe220a8397b1dcdafULL);
}

TEST_CASE("unit.random.depends_on_nothing_but_its_arguments") {
    CHECK(random_bits(1, 2, 3) == random_bits(1, 2, 3));
    CHECK(random_bits(1, 2, 3) == random_bits_of_key(random_key(1, 2), 3));
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (std::uint64_t stream = 0; stream < 20; ++stream) {
            for (std::uint64_t n = 0; n < 20; ++n) seen.insert(random_bits(seed, stream, n));
        }
    }
    CHECK(seen.size() == 8000);
}

TEST_CASE("unit.random.uniform_mean_and_variance") {
    // 10^6 draws of U(0,1): the mean's standard error is sqrt(1/12)/1000 = 0.00029; the
    // variance's about 0.000075. Five of each.
    double sum = 0;
    double squares = 0;
    for (std::uint64_t n = 0; n < 1'000'000; ++n) {
        const double u = uniform(7, n % 1000, n / 1000);
        REQUIRE(u >= 0);
        REQUIRE(u < 1);
        sum += u;
        squares += u * u;
    }
    const double mean = sum / 1e6;
    CHECK(std::abs(mean - 0.5) < 0.0015);
    CHECK(std::abs(squares / 1e6 - mean * mean - 1.0 / 12) < 0.0004);
}

TEST_CASE("unit.random.neighbouring_streams_are_uncorrelated") {
    // The mean product of two independent centred uniforms is 0, with standard error
    // (1/12)/sqrt(10^5) = 0.00026.
    double products = 0;
    for (std::uint64_t n = 0; n < 100'000; ++n) {
        products += (uniform(1, 5, n) - 0.5) * (uniform(1, 6, n) - 0.5);
    }
    CHECK(std::abs(products / 1e5) < 0.0013);
    products = 0;
    for (std::uint64_t n = 0; n < 100'000; ++n) {
        products += (uniform(1, 5, n) - 0.5) * (uniform(1, 5, n + 1) - 0.5);
    }
    CHECK(std::abs(products / 1e5) < 0.0013);
}

TEST_CASE("unit.random.uniform_below_is_even") {
    // 60,000 draws of 6 faces: 10,000 each, standard deviation sqrt(60000 x 1/6 x 5/6) = 91.
    int faces[6] = {};
    for (std::uint64_t n = 0; n < 60'000; ++n) ++faces[uniform_below(3, 9, n, 6)];
    for (const int count : faces) CHECK(std::abs(count - 10'000) < 460);
    for (std::uint64_t n = 0; n < 100; ++n) CHECK(uniform_below(3, 9, n, 1) == 0);
}

TEST_CASE("unit.random.to_unit_interval_ends") {
    CHECK(to_unit_interval(0) == 0.0);
    CHECK(to_unit_interval(~std::uint64_t{0}) == 1 - std::ldexp(1.0, -53));
}
