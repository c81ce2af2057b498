// SPDX-License-Identifier: Apache-2.0
/// Lanes shared out to devices: balance, memory that holds few of them at once, devices that fail.
#include "gpu/lane/lane_devices.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "core/error.h"
#include "experiment/modes/packet_run.h"
#include "gpu/lane/block_pool.h"
#include "gpu/lane/device_error.h"
#include "tests/support/lane_support.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

using namespace sluice;
using namespace sluice::test;

namespace {

using Executors = std::vector<std::unique_ptr<gpu::LaneExecutor>>;

constexpr gpu::Mapping kOneThread{1, gpu::Share::strided, 1};

/// Memory in one piece, as a GPU's is: it can be in splinters.
class PoolExecutor : public gpu::LaneExecutor {
  public:
    explicit PoolExecutor(std::size_t bytes)
        : block_(std::aligned_alloc(64, bytes)), pool_(block_, bytes) {}
    ~PoolExecutor() override { std::free(block_); }
    PoolExecutor(const PoolExecutor&) = delete;
    PoolExecutor& operator=(const PoolExecutor&) = delete;
    gpu::DeviceMemory& memory() override { return pool_; }
    gpu::LaneReport run(gpu::Lane& lane, const gpu::LaneOrder& order) override {
        gpu::obey(lane, order);
        return gpu::report_of(lane, gpu::run_blocks(lane, kOneThread, order.windows));
    }

  private:
    void* block_;
    gpu::BlockPool pool_;
};

/// Memory of its own: nobody touches a block that was not brought to where he is.
class FarExecutor : public gpu::BlockExecutor {
  public:
    FarExecutor() : BlockExecutor(kOneThread) {}
    gpu::DeviceMemory& memory() override { return memory_; }
    gpu::LaneReport run(gpu::Lane& lane, const gpu::LaneOrder& order) override {
        for (const auto& [block, side] : memory_.at) CHECK(side == gpu::Side::device);
        ++runs;
        return BlockExecutor::run(lane, order);
    }
    /// Blocks that were given back from the device's side: nothing was read of them.
    int never_read() const { return memory_.never_read; }
    int runs = 0;

  private:
    struct FarMemory : gpu::HostMemory {
        std::map<void*, gpu::Side> at;
        int never_read = 0;
        void* allocate(std::size_t bytes) override {
            void* const block = HostMemory::allocate(bytes);
            at[block] = gpu::Side::host;
            return block;
        }
        void free(void* block) override {
            never_read += at[block] == gpu::Side::device ? 1 : 0;
            at.erase(block);
            HostMemory::free(block);
        }
        void bring(void* block, gpu::Side to) override { at[block] = to; }
    };
    FarMemory memory_;
};

/// Dies after so many calls.
class Mortal : public gpu::BlockExecutor {
  public:
    explicit Mortal(int calls) : BlockExecutor(kOneThread), calls_(calls) {}
    gpu::LaneReport run(gpu::Lane& lane, const gpu::LaneOrder& order) override {
        if (--calls_ < 0) {
            throw DeviceError("the GPU has gone");
        }
        return BlockExecutor::run(lane, order);
    }

