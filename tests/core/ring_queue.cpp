// SPDX-License-Identifier: Apache-2.0
#include "core/ring_queue.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <memory>

#include "core/random.h"

using namespace sluice;

TEST_CASE("unit.ring_queue.does_what_a_deque_does") {
    RingQueue<std::uint64_t> ring;
    std::deque<std::uint64_t> deque;
    for (std::uint64_t step = 0; step < 20'000; ++step) {
        const std::uint64_t draw = random_bits(1, 2, step);
        // Longer and shorter by turns, now and then empty.
        if (draw % 100 < (step / 1'000 % 2 == 0 ? 55U : 45U)) {
            ring.push_back(draw);
            deque.push_back(draw);
        } else if (!deque.empty()) {
            ring.pop_front();
            deque.pop_front();
        }
        REQUIRE(ring.size() == deque.size());
        REQUIRE(ring.empty() == deque.empty());
        if (deque.empty()) continue;
        REQUIRE(ring.front() == deque.front());
        const std::size_t at = draw / 100 % deque.size();
        REQUIRE(ring[at] == deque[at]);
    }
}

TEST_CASE("unit.ring_queue.moves_what_cannot_be_copied") {
    RingQueue<std::unique_ptr<int>> ring;
    for (int i = 0; i < 9; ++i) ring.push_back(std::make_unique<int>(i));
    for (int i = 0; i < 9; ++i) {
        CHECK(*ring.front() == i);
        ring.pop_front();
    }
    CHECK(ring.empty());
}

TEST_CASE("unit.ring_queue.finds_where_an_order_changes") {
    RingQueue<int> ring;
    CHECK(ring.partition_point([](int) { return true; }) == 0);
    for (int i = 0; i < 3; ++i) ring.push_back(0);
    for (int i = 0; i < 3; ++i) ring.pop_front();  // the entries below go round the end
    for (int i = 0; i < 4; ++i) ring.push_back(10 * i);
    for (int limit = -1; limit < 33; ++limit) {
        const std::size_t expected = limit < 0 ? 0 : static_cast<std::size_t>(limit + 9) / 10;
        CHECK(ring.partition_point([&](int one) { return one < limit; }) == expected);
    }
}
