// SPDX-License-Identifier: Apache-2.0
/// Does the device's program give what the engine of windows gives? Runs scenarios in mode packet by the loop,
/// unfolded, by the block executor under several mappings and memories, and on a GPU where there is one, with
/// the checksum of every packet-hop. Says of each scenario "same", "refused" (by both, or by the device for what it
/// does not know) or what differs; or, with --speed N, how long each takes, N times in turn; or, with --memory, what
/// a lane of it takes. --devices: whether there is a GPU.
///   lanes [--devices] [--speed N] [--gang N] [--memory] SCENARIO.toml...
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/error.h"
#include "experiment/build_experiment.h"
#include "experiment/modes/packet_run.h"
#include "experiment/run.h"
#include "gpu/blocks/block_executor.h"
#include "gpu/cuda/cuda_executor.h"
#include "gpu/lane_run.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

struct Trial {
    std::vector<FlowResult> results;
    RunOutcome outcome;
    bool cut_off = false;
    std::string refusal;
};

struct Variant {
    std::string name;
    RunMaker maker;
};

/// Memory that is full all the time: growth is a pause wherever it can be.
constexpr gpu::LaneMemory kTiny{0, 4096, SIZE_MAX};

/// A run with the device that it needs: a GPU has one executor at a time, as each keeps the GPU busy.
struct HeldDevice {
    gpu::LaneDevices devices;
};
class HeldRun : HeldDevice, public gpu::LaneRun {
  public:
    HeldRun(const Experiment& experiment, std::unique_ptr<gpu::LaneExecutor> made,
            const gpu::LaneMemory& memory)
        : HeldDevice{gpu::LaneDevices(std::move(made))}, LaneRun(experiment, devices, memory) {}
};

RunMaker blocks(const gpu::Mapping& mapping, const gpu::LaneMemory& memory = {}) {
    return [=](const Experiment& experiment) {
        return std::make_unique<HeldRun>(experiment, std::make_unique<gpu::BlockExecutor>(mapping),
                                         memory);
    };
}

/// Of a GPU, for one lane.
constexpr std::size_t kBytes = std::size_t{1} << 30U;

RunMaker cuda(std::uint32_t threads, std::uint32_t blocks_of_gang,
              const gpu::LaneMemory& memory = {}) {
    return [=](const Experiment& experiment) {
        return std::make_unique<HeldRun>(
            experiment, gpu::make_cuda_executor({0, threads, blocks_of_gang, 1, 1, kBytes}),
            memory);
    };
}

std::vector<Variant> variants_here() {
    std::vector<Variant> variants = {
        {"1 thread", blocks({1, gpu::Share::strided, 1})},
        {"2 threads, chunked", blocks({2, gpu::Share::chunked, 1})},
        {"3 threads, shuffled", blocks({3, gpu::Share::shuffled, 7})},
        {"4 threads, strided", blocks({4, gpu::Share::strided, 1})},
        {"1 thread, shuffled, tiny memory", blocks({1, gpu::Share::shuffled, 3}, kTiny)},
        {"3 threads, strided, tiny memory", blocks({3, gpu::Share::strided, 1}, kTiny)},
    };
    std::string why;
    if (gpu::cuda_device_count(why) > 0) {
        variants.push_back({"CUDA, a block of 128", cuda(128, 1)});
        variants.push_back({"CUDA, 3 blocks of 64", cuda(64, 3)});
        variants.push_back({"CUDA, 2 blocks of 32, tiny memory", cuda(32, 2, kTiny)});
    }
    return variants;
}

Trial run(const std::string& path, const RunMaker& maker, bool checksum = true) {
    Trial trial;
    try {
        Scenario scenario = load_scenario(path);
        BuiltExperiment built = build_experiment(scenario);
        built.experiment.threads = 1;
        built.experiment.fold = false;
        RunPlan plan;
        plan.caller = Caller::loop;
        plan.maker = maker;
        RunHooks hooks;
        hooks.checksum = checksum;
        plan.watchers.push_back(hooks);
        FinishedRun done = run_experiment(built.experiment, plan);
        trial.results = done.run->results();
        trial.outcome = done.outcome;
        trial.cut_off = done.run->cut_off();
    } catch (const ConfigError& error) {
        trial.refusal = error.what();
    }
    return trial;
}

bool same_ports(const std::vector<PortStatistics>& a, const std::vector<PortStatistics>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const PortStatistics& x, const PortStatistics& y) {
                          return x.tx_bytes == y.tx_bytes && x.tx_packets == y.tx_packets &&
                                 x.max_queue_bytes == y.max_queue_bytes &&
                                 x.ecn_marks == y.ecn_marks && x.drops == y.drops &&
                                 x.pauses_sent == y.pauses_sent && x.paused_ticks == y.paused_ticks;
                      });
}

bool same_flows(const std::vector<FlowResult>& a, const std::vector<FlowResult>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const FlowResult& x, const FlowResult& y) {
                          return x.start == y.start && x.received == y.received &&
                                 x.finish == y.finish && x.retransmitted == y.retransmitted;
                      });
}

