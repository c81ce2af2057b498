// SPDX-License-Identifier: Apache-2.0
/// Threads at a barrier: nobody goes on before all have come, awake or asleep, and nobody waits for one that has
/// failed. Run under a thread sanitizer, too.
#include "core/clocks/barrier.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

using namespace sluice;

namespace {

constexpr std::uint32_t kMembers = 3;
constexpr int kPatience[] = {0, 100, 1'000'000};  // looks: asleep at once, now and then, never

template <class Member>
void run_members(Member&& member) {
    std::vector<std::thread> threads;
    for (std::uint32_t k = 0; k < kMembers; ++k) {
        threads.emplace_back([&member, k] { member(k); });
    }
    std::for_each(threads.begin(), threads.end(), [](std::thread& thread) { thread.join(); });
}

}  // namespace

TEST_CASE("at a barrier each sees what all others have done before it") {
    constexpr std::uint32_t kRounds = 500;
    for (const int looks : kPatience) {
        step::Barrier barrier(kMembers, looks);
        std::vector<std::uint32_t> done(kMembers, 0);
        std::vector<std::uint32_t> wrong(kMembers, 0);
        run_members([&](std::uint32_t k) {
            for (std::uint32_t round = 1; round <= kRounds; ++round) {
                done[k] = round;
                wrong[k] += barrier.arrive_and_wait() ? 0 : 1;
                wrong[k] += static_cast<std::uint32_t>(std::count_if(
                    done.begin(), done.end(), [&](std::uint32_t at) { return at != round; }));
                wrong[k] += barrier.arrive_and_wait() ? 0 : 1;
            }
        });
        CHECK(wrong == std::vector<std::uint32_t>(kMembers, 0));
    }
}

TEST_CASE("nobody waits for a member that has failed, now or later") {
    for (const int looks : kPatience) {
        step::Barrier barrier(kMembers, looks);
        std::vector<std::uint32_t> met(kMembers, 0);
        run_members([&](std::uint32_t k) {
            met[k] += barrier.arrive_and_wait() ? 1 : 0;
            if (k == 0) {
                barrier.fail();
                return;
            }
            met[k] += barrier.arrive_and_wait() ? 1 : 0;
            met[k] += barrier.arrive_and_wait() ? 1 : 0;
        });
        CHECK(met == std::vector<std::uint32_t>(kMembers, 1));
    }
}
