// SPDX-License-Identifier: Apache-2.0
/// The kernel on a GPU gives what the engine of windows gives, byte for byte: one gang, several blocks a gang, several
/// lanes at once, memory that is always full. Skipped, and said so, where there is no GPU.
#include <thread>

#include "experiment/modes/packet_run.h"
#include "gpu/cuda/cuda_executor.h"
#include "tests/support/lane_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

struct Variant {
    gpu::CudaOptions options;
    gpu::LaneMemory memory;
};

/// Enough for each of these lanes, and little of any GPU.
constexpr std::size_t kBytes = std::size_t{256} << 20U;

const Variant kVariants[] = {
    {{0, 512, 1, 1, 1, kBytes}, {}},     {{0, 32, 1, 1, 1, kBytes}, {}},
    {{0, 64, 3, 1, 1, kBytes}, {}},      {{0, 128, 2, 1, 1, kBytes}, kTiny},
    {{0, 128, 1, 1, 1, kBytes}, kAlone},
};

/// False, and says why, where nothing can be executed.
bool has_gpu() {
    std::string why;
    if (gpu::cuda_device_count(why) > 0) {
        return true;
    }
    MESSAGE("skipped: no GPU executes this (" << why << ")");
    return false;
}

Outcome run_lane(const Experiment& experiment, const Variant& variant) {
    gpu::LaneDevices device(gpu::make_cuda_executor(variant.options));
    gpu::LaneRun run(experiment, device, variant.memory);
    return outcome_of(run);
}

}  // namespace

TEST_CASE("unit.cuda.random") {
    if (has_gpu()) {
        for (std::uint64_t seed = 51'000; seed < 51'030; ++seed) {
            compare_lane(seed, kVariants, run_lane);
        }
    }
}

TEST_CASE("unit.cuda.jobs") {
    for (std::uint64_t seed = 1; has_gpu() && seed <= 6; ++seed) {
        INFO(seed);
        const Experiment expected = jobs(seed);
        PacketRun loop(expected, Caller::loop);
        loop.run(with_checksum());
        for (const Variant& variant : kVariants) {
            const Experiment made = jobs(seed);
            gpu::LaneDevices device(gpu::make_cuda_executor(variant.options));
            gpu::LaneRun lane(made, device, variant.memory);
            lane.run(with_checksum());
            CHECK(lane.counters().hop_checksum == loop.counters().hop_checksum);
            check_same_jobs(expected, made);
        }
    }
}

/// Lanes at once, on one thread of the host each.
void compare_at_once(gpu::LaneDevices& devices) {
    constexpr std::uint32_t kLanes = 8;
    std::vector<Experiment> experiments;
    std::vector<Outcome> made(kLanes);
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
        experiments.push_back(experiment_of(random_case(53'000 + lane)));
    }
    std::vector<std::thread> threads;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        threads.emplace_back([&, lane] {
            gpu::LaneRun run(experiments[lane], devices, {});
            made[lane] = outcome_of(run);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        INFO(lane);
        PacketRun loop(experiments[lane], Caller::loop);
        check_same_lanes(outcome_of(loop), made[lane]);
    }
}

TEST_CASE("unit.cuda.lanes_at_once") {
    if (has_gpu()) {
        gpu::LaneDevices device(gpu::make_cuda_executor({0, 64, 2, 4, 1, kBytes}));
        compare_at_once(device);
    }
}

TEST_CASE("unit.cuda.one_gpu_stands_for_two") {
    if (has_gpu()) {
        std::vector<std::unique_ptr<gpu::LaneExecutor>> shards;
        shards.reserve(2);
        for (int shard = 0; shard < 2; ++shard) {
            shards.push_back(gpu::make_cuda_executor({0, 64, 2, 4, 2, kBytes}));
        }
        gpu::LaneDevices devices(std::move(shards));
        compare_at_once(devices);
        for (const std::size_t share : devices.shares()) {
            CHECK(share > 0);
        }
    }
}
