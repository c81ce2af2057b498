// SPDX-License-Identifier: Apache-2.0
/// How many packet-hops a second a device executes when so many lanes are on it at once: experiments that
/// differ in their seed, each up to the slice's end. The clock runs from when all have been copied to the device
/// until the last one is there. Beside it one core of the host (the plain loop of mode packet) with one of them.
///   gpu_throughput [--device cuda|blocks] [--lanes N,N...] [--slice TIME] [--threads N] [--gang N] SCENARIO.toml...
/// --threads: of a block; --gang: blocks (cuda) or threads (blocks) that share a lane.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/error.h"
#include "core/text/quantity.h"
#include "experiment/build_experiment.h"
#include "experiment/modes/packet_run.h"
#include "gpu/blocks/block_executor.h"
#include "gpu/cuda/cuda_executor.h"
#include "gpu/lane/device_error.h"
#include "gpu/lane_run.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    bool blocks = false;
    std::vector<std::size_t> lanes = {1, 32, 520, 10'000};
    Tick slice = 100 * kMicrosecond;
    std::uint32_t threads = 512;
    std::uint32_t gang = 1;
    std::vector<std::string> scenarios;
};

/// Holds lanes back until as many as are expected have come, or no more come for a while: those wait for memory.
class Start : public gpu::LaneExecutor {
  public:
    Start(std::unique_ptr<gpu::LaneExecutor> executor, std::size_t lanes)
        : executor_(std::move(executor)), missing_(lanes) {}

    gpu::DeviceMemory& memory() override { return executor_->memory(); }
    gpu::LaneReport run(gpu::Lane& lane, const gpu::LaneOrder& order) override {
        if (is_new(lane)) wait();
        return executor_->run(lane, order);
    }
    void close() override { executor_->close(); }
    Clock::time_point began() const { return began_; }
    std::size_t at_once() const { return come_; }
    std::size_t bytes() const { return bytes_; }

  private:
    bool is_new(const gpu::Lane& lane) {
        const std::lock_guard lock(mutex_);
        return known_.insert(&lane).second;
    }
    void wait() {
        std::unique_lock lock(mutex_);
        if (missing_ == 0) return;
        --missing_;
        ++come_;
        last_ = Clock::now();
        changed_.notify_all();
        while (missing_ > 0) {
            changed_.wait_for(lock, std::chrono::milliseconds(100));
            if (Clock::now() - last_ > std::chrono::seconds(5)) missing_ = 0;
        }
        if (bytes_ == 0) {
            bytes_ = memory().size() - memory().room();
            began_ = Clock::now();
            changed_.notify_all();
        }
    }

    std::unique_ptr<gpu::LaneExecutor> executor_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<const gpu::Lane*> known_;
    std::size_t missing_;
    std::size_t come_ = 0;
    std::size_t bytes_ = 0;
    Clock::time_point last_;
    Clock::time_point began_;
};

BuiltExperiment build(const std::string& path, std::size_t seed, Tick slice) {
    Scenario scenario = load_scenario(path, {fmt::format("seed={}", seed), "mode=\"packet\""});
    BuiltExperiment built = build_experiment(scenario);
    built.experiment.threads = 1;
    built.experiment.fold = false;
    built.experiment.stop = std::min(built.experiment.stop, slice);
    return built;
}

