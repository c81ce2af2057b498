// SPDX-License-Identifier: Apache-2.0
#include "gpu/blocks/block_executor.h"

#include <algorithm>
#include <thread>

#include "core/error.h"
#include "gpu/program/window.h"

namespace sluice::gpu {

namespace {

/// A thread waits so often before it lets others go first.
constexpr int kSpins = 200;

/// A thread's own copy of the lane's world: what it counts begins at nothing.
step::World own_world(const Lane& lane) {
    step::World world;
    static_cast<step::Columns&>(world) = lane.world;
    world.memory.arena = lane.world.memory.arena;
    return world;
}

void add_counters(step::World& to, const step::World& from) {
    to.events += from.events;
    to.drops += from.drops;
    to.retransmitted += from.retransmitted;
    to.checksum += from.checksum;
    to.active_senders += from.active_senders;
    to.memory.ring_bytes += from.memory.ring_bytes;
    to.memory.other_bytes += from.memory.other_bytes;
    to.misrouted = to.misrouted || from.misrouted;
}

struct ThreadResult {
    step::World world;
    Outcome outcome = Outcome::running;
    std::exception_ptr error;
};

void run_thread(Lane& lane, Meeting& meeting, std::uint32_t thread, const Mapping& mapping,
                std::uint64_t windows, ThreadResult& result) {
    try {
        BlockGang gang(meeting, thread, mapping);
        Program<BlockGang> program(lane, result.world, gang);
        result.outcome = program.run(windows);
    } catch (...) {
        result.error = std::current_exception();
        meeting.leave_in_error();
    }
}

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

Outcome run_blocks(Lane& lane, const Mapping& mapping, std::uint64_t windows) {
    Meeting meeting(mapping.threads);
    std::vector<ThreadResult> results(mapping.threads);
    for (ThreadResult& result : results) {
        result.world = own_world(lane);
    }
    std::vector<std::thread> threads;
    for (std::uint32_t t = 1; t < mapping.threads; ++t) {
        threads.emplace_back(run_thread, std::ref(lane), std::ref(meeting), t, std::cref(mapping),
                             windows, std::ref(results[t]));
    }
    run_thread(lane, meeting, 0, mapping, windows, results[0]);
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const ThreadResult& result : results) {
        if (result.error != nullptr) {
            std::rethrow_exception(result.error);
        }
        add_counters(lane.world, result.world);
    }
    return results[0].outcome;
}

}  // namespace sluice::gpu
