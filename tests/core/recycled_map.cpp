// SPDX-License-Identifier: Apache-2.0
#include "core/recycled_map.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>

#include "core/random.h"

using namespace sluice;

TEST_CASE("unit.recycled_map.does_what_a_map_does") {
    RecycledMap<std::uint64_t, std::uint64_t> recycled;
    std::map<std::uint64_t, std::uint64_t> map;
    for (std::uint64_t step = 0; step < 20'000; ++step) {
        const std::uint64_t draw = random_bits(3, 4, step);
        const std::uint64_t key = draw % 300;
        if (map.count(key) == 0) {
            CHECK(recycled.find(key) == nullptr);
            CHECK(recycled.take(key) == std::nullopt);
            recycled.erase(key);
            recycled.add(key, draw);
            map[key] = draw;
        } else if (draw / 300 % 3 == 0) {
            recycled.erase(key);
            map.erase(key);
        } else if (draw / 300 % 3 == 1) {
            REQUIRE(recycled.take(key) == map.at(key));
            map.erase(key);
        } else {
            REQUIRE(*recycled.find(key) == map.at(key));
            *recycled.find(key) = step;
            map[key] = step;
        }
    }
    std::map<std::uint64_t, std::uint64_t> left(recycled.begin(), recycled.end());
    CHECK(left == map);
}

TEST_CASE("unit.recycled_map.others_stay_where_they_are") {
    RecycledMap<int, int> map;
    map.add(0, 0);
    const int* const first = map.find(0);
    for (int i = 1; i < 1'000; ++i) map.add(i, i);
    for (int i = 1; i < 1'000; ++i) map.erase(i);
    for (int i = 1; i < 1'000; ++i) map.add(-i, i);
    CHECK(map.find(0) == first);
    CHECK(*map.find(-999) == 999);
}
