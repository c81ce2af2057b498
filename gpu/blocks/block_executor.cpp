// SPDX-License-Identifier: Apache-2.0
#include "gpu/blocks/block_executor.h"

#include <algorithm>

#include "gpu/blocks/run_gang.h"

namespace sluice::gpu {

namespace {

/// Looks at a barrier before a thread goes to sleep: systems take microseconds.
constexpr int kLooks = 20'000;

}  // namespace

ThreadMeeting::ThreadMeeting(std::uint32_t threads) : barrier_(threads, kLooks), told_(threads) {}

Tick ThreadMeeting::least(std::uint32_t thread, std::uint32_t round, Tick at) {
    const std::uint32_t side = round & 1U;
    told_[thread].at[side] = at;
    if (!barrier_.arrive_and_wait()) {
        throw Failed{};
    }
    Tick least = kNever;
    for (const Told& told : told_) {
        least = std::min(least, told.at[side]);
    }
    return least;
}

std::vector<GangThread> gang_threads(const Lane& lane, std::uint32_t count) {
    std::vector<GangThread> threads(count);
    for (GangThread& thread : threads) {
        static_cast<step::Columns&>(thread.world) = lane.world;
        thread.world.memory.arena = lane.world.memory.arena;
    }
    return threads;
}

Outcome add_up(Lane& lane, const std::vector<GangThread>& threads) {
    step::World& to = lane.world;
    for (const GangThread& thread : threads) {
        if (thread.error != nullptr) {
            std::rethrow_exception(thread.error);
        }
        const step::World& from = thread.world;
        step::add_counts(to, from, [](auto& word, auto more) { word += more; });
        to.memory.ring_bytes += from.memory.ring_bytes;
        to.memory.other_bytes += from.memory.other_bytes;
    }
    return threads.front().outcome;
}

Outcome run_blocks(Lane& lane, const Mapping& mapping, std::uint64_t windows) {
    return run_gang<step::ScenarioPolicies>(lane, mapping, windows);
}

}  // namespace sluice::gpu
