// SPDX-License-Identifier: Apache-2.0
/// The kernel: launched once, its gangs take lanes out of a queue that the host fills until the host closes it.
#pragma once

#include <new>

#include "gpu/cuda/device_gang.cuh"
#include "gpu/lane/work_queue.h"
#include "gpu/program/window.h"

namespace sluice::gpu {

/// What a gang works on.
struct Taken {
    std::uint32_t item = 0;  ///< WorkQueue::count: nothing any more
    std::uint32_t placed = 0;
    Lane* lane = nullptr;
    std::uint64_t windows = 0;
};

/// What the kernel is launched with. Blocks: those of all gangs.
struct Launch {
    WorkQueue* queue = nullptr;
    GangMeeting* meetings = nullptr;  ///< one a gang
    Taken* taken = nullptr;           ///< one a gang
    std::uint32_t blocks_of_gang = 1;
};

/// Executes a lane by the calling gang.
__device__ inline Outcome run_lane(Lane& lane, DeviceGang& gang, std::uint64_t windows) {
    // Pointers of columns are read at every turn: a copy of each thread's own in memory would crowd the caches.
    __shared__ alignas(16) unsigned char world_of_block[sizeof(step::World)];
    auto& world = *reinterpret_cast<step::World*>(world_of_block);
    if (threadIdx.x == 0) {
        new (&world) step::World;
        static_cast<step::Columns&>(world) = lane.world;
        world.memory.arena = &lane.arena;
    }
    step::Counts& counts = step::counts_of(world);
    counts = step::Counts{};
    __syncthreads();
    Program<DeviceGang> program(lane, world, gang);
    const Outcome outcome = program.run(windows);
    step::add_counts(lane.world, counts, [](auto& word, auto more) {
        atomicAdd(reinterpret_cast<unsigned long long*>(&word),
                  static_cast<unsigned long long>(more));
    });
    return outcome;
}

template <class T>
__device__ inline T seen(const T& word) {
    return *static_cast<const volatile T*>(&word);
}

/// Takes an order, looked for from item `from` on, and has its lane obey it. One thread.
__device__ inline Taken take_work(WorkQueue& queue, std::uint32_t from) {
    const std::uint32_t count = queue.count;
    WorkItem* const items = queue.item;
    std::uint32_t* const claimed = queue.claimed;
    for (;;) {
        const bool closed = seen(queue.closed) != 0;
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::uint32_t i = (from + k) % count;
            WorkItem& item = items[i];
            const std::uint32_t placed = seen(item.placed);
            // Looking is cheaper than trying.
            if (seen(claimed[i]) != placed &&
                atomicCAS(&claimed[i], placed - 1, placed) == placed - 1) {
                __threadfence_system();
                Lane* const lane = seen(item.lane);
                const LaneOrder order{seen(item.order.windows),
                                      seen(item.order.until),
                                      {seen(item.order.fresh.base), seen(item.order.fresh.size),
                                       seen(item.order.fresh.used)}};
                obey(*lane, order);
                return Taken{i, placed, lane, order.windows};
            }
        }
        if (closed) {
            return Taken{count, 0, nullptr, 0};
        }
        __nanosleep(10'000);
    }
}

/// Blocks of a processor for which registers are shared out.
inline constexpr int kMostThreads = static_cast<int>(step::kMostThreadsOfBlock);
inline constexpr int kBlocksAtLeast = 2;

/// Each file that includes this has its own.
static __global__ void __launch_bounds__(kMostThreads, kBlocksAtLeast) run_lanes(Launch launch) {
    const std::uint32_t number = blockIdx.x / launch.blocks_of_gang;
    const std::uint32_t block = blockIdx.x % launch.blocks_of_gang;
    __shared__ alignas(DeviceGang) unsigned char gang_of_block[sizeof(DeviceGang)];
    auto& gang = *reinterpret_cast<DeviceGang*>(gang_of_block);
    if (threadIdx.x == 0) {
        new (&gang) DeviceGang(&launch.meetings[number], launch.blocks_of_gang, block);
    }
    __syncthreads();
    WorkQueue& queue = *launch.queue;
    for (;;) {
        if (gang.first()) {
            launch.taken[number] = take_work(queue, number);
        }
        gang.any(false);
        const Taken& taken = launch.taken[number];
        const std::uint32_t i = seen(taken.item);
        if (i >= queue.count) {
            return;
        }
        Lane& lane = *seen(taken.lane);
        const Outcome outcome = run_lane(lane, gang, seen(taken.windows));
        gang.any(false);
        if (gang.first()) {
            WorkItem& item = queue.item[i];
            __threadfence();
            item.report = report_of(lane, outcome);
            __threadfence_system();
            *static_cast<volatile std::uint32_t*>(&item.done) = seen(taken.placed);
        }
    }
}

}  // namespace sluice::gpu
