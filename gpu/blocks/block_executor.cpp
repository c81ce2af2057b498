// SPDX-License-Identifier: Apache-2.0
#include "gpu/blocks/block_executor.h"

#include <algorithm>

#include "core/error.h"
#include "gpu/blocks/run_gang.h"

namespace sluice::gpu {

namespace {

/// A thread waits so often before it lets others go first.
constexpr int kSpins = 200;

}  // namespace

Tick Meeting::least(std::uint32_t thread, Tick at) {
    const std::uint32_t round = round_.load(std::memory_order_relaxed);
    const std::uint32_t side = round & 1U;
    told_[thread].at[side] = at;
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
        arrived_.store(0, std::memory_order_relaxed);
        round_.store(round + 1, std::memory_order_release);
    } else {
        for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins) {
            if (failed()) {
                throw InternalError("another thread of the gang has failed");
            }
            if (spins >= kSpins) {
                std::this_thread::yield();
            }
        }
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
        to.events += from.events;
        to.drops += from.drops;
        to.retransmitted += from.retransmitted;
        to.checksum += from.checksum;
        to.active_senders += from.active_senders;
        to.memory.ring_bytes += from.memory.ring_bytes;
        to.memory.other_bytes += from.memory.other_bytes;
    }
    return threads.front().outcome;
}

Outcome run_blocks(Lane& lane, const Mapping& mapping, std::uint64_t windows) {
    return run_gang<step::ScenarioPolicies>(lane, mapping, windows);
}

}  // namespace sluice::gpu