/// Experiments of all seeds, built on all cores.
std::vector<BuiltExperiment> build_all(const std::string& path, std::size_t count, Tick slice) {
    std::vector<BuiltExperiment> built(count);
    std::atomic<std::size_t> next{0};
    const unsigned cores = std::max(std::thread::hardware_concurrency(), 1U);
    std::vector<std::thread> threads;
    threads.reserve(cores);
    for (unsigned t = 0; t < cores; ++t) {
        threads.emplace_back([&] {
            for (std::size_t i = next++; i < count; i = next++) {
                built[i] = build(path, i + 1, slice);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    return built;
}

std::unique_ptr<gpu::LaneExecutor> executor_of(const Options& options, std::size_t lanes) {
    if (options.blocks) {
        return std::make_unique<gpu::BlockExecutor>(
            gpu::Mapping{options.gang, gpu::Share::strided, 1}, gpu::free_host_memory());
    }
    gpu::CudaOptions cuda;
    cuda.threads = options.threads;
    cuda.blocks_of_gang = options.gang;
    cuda.lanes = static_cast<std::uint32_t>(lanes);
    return gpu::make_cuda_executor(cuda);
}

/// Packet-hops a second of one core of the host.
double host_speed(const std::string& path, Tick slice) {
    const BuiltExperiment built = build(path, 1, slice);
    PacketRun run(built.experiment, Caller::loop);
    const Clock::time_point began = Clock::now();
    run.run({});
    const std::chrono::duration<double> wall = Clock::now() - began;
    return static_cast<double>(run.counters().packet_hops) / wall.count();
}

void measure(const Options& options, const std::string& path, std::size_t count, double host) {
    const std::vector<BuiltExperiment> built = build_all(path, count, options.slice);
    auto start = std::make_unique<Start>(executor_of(options, count), count);
    const Start& seen = *start;
    gpu::LaneDevices devices(std::move(start));
    std::atomic<std::uint64_t> hops{0};
    std::atomic<std::size_t> failed{0};
    gpu::LaneMemory memory;
    memory.alone = !options.blocks;
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (const BuiltExperiment& one : built) {
        threads.emplace_back([&] {
            try {
                gpu::LaneRun run(one.experiment, devices, memory);
                run.run({});
                hops += run.counters().packet_hops;
            } catch (const DeviceError& error) {
                if (failed++ == 0) fmt::print("  failed: {}\n", error.what());
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> wall = Clock::now() - seen.began();
    const double speed = static_cast<double>(hops) / wall.count();
    fmt::print(
        "  {:>6} lanes, {} at once in {:.2f} GiB: {:.1f} M packet-hops in {:.3f} s, {:.2f} M/s, "
        "{:.2f} of a core's{}\n",
        count, seen.at_once(), static_cast<double>(seen.bytes()) / (1 << 30),
        static_cast<double>(hops) / 1e6, wall.count(), speed / 1e6, speed / host,
        failed > 0 ? fmt::format("; {} FAILED", failed.load()) : "");
    std::fflush(stdout);
}

void measure_all(const Options& options) {
    if (options.blocks) {
        fmt::print("block executor, {} threads a lane\n", options.gang);
    } else {
        gpu::CudaOptions cuda;
        cuda.threads = options.threads;
        const gpu::CudaFigures gpu = gpu::cuda_figures(cuda);
        fmt::print(
            "{}: {} processors hold {} blocks of {} threads, occupancy {:.2f}, {} registers; "
            "{:.1f} "
            "GiB for lanes\n",
            gpu.name, gpu.processors, gpu.blocks, options.threads, gpu.occupancy, gpu.registers,
            static_cast<double>(gpu::cuda_lane_memory(0)) / (1 << 30));
    }
    for (const std::string& path : options.scenarios) {
        const double host = host_speed(path, options.slice);
        fmt::print("{}: a core of the host {:.2f} M packet-hops/s\n", path, host / 1e6);
        for (const std::size_t count : options.lanes) measure(options, path, count, host);
    }
}

std::vector<std::size_t> counts_of(const std::string& text) {
    std::vector<std::size_t> counts;
    std::istringstream list(text);
    for (std::string one; std::getline(list, one, ',');) {
        counts.push_back(
            static_cast<std::size_t>(parse_integer(one, Place{{}, 0, "--lanes"}, 1, 1'000'000)));
    }
    return counts;
}

Options options_of(int argc, char** argv) {
    Options options;
    const auto number = [](const char* text, const char* name) {
        return static_cast<std::uint32_t>(parse_integer(text, Place{{}, 0, name}, 1, 1024));
    };
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const bool more = i + 1 < argc;
        if (word == "--device" && more) {
            options.blocks = std::strcmp(argv[++i], "blocks") == 0;
        } else if (word == "--lanes" && more) {
            options.lanes = counts_of(argv[++i]);
        } else if (word == "--slice" && more) {
            options.slice = parse_time(argv[++i], Place{{}, 0, "--slice"});
        } else if (word == "--threads" && more) {
            options.threads = number(argv[++i], "--threads");
        } else if (word == "--gang" && more) {
            options.gang = number(argv[++i], "--gang");
        } else {
            options.scenarios.push_back(word);
        }
    }
    return options;
}

}  // namespace

}  // namespace sluice

int main(int argc, char** argv) {
    try {
        const sluice::Options options = sluice::options_of(argc, argv);
        std::string why;
        if (!options.blocks && sluice::gpu::cuda_device_count(why) == 0) {
            fmt::print("SKIPPED: nothing was measured on a GPU: {}\n", why);
            return 0;
        }
        sluice::measure_all(options);
    } catch (const sluice::ConfigError& error) {
        fmt::print("{}\n", error.what());
        return 2;
    }
    return 0;
}
