// SPDX-License-Identifier: Apache-2.0
/// Validation of a training configuration and the formulae behind its sizes and times.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "workloads/training/training.h"

namespace sluice {

namespace {

constexpr Tick kLongest = 24 * 3600 * kSecond;
/// Enough for a trillion-parameter model's gradients, far from overflow in every product.
constexpr double kMostBytes = 1e15;
/// About 10 GB of graph and results.
constexpr double kMostOperations = 1.5e8;

void check_range(const char* key, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most) {
        throw ConfigError(std::string(key) + " is " + std::to_string(value) + ", allowed are " +
                          std::to_string(least) + " to " + std::to_string(most));
    }
}

void check_divides(const char* what, std::int64_t value, const char* by, std::int64_t divisor) {
    if (value % divisor != 0) {
        throw ConfigError(std::string(what) + " " + std::to_string(value) +
                          " is not divisible by " + by + " " + std::to_string(divisor));
    }
}

std::string divisors(std::uint32_t value) {
    std::string text;
    for (std::uint32_t d = 1; d <= value; ++d) {
        if (value % d == 0) text += (text.empty() ? "" : ", ") + std::to_string(d);
    }
    return text;
}

void check_values(const TrainingConfig& config) {
    constexpr std::int64_t kMostRanks = 1 << 24;
    check_range("tp", config.tp, 1, kMostRanks);
    check_range("ep", config.ep, 1, kMostRanks);
    check_range("dp", config.dp, 1, kMostRanks);
    check_range("pp", config.pp, 1, kMostRanks);
    check_range("sequence", config.sequence, 1, 100'000'000);
    check_range("micro_batch", config.micro_batch, 1, 1'000'000);
    check_range("micro_batches", config.micro_batches, 1, 1'000'000);
    check_range("activation_bytes", config.activation_bytes, 1, 16);
    check_range("gradient_bytes", config.gradient_bytes, 1, 16);
    check_range("parameter_bytes", config.parameter_bytes, 1, 16);
    check_range("nvlink bytes per second", config.nvlink_bytes_per_second, 0,
                1'000'000'000'000'000);
    check_range("nvlink_latency (ps)", config.nvlink_latency, 0, kLongest);
    check_range("optimizer_time (ps)", config.optimizer_time, 0, kLongest);
    check_range("forward_time (ps)", config.forward_time, -1, kLongest);
    check_range("backward_time (ps)", config.backward_time, -1, kLongest);
    if (!(config.peak_flops >= 1e6 && config.peak_flops <= 1e21)) {
        throw ConfigError("peak_flops is out of range, allowed are 1e6 to 1e21 FLOP/s");
    }
    if (!(config.efficiency >= 1e-6 && config.efficiency <= 1)) {
        throw ConfigError("efficiency is out of range, allowed are 1e-6 to 1");
    }
}

void check_groups(const TrainingConfig& config, std::size_t hosts, std::uint32_t gpus_per_server) {
    const double ranks = double{1} * config.tp * config.dp * config.pp;
    if (ranks > static_cast<double>(hosts)) {
        throw ConfigError("tp " + std::to_string(config.tp) + " x dp " + std::to_string(config.dp) +
                          " x pp " + std::to_string(config.pp) +
                          " needs more GPUs than the topology's " + std::to_string(hosts));
    }
    if (gpus_per_server == 0 || gpus_per_server % config.tp != 0) {
        throw ConfigError("tp " + std::to_string(config.tp) +
                          " does not fit: a tensor-parallel group stays inside a server of " +
                          std::to_string(gpus_per_server) + " GPUs, allowed are " +
                          divisors(gpus_per_server));
    }
    const ModelShape& model = config.model;
    check_divides("the model's number of layers", model.layers, "pp", config.pp);
    check_divides("the model's number of heads", model.heads, "tp", config.tp);
    check_divides("sequence", config.sequence, "tp", config.tp);
    if (model.experts == 0) {
        if (config.ep != 1) {
            throw ConfigError("ep is " + std::to_string(config.ep) + " but model \"" + model.name +
                              "\" has no experts: allowed is 1");
        }
        return;
    }
    check_divides("the model's number of experts", model.experts, "ep", config.ep);
    if (config.ep <= config.dp) {
        check_divides("dp", config.dp, "ep", config.ep);
        return;
    }
    check_divides("ep (larger than dp)", config.ep, "dp", config.dp);
    check_divides("tp", config.tp, "ep / dp", config.ep / config.dp);
}

void check_sizes(const TrainingConfig& config) {
    const double tokens =
        static_cast<double>(config.sequence) * static_cast<double>(config.micro_batch);
    const double activation = tokens * static_cast<double>(config.model.hidden) *
                              static_cast<double>(std::max<std::int64_t>(1, config.model.top_k)) *
                              static_cast<double>(config.activation_bytes);
    const double gradients = static_cast<double>(count_parameters(config.model).total()) *
                             static_cast<double>(config.gradient_bytes + config.parameter_bytes);
    if (activation > kMostBytes || gradients > kMostBytes) {
        throw ConfigError("the job's messages exceed 1 PB: check sequence, micro_batch and model");
    }
    const double ranks = double{1} * config.tp * config.dp * config.pp;
    const double layers = static_cast<double>(config.model.layers) / config.pp;
    const double per_layer = config.ep > 1 ? 4.0 * (2.0 * config.ep + 2) : 0;
    const double operations =
        ranks * (config.micro_batches * (6 + layers * per_layer) + 8.0 * config.dp);
    if (operations > kMostOperations) {
        throw ConfigError("the job has about " + std::to_string(std::llround(operations / 1e6)) +
                          " million operations, at most " +
                          std::to_string(std::llround(kMostOperations / 1e6)) +
                          " million are allowed: check micro_batches, dp and ep");
    }
}

Tick to_ticks(double seconds, const char* what) {
    const double ticks = seconds * static_cast<double>(kSecond);
    if (!(ticks <= static_cast<double>(kLongest))) {
        throw ConfigError(std::string(what) +
                          " of one micro-batch lasts longer than a day: check peak_flops, "
                          "efficiency, sequence and micro_batch");
    }
    return std::llround(ticks);
}

/// One all-gather or reduce-scatter of a micro-batch's activation over tp ranks, by ring.
double tensor_parallel_seconds(const TrainingConfig& config) {
    if (config.tp == 1) return 0;
    const double bytes = static_cast<double>(config.activation_bytes * config.micro_batch *
                                             config.sequence * config.model.hidden);
    double seconds = static_cast<double>(config.nvlink_latency) / static_cast<double>(kSecond);
    if (config.nvlink_bytes_per_second > 0) {
        seconds += bytes * (config.tp - 1) / config.tp /
                   static_cast<double>(config.nvlink_bytes_per_second);
    }
    return seconds;
}

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

}  // namespace

void check_training(const TrainingConfig& config, std::size_t hosts,
                    std::uint32_t gpus_per_server) {
    check_model(config.model);
    check_values(config);
    check_groups(config, hosts, gpus_per_server);
    check_sizes(config);
}

TrainingCosts training_costs(const TrainingConfig& config) {
    const ModelShape& model = config.model;
    const std::int64_t stage_layers = model.layers / config.pp;
    const auto layers = static_cast<double>(stage_layers);
    const ForwardFlops flops = forward_flops(model, config.micro_batch, config.sequence);
    const double speed = config.tp * config.peak_flops * config.efficiency;
    const double exchange = tensor_parallel_seconds(config);

    // Sequence parallelism: all-gather before and reduce-scatter after attention and MLP; the
    // backward pass also gathers each block's input again.
    const double attention = flops.attention / speed + 2 * exchange;
    const double mlp = flops.mlp / speed + 2 * exchange;
    const double head = flops.head / speed / config.pp;
    TrainingCosts costs;
    costs.attention_share = attention / (attention + mlp);
    costs.forward = config.forward_time >= 0
                        ? config.forward_time
                        : to_ticks(layers * (attention + mlp) + head, "the forward pass");
    const double backward_compute = 2 * (layers * (flops.attention + flops.mlp) / speed + head);
    costs.backward = config.backward_time >= 0
                         ? config.backward_time
                         : to_ticks(backward_compute + layers * 6 * exchange, "the backward pass");

    const std::int64_t activation =
        config.activation_bytes * config.micro_batch * config.sequence * model.hidden / config.tp;
    costs.boundary_bytes = activation;
    if (config.ep > 1) costs.all_to_all_bytes = activation * model.top_k;

    const ParameterCount parameters = count_parameters(model);
    const std::int64_t shards = std::int64_t{config.tp} * config.pp;
    costs.dense_parameters = divide_up(parameters.dense, shards);
    costs.expert_parameters =
        divide_up(parameters.experts, shards * std::min(config.ep, config.dp));
    return costs;
}

std::vector<std::vector<RankId>> expert_groups(const TrainingConfig& config) {
    const std::uint32_t replicas = std::min(config.ep, config.dp);
    const std::uint32_t tp_width = config.ep / replicas;
    std::vector<std::vector<RankId>> groups;
    for (std::uint32_t dp = 0; dp < config.dp; dp += replicas) {
        for (std::uint32_t tp = 0; tp < config.tp; tp += tp_width) {
            std::vector<RankId> group;
            for (std::uint32_t d = dp; d < dp + replicas; ++d) {
                for (std::uint32_t t = tp; t < tp + tp_width; ++t) {
                    group.push_back(d * config.tp + t);
                }
            }
            groups.push_back(std::move(group));
        }
    }
    return groups;
}

}  // namespace sluice
