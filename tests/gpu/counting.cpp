// SPDX-License-Identifier: Apache-2.0
/// Sums that several threads add to.
#include "gpu/program/counting.h"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "core/arena.h"
#include "core/random.h"

using namespace sluice;

TEST_CASE("unit.counting.ports_at_once_count_what_one_after_the_other_counts") {
    step::Buffer one;
    one.reserve = 4096;
    step::Buffer many = one;
    step::Ingress a{};
    step::Ingress b{};
    std::vector<std::uint32_t> there;
    for (std::uint64_t i = 0; i < 4000; ++i) {
        const bool out = !there.empty() && uniform_below(1, 0, i, 2) == 0;
        const std::uint32_t bytes = out ? there.back() : 60 + uniform_below(1, 1, i, 2000);
        const std::uint32_t queue = 1 + bytes % 7;
        if (out) {
            there.pop_back();
            step::OneCounts::release(one, a, queue, bytes, true);
            gpu::ManyCount::release(many, b, queue, bytes, true);
        } else {
            there.push_back(bytes);
            step::OneCounts::charge(one, a, queue, bytes, true);
            gpu::ManyCount::charge(many, b, queue, bytes, true);
        }
        REQUIRE(one.shared_used == many.shared_used);
        REQUIRE(a.total_bytes == b.total_bytes);
        REQUIRE(a.bytes[queue] == b.bytes[queue]);
    }
}

TEST_CASE("unit.counting.threads_lose_nothing") {
    step::Buffer buffer;
    buffer.reserve = 4096;
    step::Ingress ingress{};
    const auto work = [&](std::uint32_t bytes) {
        for (int i = 0; i < 20'000; ++i) {
            gpu::ManyCount::charge(buffer, ingress, 3, bytes, true);
            if (i % 4 != 0) gpu::ManyCount::release(buffer, ingress, 3, bytes, true);
        }
    };
    std::thread other(work, 7);
    work(11);
    other.join();
    const std::uint32_t left = 5'000 * (7 + 11);
    CHECK(ingress.bytes[3] == left);
    CHECK(ingress.total_bytes == left);
    CHECK(buffer.shared_used == left - 4096);
}

TEST_CASE("unit.arena.threads_get_blocks_of_their_own_until_there_are_none") {
    alignas(64) static unsigned char memory[64 * 1000];
    Arena arena{memory, sizeof memory, 0};
    const auto work = [&](unsigned char mark, int& got) {
        while (auto* const block = static_cast<unsigned char*>(take(arena, 40))) {
            block[0] = mark;
            ++got;
        }
    };
    int mine = 0;
    int others = 0;
    std::thread other(work, 1, std::ref(others));
    work(2, mine);
    other.join();
    CHECK(mine + others == 1000);
    int marks = 0;
    for (std::size_t i = 0; i < sizeof memory; i += 64) marks += memory[i] == 2 ? 1 : 0;
    CHECK(marks == mine);
    CHECK(take(arena, 1) == nullptr);
}
