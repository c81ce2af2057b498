// SPDX-License-Identifier: Apache-2.0
/// Memory of a device, given out on the host.
#include "gpu/lane/block_pool.h"

#include <cstdint>
#include <map>

#include <doctest/doctest.h>

#include "core/random.h"

using namespace sluice;

TEST_CASE("unit.block_pool.blocks_do_not_overlap_and_all_comes_back") {
    constexpr std::size_t kBytes = 64 * 1024;
    alignas(64) static unsigned char memory[kBytes];
    gpu::BlockPool pool(memory, kBytes);
    std::map<unsigned char*, std::size_t> held;
    int refused = 0;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        if (!held.empty() && uniform_below(1, 0, i, 2) == 0) {
            auto one = held.begin();
            std::advance(one, uniform_below(1, 1, i, static_cast<std::uint32_t>(held.size())));
            pool.free(one->first);
            held.erase(one);
            continue;
        }
        const std::size_t bytes = 1 + uniform_below(1, 2, i, 6000);
        auto* const block = static_cast<unsigned char*>(pool.allocate(bytes));
        if (block == nullptr) {
            ++refused;
            continue;
        }
        REQUIRE(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
        REQUIRE(block >= memory);
        REQUIRE(block + bytes <= memory + kBytes);
        const auto after = held.lower_bound(block);
        REQUIRE((after == held.end() || block + bytes <= after->first));
        if (after != held.begin()) {
            const auto before = std::prev(after);
            REQUIRE(before->first + before->second <= block);
        }
        held.emplace(block, bytes);
    }
    CHECK(refused > 0);
    for (const auto& [block, bytes] : held) pool.free(block);
    CHECK(pool.room() == pool.size());
    CHECK(pool.allocate(kBytes) == memory);
    CHECK(pool.room() == 0);
    CHECK(pool.allocate(1) == nullptr);
}

TEST_CASE("unit.block_pool.blocks_share_no_grain") {
    constexpr std::size_t kGrain = 4096;
    alignas(kGrain) static unsigned char memory[8 * kGrain + 100];
    gpu::BlockPool pool(memory, sizeof memory, kGrain);
    CHECK(pool.size() == 8 * kGrain);
    for (int block = 0; block < 4; ++block) {
        CHECK(pool.allocate(kGrain + 1) == memory + 2 * block * kGrain);
    }
    CHECK(pool.allocate(1) == nullptr);
    pool.free(memory + 2 * kGrain);
    CHECK(pool.allocate(2 * kGrain) == memory + 2 * kGrain);
}