  private:
    std::atomic<int> calls_;
};

/// Stays where it is: link events would bring it back to the host.
Experiment experiment_number(std::uint64_t number) {
    Experiment experiment = experiment_of(random_case(52'000 + number));
    experiment.link_events.clear();
    return experiment;
}

struct Lanes {
    std::vector<Experiment> experiments;
    std::vector<Outcome> made;
    std::vector<std::string> failures;  ///< "" for those that came to their end
    std::size_t bytes = 0;              ///< of the largest

    explicit Lanes(std::uint64_t count) : made(count), failures(count) {
        for (std::uint64_t lane = 0; lane < count; ++lane) {
            experiments.push_back(experiment_number(lane));
        }
    }

    void run(gpu::LaneDevices& devices, const gpu::LaneMemory& memory) {
        std::vector<std::size_t> sizes(made.size());
        std::vector<std::thread> threads;
        for (std::size_t lane = 0; lane < made.size(); ++lane) {
            threads.emplace_back([&, lane] {
                try {
                    gpu::LaneRun run(experiments[lane], devices, memory);
                    made[lane] = outcome_of(run);
                    sizes[lane] = run.memory_bytes();
                } catch (const DeviceError& error) {
                    failures[lane] = error.what();
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        bytes = *std::max_element(sizes.begin(), sizes.end());
    }

    void check_same() const {
        for (std::size_t lane = 0; lane < made.size(); ++lane) {
            INFO(lane);
            REQUIRE(failures[lane] == "");
            PacketRun loop(experiments[lane], Caller::loop);
            check_same_lanes(outcome_of(loop), made[lane]);
        }
    }
};

gpu::LaneDevices several(const std::vector<std::size_t>& bytes) {
    Executors executors;
    for (const std::size_t size : bytes) {
        executors.push_back(std::make_unique<gpu::BlockExecutor>(kOneThread, size));
    }
    return gpu::LaneDevices(std::move(executors));
}

}  // namespace

TEST_CASE("unit.lane_devices.fewest_lanes_then_most_room") {
    gpu::LaneDevices devices = several({1000, 5000, 3000});
    const auto go_on = [] { return true; };
    std::vector<std::unique_ptr<gpu::LaneStay>> stays;
    std::vector<void*> blocks;
    const auto enter = [&](std::size_t bytes) {
        stays.push_back(std::make_unique<gpu::LaneStay>(devices, go_on));
        blocks.push_back(stays.back()->allocate(bytes));
        return devices.shares();
    };
    const auto leave = [&](std::size_t stay) {
        stays[stay]->free(blocks[stay]);
        stays[stay]->leave();
    };
    using Shares = std::vector<std::size_t>;
    CHECK(enter(640) == Shares{0, 1, 0});  // most room
    CHECK(enter(640) == Shares{0, 1, 1});  // fewer lanes
    CHECK(enter(640) == Shares{1, 1, 1});
    CHECK(enter(2560) == Shares{1, 2, 1});  // 360, 4360 and 2360 are free
    leave(1);
    CHECK(enter(640) == Shares{1, 2, 2});   // none is there
    CHECK(enter(1280) == Shares{1, 2, 3});  // the first has as few, and no room
    for (const std::size_t stay : {0, 2, 3, 4, 5}) {
        leave(stay);
    }
}

TEST_CASE("unit.lane_devices.one_after_the_other_go_round") {
    gpu::LaneDevices devices = several({SIZE_MAX, SIZE_MAX});
    for (int lane = 0; lane < 6; ++lane) {
        gpu::LaneStay stay(devices, [] { return true; });
        stay.free(stay.allocate(64));
    }
    CHECK(devices.shares() == std::vector<std::size_t>{3, 3});
}

TEST_CASE("unit.lane_devices.several_share_a_batch") {
    gpu::LaneDevices devices = several({SIZE_MAX, SIZE_MAX, SIZE_MAX});
    Lanes lanes(12);
    lanes.run(devices, {});
    lanes.check_same();
    const std::vector<std::size_t> shares = devices.shares();
    CHECK(std::accumulate(shares.begin(), shares.end(), std::size_t{0}) == 12);
    for (const std::size_t share : shares) {
        CHECK(share > 0);
    }
}

TEST_CASE("unit.lane_devices.what_finds_no_memory_waits") {
    // Little more than the largest needs at its end: the lanes stream through it, and some begin again.
    gpu::LaneDevices large = block_device(kOneThread);
    Lanes alone(8);
    alone.run(large, kTiny);
    alone.check_same();
    for (const bool pool : {false, true}) {
        INFO(pool);
        const std::size_t bytes = alone.bytes * 5 / 4;
        // A busy machine may run them one after the other, so that each finds room: then they run again.
        constexpr int kRounds = 50;
        bool met = false;
        for (int round = 0; round < kRounds && !met; ++round) {
            std::unique_ptr<gpu::LaneExecutor> executor =
                std::make_unique<gpu::BlockExecutor>(kOneThread, bytes);
            if (pool) {
                executor = std::make_unique<PoolExecutor>(bytes / 64 * 64);
            }
            gpu::LaneDevices small(std::move(executor));
            Lanes lanes(8);
            lanes.run(small, pool ? kTiny : kAlone);
            lanes.check_same();
            met = small.shares()[0] > 8;
        }
        CHECK(met);
    }
}

void compare_jobs_begun_again(const gpu::LaneMemory& memory) {
    const Experiment expected = jobs(3);
    PacketRun loop(expected, Caller::loop);
    loop.run(with_checksum());
    gpu::LaneDevices large = block_device(kOneThread);
    const Experiment first = jobs(3);
    gpu::LaneRun whole(first, large, kTiny);
    whole.run(with_checksum());
    // Room for what the lane is at first, and not for what it becomes, until somebody older has left.
    const std::size_t all = 4 * (whole.memory_bytes() / 64 * 64);
    gpu::LaneDevices small(std::make_unique<PoolExecutor>(all));
    gpu::LaneStay holder(small, [] { return true; });
    void* block = holder.allocate(all - whole.memory_bytes() * 9 / 10);
    const Experiment made = jobs(3);
    gpu::LaneRun lane(made, small, memory);
    RunHooks hooks = with_checksum();
    hooks.on_progress = [&](Tick) {
        if (block != nullptr) {
            holder.free(block);
            holder.leave();
            block = nullptr;
        }
        return true;
    };
    lane.run(hooks);
    CHECK(small.shares()[0] == 3);
    CHECK(lane.counters().hop_checksum == loop.counters().hop_checksum);
    check_same_jobs(expected, made);
}

TEST_CASE("unit.lane_devices.jobs_begin_again") {
    compare_jobs_begun_again(kTiny);
    compare_jobs_begun_again(kAlone);
}

TEST_CASE("unit.lane_devices.blocks_are_brought_to_whoever_works_on_them") {
    for (const gpu::LaneMemory& memory : {gpu::LaneMemory{}, kTiny, kAlone}) {
        const Experiment experiment = experiment_of(random_case(51'027));
        auto far = std::make_unique<FarExecutor>();
        const FarExecutor& seen = *far;
        gpu::LaneDevices device(std::move(far));
        gpu::LaneRun run(experiment, device, memory);
        PacketRun loop(experiment, Caller::loop);
        check_same_lanes(outcome_of(loop), outcome_of(run));
        CHECK(seen.runs > 1);
        CHECK(seen.never_read() == 0);
    }
}

#if defined(__GLIBC__)
/// Bytes that malloc() has given out.
std::size_t in_use() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/// Bytes in use when the lane is on its device, with the lane itself, and the lane's.
std::pair<std::size_t, std::size_t> while_away(bool alone) {
    struct Look : gpu::BlockExecutor {
        std::size_t seen = 0;
        Look() : BlockExecutor(kOneThread) {}
        gpu::LaneReport run(gpu::Lane& lane, const gpu::LaneOrder& order) override {
            seen = std::max(seen, in_use());
            return BlockExecutor::run(lane, order);
        }
    };
    auto look = std::make_unique<Look>();
    const Look& seen = *look;
    gpu::LaneDevices device(std::move(look));
    FatTreeParams params;
    params.k = 16;
    Experiment experiment;
    experiment.topology = build_fat_tree(params);
    experiment.network = config_for(congestion::Law::dctcp);
    experiment.flows = {flow(0, 1000, 10'000, 0)};
    gpu::LaneMemory memory;
    memory.alone = alone;
    gpu::LaneRun run(experiment, device, memory);
    run.run({});
    CHECK(run.results()[0].finish != kNever);
    return {seen.seen, run.memory_bytes()};
}

TEST_CASE("unit.lane_devices.nothing_is_kept_of_a_lane_that_is_away") {
    const auto [kept, bytes] = while_away(false);
    const auto [alone, same] = while_away(true);
    CHECK(bytes == same);
    if (kept > 0) {  // a sanitizer's malloc() does not say
        CHECK(alone + bytes / 2 < kept);
    }
}
#endif

TEST_CASE("unit.lane_devices.what_no_device_holds_fails_with_figures") {
    gpu::LaneDevices devices = several({4096, 8192});
    const Experiment experiment = experiment_number(0);
    gpu::LaneRun run(experiment, devices, {});
    try {
        run.run({});
        FAIL("it does not fit");
    } catch (const DeviceError& error) {
        const std::string text = error.what();
        CHECK(text.find("of the device's memory, of which lanes may take 8192 in all") !=
              std::string::npos);
    }
}

TEST_CASE("unit.lane_devices.a_lane_that_outgrows_the_device_fails") {
    // Room for what it is at first, and for nothing that it becomes.
    gpu::LaneDevices large = block_device(kOneThread);
    const Experiment experiment = experiment_number(1);
    gpu::LaneRun whole(experiment, large, kTiny);
    whole.run({});
    gpu::LaneDevices small(std::make_unique<PoolExecutor>(whole.memory_bytes() / 128 * 64));
    gpu::LaneRun run(experiment, small, kTiny);
    CHECK_THROWS_AS(run.run({}), DeviceError);
}

TEST_CASE("unit.lane_devices.who_waits_can_be_interrupted") {
    gpu::LaneDevices devices = several({4096});
    gpu::LaneStay holder(devices, [] { return true; });
    void* const block = holder.allocate(4096);
    int asked = 0;
    gpu::LaneStay waiting(devices, [&] { return ++asked < 3; });
    CHECK_THROWS_AS(waiting.allocate(64), gpu::LaneStay::Interrupted);
    CHECK(asked == 3);
    holder.free(block);
}

TEST_CASE("unit.lane_devices.a_dead_device_is_left_alone") {
    Executors executors;
    executors.push_back(std::make_unique<Mortal>(0));
    executors.push_back(std::make_unique<gpu::BlockExecutor>(kOneThread));
    gpu::LaneDevices devices(std::move(executors));
    std::size_t failed = 0;
    for (std::uint64_t lane = 0; lane < 6; ++lane) {
        const Experiment experiment = experiment_number(lane);
        gpu::LaneRun run(experiment, devices, {});
        try {
            run.run({});
        } catch (const DeviceError&) {
            ++failed;
        }
    }
    CHECK(failed == 1);
    CHECK(devices.shares() == std::vector<std::size_t>{1, 5});
}

TEST_CASE("unit.lane_devices.when_all_are_dead_everybody_hears_of_it") {
    gpu::LaneDevices devices(std::make_unique<Mortal>(3));
    Lanes lanes(6);
    lanes.run(devices, kTiny);
    const auto told = [](const std::string& why) { return why == "the GPU has gone"; };
    CHECK(std::count_if(lanes.failures.begin(), lanes.failures.end(), told) >= 3);
}
