// SPDX-License-Identifier: Apache-2.0
#include "cli/batch_devices.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include "core/error.h"
#include "core/text/human.h"
#include "core/text/quantity.h"
#include "gpu/blocks/block_executor.h"
#include "gpu/cuda/cuda_executor.h"
#include "gpu/device_plan.h"
#include "gpu/lane_run.h"

namespace sluice {

namespace {

enum class Kind { cpu, cuda, blocks };

/// On a GPU, if nothing is said: their threads sleep.
constexpr unsigned kLanesOfGpu = 512;

Kind kind_of(const DeviceOptions& options) {
    std::string why;
    if (options.device == "blocks") return Kind::blocks;
    const bool found = options.device == "auto" && gpu::cuda_device_count(why) > 0;
    return options.device == "cuda" || found ? Kind::cuda : Kind::cpu;
}

/// 0: not said.
std::size_t size_of(const std::string& text, const char* option) {
    if (text.empty()) return 0;
    const Bytes bytes = parse_bytes(text, Place{{}, 0, option});
    if (bytes.count <= 0)
        throw ConfigError(fmt::format("{} {}: must be more than 0", option, text));
    return static_cast<std::size_t>(bytes.count);
}

std::size_t memory_of(const DeviceOptions& options) {
    return size_of(options.memory, "--device-memory");
}

/// Block executors stand for as many GPUs as are wanted.
void check_gpus(const DeviceOptions& options) {
    std::string why;
    const int count = gpu::cuda_device_count(why);
    if (count == 0) throw ConfigError("--device cuda: " + why);
    if (options.gpus > static_cast<unsigned>(count)) {
        throw ConfigError(fmt::format("--gpus {}: there {} {}", options.gpus,
                                      count == 1 ? "is" : "are",
                                      counted(static_cast<std::size_t>(count), "GPU", "GPUs")));
    }
}

std::size_t share_of_host(const DeviceOptions& options) {
    const std::size_t given = memory_of(options);
    return given > 0 ? given : gpu::free_host_memory() / options.gpus;
}

std::string bytes(std::size_t number) { return human_count(static_cast<double>(number)) + "B"; }

/// `wanted` of `all` lanes at once on devices of these `memories`.
std::string told(const gpu::LanePlan& plan, const std::vector<std::size_t>& memories,
                 std::size_t wanted, std::size_t all) {
    std::string text;
    if (plan.refused > 0) {
        text += fmt::format("  device       refuses {} of {}, the first {}\n", plan.refused,
                            plan.tried, plan.reason);
    }
    if (plan.fit == 0) return text;
    const std::size_t mean = std::max<std::size_t>(plan.grown / plan.fit, 1);
    std::size_t room = 0;
    std::string sizes;
    for (const std::size_t memory : memories) {
        room += memory / mean;
        sizes += (sizes.empty() ? "" : ", ") + bytes(memory);
    }
    text += fmt::format("  a lane       {} at first, {} after its first windows, at most {}\n",
                        bytes(plan.first / plan.fit), bytes(mean), bytes(plan.most));
    text += fmt::format("  {:<12} {}: room for {}", memories.size() == 1 ? "device" : "devices",
                        sizes, counted(room, "lane", "lanes"));
    if (room == 0) return text + ": the network does not fit\n";
    const std::size_t at_once = std::min(room, wanted);
    text += fmt::format("; {} at once", at_once);
    return text + (at_once < all ? fmt::format(", the other {} streamed\n", all - at_once) : "\n");
}

}  // namespace

void add_device_options(CommandLine app, DeviceOptions& options) {
    app.add_option("--device", options.device,
                   "cpu (default); cuda: mode packet on a GPU; auto: cuda if there is a GPU, and\n"
                   "the CPU for what it does not support; blocks: the GPU's program on the CPU")
        .type_name("DEVICE")
        .one_of({"cpu", "cuda", "auto", "blocks"});
    app.add_option("--gpus", options.gpus,
                   "Number of GPUs among which experiments are divided (blocks: of emulated GPUs)")
        .type_name("N")
        .range(1, 64);
    app.add_option("--gang", options.gang,
                   "Threads (blocks) or thread blocks of the GPU (cuda) that execute an experiment "
                   "together")
        .type_name("N")
        .range(1, 256);
    app.add_option("--lanes", options.lanes,
                   "Experiments that are on the devices at the same time; each occupies a CPU\n"
                   "thread, which sleeps meanwhile (default: --threads; cuda: 512)")
        .type_name("N")
        .range(1, 65'536);
    app.add_option("--device-memory", options.memory,
                   "Memory of each device for experiments; those that do not fit wait (default: "
                   "what is free)")
        .type_name("SIZE");
    app.add_option(
           "--lane-memory", options.lane_memory,
           "Largest memory of one experiment on a device; an experiment that needs more fails")
        .type_name("SIZE");
}

unsigned lanes_at_once(const DeviceOptions& options, unsigned threads) {
    if (options.device == "cpu" &&
        (options.gpus > 1 || options.lanes > 0 || !options.memory.empty())) {
        throw ConfigError("--gpus, --lanes and --device-memory need --device cuda, blocks or auto");
    }
    const Kind kind = kind_of(options);
    if (kind != Kind::cpu && options.lanes > 0) return options.lanes;
    if (threads > 0) return threads;
    return kind == Kind::cuda ? kLanesOfGpu : std::max(std::thread::hardware_concurrency(), 1U);
}

gpu::LaneMemory lane_memory(const DeviceOptions& options) {
    gpu::LaneMemory memory;
    memory.alone = kind_of(options) == Kind::cuda;
    const std::size_t most = size_of(options.lane_memory, "--lane-memory");
    if (most == 0) return memory;
    if (options.device == "cpu") {
        throw ConfigError("--lane-memory: needs --device cuda, auto or blocks");
    }
    memory.most = most;
    return memory;
}

std::unique_ptr<gpu::LaneDevices> make_devices(const DeviceOptions& options, unsigned lanes) {
    const Kind kind = kind_of(options);
    if (kind == Kind::cpu) return nullptr;
    if (kind == Kind::cuda) check_gpus(options);
    std::vector<std::unique_ptr<gpu::LaneExecutor>> executors;
    for (unsigned i = 0; i < options.gpus; ++i) {
        if (kind == Kind::cuda) {
            gpu::CudaOptions cuda;
            cuda.device = static_cast<int>(i);
            cuda.blocks_of_gang = options.gang;
            cuda.lanes = lanes;
            cuda.memory = memory_of(options);
            executors.push_back(gpu::make_cuda_executor(cuda));
        } else {
            executors.push_back(std::make_unique<gpu::BlockExecutor>(
                gpu::Mapping{options.gang, gpu::Share::strided, 1}, share_of_host(options)));
        }
    }
    return std::make_unique<gpu::LaneDevices>(std::move(executors));
}

RunMaker lane_maker(gpu::LaneDevices* devices, const gpu::LaneMemory& memory) {
    if (devices == nullptr) return {};
    return [devices, memory](const Experiment& experiment) {
        return std::make_unique<gpu::LaneRun>(experiment, *devices, memory);
    };
}

std::string plan_devices(const DeviceOptions& options, const Batch& batch, unsigned lanes,
                         bool allow_oom) {
    const Kind kind = kind_of(options);
    if (kind == Kind::cpu) return "";
    if (kind == Kind::cuda) check_gpus(options);
    std::vector<std::size_t> memories;
    for (unsigned i = 0; i < options.gpus; ++i) {
        const std::size_t given = memory_of(options);
        if (kind == Kind::cuda) {
            memories.push_back(given > 0 ? given : gpu::cuda_lane_memory(static_cast<int>(i)));
        } else {
            memories.push_back(share_of_host(options));
        }
    }
    return told(gpu::plan_lanes(batch, allow_oom), memories,
                std::min<std::size_t>(lanes, batch.size()), batch.size());
}

}  // namespace sluice
