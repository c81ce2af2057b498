// SPDX-License-Identifier: Apache-2.0
#include "core/episodes/start_patterns.h"

#include <doctest/doctest.h>

#include "tests/support/hybrid_support.h"

namespace sluice::test {

using hybrid::StartPatterns;

TEST_CASE("unit.hybrid.start_patterns.a_few_tell_only_of_their_like") {
    StartPatterns patterns;
    patterns.add({0, 10, 20}, 1000);
    patterns.add({5, 15, 25}, 1000);  // only when it begins differs
    CHECK(patterns.like({0, 10, 20}, {1, 1}).empty());
    CHECK(patterns.like({0, 10, 20}, {2, 1}).size() == 2);
    CHECK(patterns.like({100, 111, 121}, {2, 1}).size() == 2);
    CHECK(patterns.like({0, 10, 40}, {2, 1}).empty());
}

TEST_CASE("unit.hybrid.start_patterns.what_is_scattered_is_known_anywhere_in_it") {
    StartPatterns patterns;
    Dice dice(1);
    const auto scattered = [&] {
        std::vector<double> starts;
        for (int flow = 0; flow < 20; ++flow) {
            starts.push_back(dice.below(200));
        }
        return starts;
    };
    std::vector<std::uint32_t> seen;
    for (int i = 0; i < 50; ++i) {
        patterns.add(scattered(), 1000);
        seen.push_back(1);
    }
    int known = 0;
    for (int i = 0; i < 100; ++i) {
        known += patterns.like(scattered(), seen).empty() ? 0 : 1;
    }
    CHECK(known > 75);
    std::vector<double> far = scattered();
    far.front() += 2000;
    CHECK(patterns.like(far, seen).empty());
}

TEST_CASE("unit.hybrid.start_patterns.what_wanders_off_is_new_every_time") {
    StartPatterns patterns;
    std::vector<std::uint32_t> seen;
    double off = 3;
    for (int i = 0; i < 40; ++i, off *= 1.2) {
        CHECK(patterns.like({0, off, 3 * off}, seen).empty());
        patterns.add({0, off, 3 * off}, 1000);
        seen.push_back(1);
    }
}

}  // namespace sluice::test
