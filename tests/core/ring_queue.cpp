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
