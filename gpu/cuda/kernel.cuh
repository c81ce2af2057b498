// SPDX-License-Identifier: Apache-2.0
/// The kernel: launched once, it takes lanes out of a queue that the host fills until the host closes it.
#pragma once

#include "gpu/cuda/device_gang.cuh"
#include "gpu/program/window.h"

namespace sluice::gpu {

/// A lane that is to be executed, in memory that host and device both see. Whoever writes `state` says by it that
/// the rest is as it is to be.
struct Order {
    Lane* lane = nullptr;
    std::uint64_t windows = 0;
    Outcome outcome = Outcome::running;
    std::uint32_t state = 0;  ///< of OrderState
};
enum OrderState : std::uint32_t { kNoOrder, kPlaced, kTaken, kDone };

/// In memory that host and device both see.
struct Orders {
    std::uint32_t count = 0;   ///< slots of `order`
    std::uint32_t closed = 0;  ///< no more will come
    Order* order = nullptr;
};

/// What the kernel is launched with. Threads a block: `threads`; blocks: gangs * blocks of each.
struct Launch {
    Orders* orders = nullptr;
    step::World* worlds = nullptr;     ///< one a thread
    GangMeeting* meetings = nullptr;   ///< one a gang
    std::uint32_t* chosen = nullptr;   ///< one a gang: the order that it has taken
    std::uint32_t blocks_of_gang = 1;
};

/// A thread's counters into the lane's.
__device__ inline void add_counters(step::World& to, const step::World& from) {
    const auto add = [](auto& word, auto value) {
        if (value != 0) {
            atomicAdd(reinterpret_cast<unsigned long long*>(&word),
                      static_cast<unsigned long long>(value));
        }
    };
    add(to.events, from.events);
    add(to.drops, from.drops);
    add(to.retransmitted, from.retransmitted);
    add(to.checksum, from.checksum);
    add(to.active_senders, from.active_senders);
}

/// Executes a lane by the calling gang.
__device__ inline Outcome run_lane(Lane& lane, step::World& world, DeviceGang& gang,
                                   std::uint64_t windows) {
    world = step::World{};
    static_cast<step::Columns&>(world) = lane.world;
    world.memory.arena = &lane.arena;
    Program<DeviceGang> program(lane, world, gang);
    const Outcome outcome = program.run(windows);
    add_counters(lane.world, world);
    return outcome;
}

/// The order that the gang takes next; Orders::count when the queue is closed. One thread.
__device__ inline std::uint32_t take_order(Orders& orders, std::uint32_t from) {
    for (;;) {
        const bool closed = *static_cast<volatile std::uint32_t*>(&orders.closed) != 0;
        for (std::uint32_t k = 0; k < orders.count; ++k) {
            const std::uint32_t i = (from + k) % orders.count;
            if (atomicCAS_system(&orders.order[i].state, kPlaced, kTaken) == kPlaced) {
                __threadfence_system();
                return i;
            }
        }
        if (closed) {
            return orders.count;
        }
        __nanosleep(1000);
    }
}

/// Threads of a block, and blocks of a processor for which registers are shared out.
inline constexpr int kMostThreads = 256;
inline constexpr int kBlocksAtLeast = 2;

__global__ void __launch_bounds__(kMostThreads, kBlocksAtLeast) run_orders(Launch launch) {
    const std::uint32_t number = blockIdx.x / launch.blocks_of_gang;
    const std::uint32_t block = blockIdx.x % launch.blocks_of_gang;
    DeviceGang gang(&launch.meetings[number], launch.blocks_of_gang, block);
    step::World& world = launch.worlds[blockIdx.x * blockDim.x + threadIdx.x];
    Orders& orders = *launch.orders;
    for (;;) {
        if (gang.first()) {
            launch.chosen[number] = take_order(orders, number);
        }
        gang.any(false);
        const std::uint32_t i =
            *static_cast<volatile std::uint32_t*>(&launch.chosen[number]);
        if (i >= orders.count) {
            return;
        }
        Order& order = orders.order[i];
        const Outcome outcome = run_lane(*order.lane, world, gang, order.windows);
        gang.any(false);
        if (gang.first()) {
            order.outcome = outcome;
            __threadfence_system();
            atomicExch_system(&order.state, static_cast<std::uint32_t>(kDone));
        }
    }
}

}  // namespace sluice::gpu
