// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "training": one iteration of a model on all hosts.
#include <fmt/core.h>

#include "cli/data_folders.h"
#include "cli/workload_part.h"
#include "workloads/model/model_file.h"
#include "workloads/training/training.h"

namespace sluice {

namespace {

constexpr std::int64_t kMany = 1'000'000'000;

std::uint32_t degree(ConfigSection& section, const char* key, std::uint32_t fallback) {
    return static_cast<std::uint32_t>(section.integer(key, fallback, 1, 16'777'216));
}

void read_compute(ConfigSection& section, const Scenario& scenario, TrainingConfig& config) {
    if (section.has("forward_time")) {
        config.forward_time = section.time("forward_time", std::nullopt);
    }
    if (section.has("backward_time")) {
        config.backward_time = section.time("backward_time", std::nullopt);
    }
    config.optimizer_time = section.time("optimizer_time", config.optimizer_time);
    const Gpu gpu = read_gpu(section, "gpu", "A100", data_folders("gpus"),
                             [&](const std::string& file) { return scenario.resolve(file); });
    config.peak_flops = section.number("peak_flops", gpu.peak_flops, 1e6, 1e21);
    config.efficiency = section.number("efficiency", gpu.efficiency, 1e-6, 1);
    const Rate nvlink = section.rate("nvlink_bandwidth", Rate{8 * gpu.nvlink_bytes_per_second});
    config.nvlink_bytes_per_second = nvlink.bits_per_second / 8;
    config.nvlink_latency = section.time("nvlink_latency", gpu.nvlink_latency);
}

}  // namespace

MakeWorkload read_training(ConfigSection& section, const Scenario& scenario, const JobSite& site) {
    const Topology& topology = scenario.topology;
    TrainingConfig config;
    config.model = read_model(section, "model", data_folders("models"),
                              [&](const std::string& file) { return scenario.resolve(file); });
    config.tp = degree(section, "tp", config.tp);
    config.pp = degree(section, "pp", config.pp);
    const std::uint64_t replica = std::uint64_t{config.tp} * config.pp;
    const std::uint64_t replicas = site.available() / replica;
    config.dp = degree(section, "dp", replicas < 1 ? 1 : static_cast<std::uint32_t>(replicas));
    config.ep = degree(section, "ep", config.ep);
    config.sequence = section.integer("sequence", config.sequence, 1, kMany);
    config.micro_batch = section.integer("micro_batch", config.micro_batch, 1, kMany);
    config.micro_batches = degree(section, "micro_batches", config.micro_batches);
    config.activation_bytes = section.integer("activation_bytes", config.activation_bytes, 1, 16);
    config.gradient_bytes = section.integer("gradient_bytes", config.gradient_bytes, 1, 16);
    config.parameter_bytes = section.integer("parameter_bytes", config.parameter_bytes, 1, 16);
    read_compute(section, scenario, config);
    config.all_to_all_window = static_cast<std::uint32_t>(
        section.integer("all_to_all_window", config.all_to_all_window, 0, kMany));
    return [config, &topology, site] {
        JobGraph graph = training_graph(config, site.available(), topology.gpus_per_server);
        const RankId ranks = graph.rank_count();
        Workload workload = make_workload(std::move(graph), site.take(ranks));
        WorkloadPart part;
        part.flows = std::move(workload.flows);
        part.application = std::move(workload.application);
        part.description = fmt::format(
            "one iteration of {} on {} GPUs (TP{} EP{} DP{} PP{}), {} micro-batches of {} x {} "
            "tokens",
            config.model.name, config.tp * config.dp * config.pp, config.tp, config.ep, config.dp,
            config.pp, config.micro_batches, config.micro_batch, config.sequence);
        return part;
    };
}

}  // namespace sluice
