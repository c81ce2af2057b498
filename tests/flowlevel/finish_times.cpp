// SPDX-License-Identifier: Apache-2.0
/// The least of many instants that change all the time, beside a plain search.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/random.h"
#include "flowlevel/finish_times.h"

using namespace sluice;
using namespace sluice::flowlevel;

TEST_CASE("unit.flowlevel.finish_times.least_and_due_equal_a_search") {
    // 5000 slots are three levels of groups; few different instants, so that many coincide.
    FinishTimes times;
    std::vector<Tick> plain;
    CHECK(times.next() == kNever);
    std::uint64_t draws = 0;
    const auto below = [&](std::uint32_t bound) { return uniform_below(1, 1, draws++, bound); };
    bool same = true;
    for (int round = 0; round < 2000; ++round) {
        const std::uint32_t slots = round < 1000 ? 70 : 5000;
        for (std::uint32_t changes = below(20); changes > 0; --changes) {
            const std::uint32_t slot = below(slots);
            const Tick at = below(4) == 0 ? kNever : Tick{1000} + round + below(300);
            plain.resize(std::max(plain.size(), slot + std::size_t{1}), kNever);
            plain[slot] = at;
            times.set(slot, at);
        }
        const Tick least = plain.empty() ? kNever : *std::min_element(plain.begin(), plain.end());
        same &= times.next() == least;
        if (least != kNever && below(2) == 0) {
            std::vector<std::uint32_t> due;
            times.due(least, due);
            std::vector<std::uint32_t> expected;
            for (std::uint32_t slot = 0; slot < plain.size(); ++slot) {
                if (plain[slot] == least) {
                    expected.push_back(slot);
                    plain[slot] = kNever;
                }
            }
            same &= due == expected;
            for (const std::uint32_t slot : due) {
                times.set(slot, kNever);
            }
        }
    }
    CHECK(same);
}
