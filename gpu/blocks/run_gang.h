// SPDX-License-Identifier: Apache-2.0
/// A gang of threads runs the program on a lane: block_executor.h with other policies than a scenario's.
#pragma once

#include <exception>
#include <thread>
#include <vector>

#include "gpu/blocks/block_executor.h"
#include "gpu/program/window.h"

namespace sluice::gpu {

/// What a thread of a gang takes with it, and brings back.
struct GangThread {
    step::World world;
    Outcome outcome = Outcome::running;
    std::exception_ptr error;
};

/// Threads that have counted nothing so far.
std::vector<GangThread> gang_threads(const Lane& lane, std::uint32_t count);
/// What they have counted is the lane's. Throws what one has thrown.
Outcome add_up(Lane& lane, const std::vector<GangThread>& threads);

template <class Policies>
Outcome run_gang(Lane& lane, const Mapping& mapping, std::uint64_t windows) {
    ThreadMeeting meeting(mapping.threads);
    std::vector<GangThread> gang = gang_threads(lane, mapping.threads);
    const auto work = [&](std::uint32_t number) {
        GangThread& self = gang[number];
        try {
            BlockGang share(meeting, number, mapping);
            Program<BlockGang, Policies> program(lane, self.world, share);
            self.outcome = program.run(windows);
        } catch (const ThreadMeeting::Failed&) {
            // The one that failed says why.
        } catch (...) {
            self.error = std::current_exception();
            meeting.fail();
        }
    };
    std::vector<std::thread> threads;
    for (std::uint32_t t = 1; t < mapping.threads; ++t) {
        threads.emplace_back(work, t);
    }
    work(0);
    for (std::thread& thread : threads) {
        thread.join();
    }
    return add_up(lane, gang);
}

}  // namespace sluice::gpu