/// "" if they are the same.
std::string difference(const Trial& loop, const Trial& lane) {
    const RunCounters& a = loop.outcome.counters;
    const RunCounters& b = lane.outcome.counters;
    if (a.hop_checksum != b.hop_checksum) {
        return fmt::format("hop checksum {:016x} {:016x}, {} and {} hops", a.hop_checksum,
                           b.hop_checksum, a.packet_hops, b.packet_hops);
    }
    if (a.events != b.events) return fmt::format("events {} {}", a.events, b.events);
    if (a.drops != b.drops) return fmt::format("drops {} {}", a.drops, b.drops);
    if (a.retransmitted_bytes != b.retransmitted_bytes) return "retransmitted bytes";
    if (loop.outcome.simulated != lane.outcome.simulated) {
        return fmt::format("time reached {} {}", loop.outcome.simulated, lane.outcome.simulated);
    }
    if (loop.cut_off != lane.cut_off || loop.outcome.stalled != lane.outcome.stalled) {
        return "how the run ended";
    }
    if (!same_ports(loop.outcome.ports, lane.outcome.ports)) return "ports";
    if (!same_flows(loop.results, lane.results)) return "flows";
    return "";
}

/// False if anything differs.
bool compare(const std::string& path, const std::vector<Variant>& variants) {
    const Trial loop = run(path, {});
    bool same = true;
    for (const Variant& variant : variants) {
        const Trial lane = run(path, variant.maker);
        if (!lane.refusal.empty()) {
            fmt::print("refused  {}  {}\n", path, lane.refusal);
            return same;
        }
        const std::string text =
            !loop.refusal.empty() ? "refused by the loop only" : difference(loop, lane);
        if (!text.empty()) {
            fmt::print("DIFFERS  {}  {}: {}\n", path, variant.name, text);
            same = false;
        }
    }
    if (same) {
        fmt::print("same     {}  {} hops {:016x}\n", path, loop.outcome.counters.packet_hops,
                   loop.outcome.counters.hop_checksum);
    }
    std::fflush(stdout);
    return same;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void tell_devices() {
    std::string why;
    const int count = gpu::cuda_device_count(why);
    if (count > 0) {
        fmt::print("{} GPU{}: compared, too\n", count, count == 1 ? "" : "s");
    } else {
        fmt::print("SKIPPED: nothing was compared on a GPU: {}\n", why);
    }
}

void time(const std::string& path, int times, std::uint32_t gang) {
    std::vector<double> ratios;
    std::vector<double> hops;
    for (int i = 0; i < times; ++i) {
        const Trial loop = run(path, {}, false);
        const Trial lane = run(path, blocks({gang, gpu::Share::strided, 1}), false);
        if (!loop.refusal.empty() || !lane.refusal.empty()) {
            fmt::print("refused  {}: {}\n", path,
                       loop.refusal.empty() ? lane.refusal : loop.refusal);
            return;
        }
        ratios.push_back(loop.outcome.wall_s / lane.outcome.wall_s);
        hops.push_back(static_cast<double>(lane.outcome.counters.packet_hops) /
                       lane.outcome.wall_s);
    }
    fmt::print("{}: lane's speed {:.2f} of the loop's, {:.2f} M packet-hops/s\n", path,
               median(ratios), median(hops) / 1e6);
}

/// At its start, and when it has been run to its end or stop.
void tell_memory(const std::string& path) {
    Scenario scenario = load_scenario(path);
    const BuiltExperiment built = build_experiment(scenario);
    gpu::LaneDevices device(std::make_unique<gpu::BlockExecutor>(gpu::Mapping{}));
    gpu::LaneRun run(built.experiment, device, {});
    std::size_t first = 0;
    RunHooks hooks;
    hooks.on_progress = [&](Tick) {
        first = first == 0 ? run.memory_bytes() : first;
        return true;
    };
    run.run(hooks);
    fmt::print("{}: {} hosts, a lane of {:.2f} MiB at first, {:.2f} MiB at most\n", path,
               built.experiment.topology.hosts().size(), static_cast<double>(first) / (1 << 20),
               static_cast<double>(run.memory_bytes()) / (1 << 20));
}

}  // namespace

}  // namespace sluice

int main(int argc, char** argv) {
    int times = 0;
    std::uint32_t gang = 1;
    bool same = true;
    bool memory = false;
    std::vector<sluice::Variant> variants;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--speed") == 0 && i + 1 < argc) {
            times = std::atoi(argv[++i]);
        } else if (std::strcmp(argv[i], "--gang") == 0 && i + 1 < argc) {
            gang = static_cast<std::uint32_t>(std::atoi(argv[++i]));
        } else if (std::strcmp(argv[i], "--memory") == 0) {
            memory = true;
        } else if (std::strcmp(argv[i], "--devices") == 0) {
            sluice::tell_devices();
        } else if (memory) {
            sluice::tell_memory(argv[i]);
        } else if (times > 0) {
            sluice::time(argv[i], times, gang);
        } else {
            if (variants.empty()) variants = sluice::variants_here();
            same = sluice::compare(argv[i], variants) && same;
        }
    }
    return same ? 0 : 1;
}
