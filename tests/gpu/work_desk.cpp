// SPDX-License-Identifier: Apache-2.0
/// The queue between host and kernel, with threads in the kernel's place: items come and go, and when the kernel
/// ends before its time nobody waits for it.
#include "gpu/lane/work_desk.h"

#include <atomic>
#include <chrono>

#include <doctest/doctest.h>

#include "core/error.h"
#include "gpu/lane/device_error.h"

using namespace sluice;

namespace {

/// A gang that counts the windows that it is asked for, until it is told to end or dies.
class Kernel {
  public:
    explicit Kernel(std::uint32_t items) : items_(items), claimed_(items) {
        queue.count = items;
        queue.item = items_.data();
        queue.claimed = claimed_.data();
    }
    ~Kernel() {
        __atomic_store_n(&queue.closed, 1U, __ATOMIC_SEQ_CST);
        join();
    }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    /// Ends after so many items, though nobody has said so.
    void start(int gangs, int mortal_after = -1) {
        left_ = mortal_after;
        for (int g = 0; g < gangs; ++g) {
            threads_.emplace_back([this] { work(); });
        }
    }
    std::string death() const { return dead_ ? "the kernel has ended" : ""; }

    gpu::WorkQueue queue;

  private:
    void work() {
        while (!dead_ && __atomic_load_n(&queue.closed, __ATOMIC_SEQ_CST) == 0) {
            for (std::size_t i = 0; i < items_.size(); ++i) {
                gpu::WorkItem& item = items_[i];
                const std::uint32_t placed = __atomic_load_n(&item.placed, __ATOMIC_ACQUIRE);
                std::uint32_t before = placed - 1;
                if (!__atomic_compare_exchange_n(&claimed_[i], &before, placed, false,
                                                 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
                    continue;
                }
                if (left_ == 0) {
                    dead_ = true;
                    return;
                }
                --left_;
                item.lane->windows += item.order.windows;
                item.report = gpu::report_of(*item.lane, gpu::Outcome::paused);
                __atomic_store_n(&item.done, placed, __ATOMIC_RELEASE);
            }
            std::this_thread::yield();
        }
    }
    void join() {
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

    std::vector<gpu::WorkItem> items_;
    std::vector<std::uint32_t> claimed_;
    std::vector<std::thread> threads_;
    std::atomic<int> left_{-1};
    std::atomic<bool> dead_{false};
};

}  // namespace

TEST_CASE("unit.work_desk.more_lanes_than_items") {
    Kernel kernel(3);
    kernel.start(2);
    gpu::WorkDesk desk(kernel.queue, [&] { return kernel.death(); });
    std::vector<gpu::Lane> lanes(10);
    std::vector<std::thread> threads;
    threads.reserve(lanes.size());
    for (gpu::Lane& lane : lanes) {
        threads.emplace_back([&] {
            for (std::uint64_t windows = 1; windows <= 20; ++windows) {
                CHECK(desk.run(lane, {windows, kNever, {}}).outcome == gpu::Outcome::paused);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const gpu::Lane& lane : lanes) {
        CHECK(lane.windows == 210);
    }
}

TEST_CASE("unit.work_desk.nobody_waits_for_a_dead_kernel") {
    Kernel kernel(2);
    kernel.start(1, 5);
    gpu::WorkDesk desk(kernel.queue, [&] { return kernel.death(); });
    std::vector<gpu::Lane> lanes(8);
    std::atomic<int> told{0};
    std::vector<std::thread> threads;
    threads.reserve(lanes.size());
    for (gpu::Lane& lane : lanes) {
        threads.emplace_back([&] {
            try {
                for (;;) {
                    desk.run(lane, {1, kNever, {}});
                }
            } catch (const DeviceError& error) {
                CHECK(error.what() == std::string("the kernel has ended"));
                ++told;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(told == 8);
    CHECK_THROWS_AS(desk.run(lanes[0], {1, kNever, {}}), DeviceError);
}

TEST_CASE("unit.work_desk.gangs_that_the_gpu_does_not_hold_are_refused") {
    CHECK(gpu::gangs_that_fit(264, 1, 1000) == 264);
    CHECK(gpu::gangs_that_fit(264, 3, 1000) == 88);
    CHECK(gpu::gangs_that_fit(264, 3, 10) == 10);
    CHECK(gpu::gangs_that_fit(264, 200, 10) == 1);
    CHECK_THROWS_WITH_AS(gpu::gangs_that_fit(132, 256, 10),
                         "--gang 256: the GPU holds 132 blocks at once", ConfigError);
}
