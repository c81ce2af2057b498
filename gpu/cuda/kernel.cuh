// SPDX-License-Identifier: Apache-2.0
/// The kernel: launched once, its gangs take lanes out of a queue that the host fills until the host closes it.
#pragma once

#include "gpu/cuda/device_gang.cuh"
#include "gpu/lane/work_queue.h"
#include "gpu/program/window.h"

namespace sluice::gpu {

/// What the kernel is launched with. Blocks: those of all gangs.
struct Launch {
    WorkQueue* queue = nullptr;
    step::World* worlds = nullptr;    ///< one a thread
    GangMeeting* meetings = nullptr;  ///< one a gang
    std::uint32_t* taken = nullptr;   ///< one a gang: the item that it works on
    std::uint32_t blocks_of_gang = 1;
};

/// Executes a lane by the calling gang.
__device__ inline Outcome run_lane(Lane& lane, step::World& world, DeviceGang& gang,
                                   std::uint64_t windows) {
    world = step::World{};
    static_cast<step::Columns&>(world) = lane.world;
    world.memory.arena = &lane.arena;
    Program<DeviceGang> program(lane, world, gang);
    const Outcome outcome = program.run(windows);
    step::add_counts(lane.world, world, [](auto& word, auto more) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&word),
                  static_cast<unsigned long long>(more));
    });
    return outcome;
}

/// The item that the gang takes next, looked for from `from` on; WorkQueue::count when the queue is closed. One
/// thread.
__device__ inline std::uint32_t take_work(WorkQueue& queue, std::uint32_t from) {
    for (;;) {
        const bool closed = *static_cast<volatile std::uint32_t*>(&queue.closed) != 0;
        for (std::uint32_t k = 0; k < queue.count; ++k) {
            const std::uint32_t i = (from + k) % queue.count;
            std::uint32_t& state = queue.item[i].state;
            // Looking is cheaper than trying, over the bus to the host's memory.
            if (*static_cast<volatile std::uint32_t*>(&state) == kPlaced &&
                atomicCAS_system(&state, kPlaced, kTaken) == kPlaced) {
                __threadfence_system();
                return i;
            }
        }
        if (closed) {
            return queue.count;
        }
        __nanosleep(10'000);
    }
}

/// Threads of a block, and blocks of a processor for which registers are shared out.
inline constexpr int kMostThreads = 256;
inline constexpr int kBlocksAtLeast = 2;

/// Each file that includes this has its own.
static __global__ void __launch_bounds__(kMostThreads, kBlocksAtLeast) run_lanes(Launch launch) {
    const std::uint32_t number = blockIdx.x / launch.blocks_of_gang;
    const std::uint32_t block = blockIdx.x % launch.blocks_of_gang;
    DeviceGang gang(&launch.meetings[number], launch.blocks_of_gang, block);
    step::World& world = launch.worlds[blockIdx.x * blockDim.x + threadIdx.x];
    WorkQueue& queue = *launch.queue;
    for (;;) {
        if (gang.first()) {
            launch.taken[number] = take_work(queue, number);
        }
        gang.any(false);
        const std::uint32_t i = *static_cast<volatile std::uint32_t*>(&launch.taken[number]);
        if (i >= queue.count) {
            return;
        }
        WorkItem& item = queue.item[i];
        const Outcome outcome = run_lane(*item.lane, world, gang, item.windows);
        gang.any(false);
        if (gang.first()) {
            item.outcome = outcome;
            __threadfence_system();
            atomicExch_system(&item.state, static_cast<std::uint32_t>(kDone));
        }
    }
}

}  // namespace sluice::gpu
