// SPDX-License-Identifier: Apache-2.0
#include "core/packet/int_slots.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace sluice;

TEST_CASE("unit.int_slots.no_regular_step_misses_those_that_have_one") {
    constexpr std::uint32_t kRows = 4096;
    for (std::uint32_t shift = 0; shift <= 6; ++shift) {
        for (const std::uint32_t every : {1U, 2U, 3U, 4U, 8U, 16U}) {
            std::vector<std::uint32_t> met(every);
            for (std::uint32_t row = 0; row < kRows; ++row) {
                const std::uint32_t place = step::place_of_slot(row, shift);
                REQUIRE(place < 1U << shift);
                ++met[((row << shift) + place) % every];
            }
            for (const std::uint32_t count : met) {
                CHECK(count > kRows / every / 2);
            }
        }
    }
}
