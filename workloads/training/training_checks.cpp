// SPDX-License-Identifier: Apache-2.0
/// What a training configuration must be.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/error.h"
#include "core/text/human.h"
#include "core/text/quantity.h"
#include "workloads/training/training.h"
#include "workloads/training/training_costs.h"

namespace sluice {

namespace {

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

void check_number(const char* key, double value, double least, double most, const char* allowed) {
    if (!(value >= least && value <= most)) {
        throw ConfigError(std::string(key) + " is out of range, allowed are " + allowed);
    }
}

void check_time(const char* key, Tick value, Tick least) {
    if (value < least || value > kLongest) {
        throw ConfigError(std::string(key) + " is " + format_time(value) + ", allowed are 0 to " +
                          format_time(kLongest));
    }
}

/// "1, 2, 4"; of a value with too many to look for: what they are.
std::string divisors(std::int64_t value) {
    if (value > 65536) return "divisors of " + std::to_string(value);
    std::string text;
    for (std::int64_t d = 1; d <= value; ++d) {
        if (value % d == 0) text += (text.empty() ? "" : ", ") + std::to_string(d);
    }
    return text;
}

void check_divides(const char* what, std::int64_t value, const char* by, std::int64_t divisor) {
    if (value % divisor != 0) {
        throw ConfigError(std::string(what) + " " + std::to_string(value) +
                          " is not divisible by " + by + " " + std::to_string(divisor) + ": " + by +
                          " may be " + divisors(value));
    }
}

void check_degrees(const TrainingConfig& config) {
    constexpr std::int64_t kMostRanks = 1 << 24;
    check_range("tp", config.tp, 1, kMostRanks);
    check_range("cp", config.cp, 1, kMostRanks);
    check_range("ep", config.ep, 1, kMostRanks);
    check_range("dp", config.dp, 1, kMostRanks);
    check_range("pp", config.pp, 1, kMostRanks);
    check_range("sequence", config.sequence, 1, 100'000'000);
    check_range("micro_batch", config.micro_batch, 1, 1'000'000);
    check_range("micro_batches", config.micro_batches, 1, 1'000'000);
    check_range("zero", config.zero, 0, 3);
}

void check_sizes_and_times(const TrainingConfig& config) {
    check_range("activation_bytes", config.activation_bytes, 1, 16);
    check_range("gradient_bytes", config.gradient_bytes, 1, 16);
    check_range("parameter_bytes", config.parameter_bytes, 1, 16);
    check_range("bucket_bytes", config.bucket_bytes, 0, 1'000'000'000'000'000);
    check_range("nvlink bytes per second", config.nvlink_bytes_per_second, 0,
                1'000'000'000'000'000);
    check_time("nvlink_latency", config.nvlink_latency, 0);
    check_time("optimizer_time", config.optimizer_time, 0);
    check_time("forward_time", config.forward_time, -1);
    check_time("backward_time", config.backward_time, -1);
    check_time("weight_time", config.weight_time, -1);
    check_time("collective_overhead", config.collective_overhead, 0);
    check_time("step_overhead", config.step_overhead, 0);
    check_number("peak_flops", config.peak_flops, 1e6, 1e21, "1e6 to 1e21 FLOP/s");
    check_number("efficiency", config.efficiency, 1e-6, 1, "1e-6 to 1");
    check_number("compute_jitter", config.compute_jitter, 0, 1, "0 to 1");
    for (const double slowdown :
         {config.overlap_slowdown.matrices, config.overlap_slowdown.attention,
          config.overlap_slowdown.memory}) {
        check_number("overlap_slowdown", slowdown, 0, 100, "0 to 100");
    }
    check_number("expert_skew", config.expert_load.exponent, 0, 10, "0 to 10");
    check_number("expert_capacity", config.expert_load.capacity, 0, 1e6, "0 to 1e6");
    check_number("dispatch_factor", config.dispatch_factor, 1e-3, 16, "0.001 to 16");
    if (config.weight_time >= 0 &&
        (config.backward_time < 0 || config.weight_time > config.backward_time)) {
        throw ConfigError("weight_time is a part of backward_time: that must be given and longer");
    }
    if ((config.forward_time >= 0) != (config.backward_time >= 0) && config.tp > 1 &&
        config.detail == TrainingDetail::layer) {
        throw ConfigError(
            "forward_time and backward_time: with layers in detail both are given or neither");
    }
}

void check_strategy(const TrainingConfig& config) {
    check_order(config);
    check_pipeline(config.pipeline());
    if (config.zero == 3 && (config.overlap_gradients || config.overlap_parameters)) {
        throw ConfigError(
            "overlap_gradients and overlap_parameters: with zero = 3 both always overlap, allowed "
            "is false");
    }
    if (config.tied_embeddings && config.model.untied_head) {
        throw ConfigError("tied_embeddings: the head of model \"" + config.model.name +
                          "\" has a matrix of its own, allowed is false");
    }
    if (config.zero == 0 && config.overlap_parameters) {
        throw ConfigError(
            "overlap_parameters: with zero = 0 no parameters are gathered, allowed is false");
    }
}

void check_server(const TrainingConfig& config, std::uint32_t gpus_per_server) {
    const bool fits = gpus_per_server > 0 && gpus_per_server % config.tp == 0;
    const bool whole = gpus_per_server > 0 && config.tp % gpus_per_server == 0;
    if (fits || (config.tp_across_servers && whole)) return;
    throw ConfigError("tp " + std::to_string(config.tp) +
                      " does not fit: a tensor-parallel group stays inside a server of " +
                      std::to_string(gpus_per_server) + " GPUs, allowed are " +
                      divisors(gpus_per_server) +
                      "; or, with tp_across_servers = true, a multiple of that");
}

/// "13 stages of 4 and 3 stages of 3".
std::string even_layers(const ModelShape& model, std::int64_t stages) {
    const std::int64_t less = model.layers / stages;
    const std::int64_t longer = model.layers % stages;
    std::string text;
    const auto add = [&](std::int64_t count, std::int64_t layers) {
        if (count == 0) return;
        text += (text.empty() ? "" : " and ") +
                counted(static_cast<std::size_t>(count), "stage", "stages") + " of " +
                std::to_string(layers);
    };
    add(longer, less + 1);
    add(stages - longer, less);
    return text;
}

void check_layers_per_stage(const TrainingConfig& config, std::int64_t stages) {
    const std::vector<std::int64_t>& layers = config.layers_per_stage;
    if (layers.empty()) return;
    const std::string even = "; as even as can be are " + even_layers(config.model, stages);
    if (config.split != StageSplit::layers) {
        throw ConfigError(
            "layers_per_stage: split = \"even\" has no whole layers, allowed is \"layers\"");
    }
    if (layers.size() != static_cast<std::size_t>(stages)) {
        throw ConfigError("layers_per_stage has " + std::to_string(layers.size()) +
                          " numbers, the pipeline " + std::to_string(stages) + " stages" + even);
    }
    std::int64_t sum = 0;
    for (const std::int64_t count : layers) {
        check_range("layers_per_stage", count, 1, config.model.layers);
        sum += count;
    }
    if (sum != config.model.layers) {
        throw ConfigError("layers_per_stage adds up to " + std::to_string(sum) +
                          " layers, the model has " + std::to_string(config.model.layers) + even);
    }
}

void check_stages(const TrainingConfig& config) {
    const ModelShape& model = config.model;
    const std::int64_t stages = std::int64_t{config.pp} * config.chunks;
    const std::string name = stages == config.pp ? "pp" : "pp x chunks";
    if (stages > model.layers) {
        throw ConfigError(name + " is " + std::to_string(stages) + ", the model has " +
                          std::to_string(model.layers) + " layers: allowed are 1 to " +
                          std::to_string(model.layers));
    }
    check_layers_per_stage(config, stages);
    if (config.split == StageSplit::layers || model.layers % stages == 0) return;
    throw ConfigError("the model's number of layers " + std::to_string(model.layers) +
                      " is not divisible by " + name + " " + std::to_string(stages) + ": " + name +
                      " may be " + divisors(model.layers) +
                      "; or, with split = \"layers\", any up to " + std::to_string(model.layers) +
                      " (" + even_layers(model, stages) + ")");
}

void check_groups(const TrainingConfig& config, std::size_t hosts, std::uint32_t gpus_per_server) {
    const double ranks = double{1} * config.tp * config.cp * config.dp * config.pp;
    if (ranks > static_cast<double>(hosts)) {
        const std::string context =
            config.cp > 1 ? " x cp " + std::to_string(config.cp) : std::string();
        throw ConfigError("tp " + std::to_string(config.tp) + context + " x dp " +
                          std::to_string(config.dp) + " x pp " + std::to_string(config.pp) +
                          " needs more GPUs than the topology's " + std::to_string(hosts));
    }
    check_server(config, gpus_per_server);
    const ModelShape& model = config.model;
    check_stages(config);
    check_divides("the model's number of heads", model.heads, "tp", config.tp);
    check_divides("sequence", config.sequence, "cp", config.cp);
    if (config.sequence_parallel) {
        check_divides("sequence", config.sequence / config.cp, "tp", config.tp);
    }
    check_stragglers(config);
}

/// Expert groups are of replicas' GPUs, or of whole replicas' and as many parts of their tensor-parallel groups.
bool ep_fits(const TrainingConfig& config, std::int64_t ep) {
    const std::int64_t copies = std::int64_t{config.cp} * config.dp;
    if (config.model.experts % ep != 0) return false;
    if (ep <= copies) return copies % ep == 0;
    return ep % copies == 0 && config.tp % (ep / copies) == 0;
}

std::string fitting_eps(const TrainingConfig& config) {
    const std::int64_t most =
        std::min(config.model.experts, std::int64_t{config.cp} * config.dp * config.tp);
    std::string text;
    for (std::int64_t ep = 1; ep <= most; ++ep) {
        if (ep_fits(config, ep)) text += (text.empty() ? "" : ", ") + std::to_string(ep);
    }
    return text;
}

void check_experts(const TrainingConfig& config) {
    const ModelShape& model = config.model;
    if (model.experts == 0) {
        if (config.ep != 1) {
            throw ConfigError("ep is " + std::to_string(config.ep) + " but model \"" + model.name +
                              "\" has no experts: allowed is 1");
        }
        return;
    }
    if (ep_fits(config, config.ep)) return;
    const std::string copies = config.cp > 1 ? "cp x dp" : "dp";
    const std::string number = std::to_string(config.cp * config.dp);
    throw ConfigError("ep " + std::to_string(config.ep) + " does not fit: ep must divide the " +
                      std::to_string(model.experts) + " experts, and divide " + copies + " " +
                      number + " or be " + copies + " times a divisor of tp " +
                      std::to_string(config.tp) + ": allowed are " + fitting_eps(config));
}

bool on_network(const TrainingConfig& config, std::uint32_t gpus_per_server) {
    return config.tp > 1 && (config.network_in_server || config.tp > gpus_per_server);
}

/// Operations per rank of one reduction and gathering of gradients, the same: rings and what else has a step a
/// member, or halving and doubling, which has one a power of two.
double gradient_operations(const TrainingConfig& config) {
    const double copies = double{1} * config.cp * config.dp;
    const auto halves = [&](CollectiveKind kind) {
        const auto index = static_cast<std::size_t>(kind);
        return index < config.algorithms.size() &&
               config.algorithms[index] == CollectiveAlgorithm::halving_doubling;
    };
    const bool all = config.zero == 0 ? halves(CollectiveKind::all_reduce)
                                      : halves(CollectiveKind::reduce_scatter) &&
                                            halves(CollectiveKind::all_gather);
    return 8.0 * (all ? std::log2(copies) + 2 : copies);
}

/// Operations per rank, roughly and rather too many.
double operations_per_rank(const TrainingConfig& config, std::uint32_t gpus_per_server) {
    const double chunks = chunks_per_rank(config.pipeline());
    const double copies = double{1} * config.cp * config.dp;
    const double slots = config.micro_batches * chunks;
    const double layers = static_cast<double>(config.model.layers) / config.pp;
    double operations = slots * 8 + gradient_operations(config);
    const bool network = on_network(config, gpus_per_server);
    if (training_detail(config, network) == TrainingDetail::stage && config.ep > 1) {
        operations += 2 * slots * (2.0 * config.ep + 2);
    }
    if (training_detail(config, network) == TrainingDetail::layer) {
        double per_layer = 10;
        if (config.ep > 1) per_layer += 4.0 * (2.0 * config.ep + 2);
        if (config.cp > 1) per_layer += 10.0 * config.cp;
        if (config.tp > 1) per_layer += 10.0 * (network ? 2.0 * config.tp : 1);
        if (config.zero == 3) per_layer += 6.0 * copies;
        operations += config.micro_batches * layers * per_layer;
    }
    if (config.bucket_bytes > 0) {
        const double bytes = static_cast<double>(count_parameters(config.model).total()) *
                             static_cast<double>(config.gradient_bytes) / config.tp / config.pp;
        operations +=
            gradient_operations(config) * bytes / static_cast<double>(config.bucket_bytes);
    }
    return operations;
}

void check_amounts(const TrainingConfig& config, std::uint32_t gpus_per_server) {
    const double tokens =
        static_cast<double>(config.sequence) * static_cast<double>(config.micro_batch);
    const double activation = tokens * static_cast<double>(config.model.hidden) *
                              static_cast<double>(std::max<std::int64_t>(1, config.model.top_k)) *
                              static_cast<double>(config.activation_bytes);
    // At stage detail all of a stage's exchanges are one; with recomputation six a layer.
    const bool summed = config.detail == TrainingDetail::stage && config.ep > 1;
    const double message =
        summed ? 6 * static_cast<double>(config.model.layers) * activation : activation;
    const double gradients = static_cast<double>(count_parameters(config.model).total()) *
                             static_cast<double>(config.gradient_bytes + config.parameter_bytes);
    if (message > kMostBytes || gradients > kMostBytes) {
        throw ConfigError("the job's messages exceed 1 PB: check sequence, micro_batch and model");
    }
    const double ranks = double{1} * config.tp * config.cp * config.dp * config.pp;
    const double operations = ranks * operations_per_rank(config, gpus_per_server);
    if (operations > kMostOperations) {
        throw ConfigError("the job has about " + std::to_string(std::llround(operations / 1e6)) +
                          " million operations, at most " +
                          std::to_string(std::llround(kMostOperations / 1e6)) +
                          " million are allowed: check micro_batches, dp, ep and bucket_bytes");
    }
}

/// What a sum over a slot cannot show.
bool needs_layers(const TrainingConfig& config, bool tensor_on_network) {
    return config.cp > 1 || config.zero == 3 || config.overlap_gradients ||
           config.overlap_parameters || tensor_on_network;
}

void check_stage_detail(const TrainingConfig& config, std::uint32_t gpus_per_server) {
    if (config.detail != TrainingDetail::stage) return;
    if (needs_layers(config, on_network(config, gpus_per_server))) {
        throw ConfigError(
            "detail = \"stage\" cannot show cp, zero = 3, overlap or tensor parallelism over the "
            "network: allowed is \"layer\"");
    }
    if (config.ep == 1) return;
    const char* uneven = config.expert_load.exponent > 0 ? "expert_skew"
                         : config.expert_load.uneven()   ? "expert_capacity below 1"
                         : config.node_limit > 0         ? "node_limit"
                         : config.small_reductions       ? "small_reductions"
                                                         : nullptr;
    if (uneven == nullptr) return;
    throw ConfigError("detail = \"stage\" sums up the exchange with experts and cannot show " +
                      std::string(uneven) + ": allowed is \"layer\", or to leave it out");
}

}  // namespace

void check_stragglers(const TrainingConfig& config) {
    std::set<RankId> seen;
    for (const Straggler& straggler : config.stragglers) {
        if (straggler.rank >= config.ranks()) {
            throw ConfigError("straggler: rank " + std::to_string(straggler.rank) +
                              " does not exist, ranks are 0 to " +
                              std::to_string(config.ranks() - 1));
        }
        if (!seen.insert(straggler.rank).second) {
            throw ConfigError("straggler: rank " + std::to_string(straggler.rank) +
                              " is given twice, allowed is one factor per rank");
        }
        check_number("straggler: factor", straggler.factor, 0.01, 1000, "0.01 to 1000");
    }
}

TrainingDetail training_detail(const TrainingConfig& config, bool tensor_on_network) {
    if (config.detail == TrainingDetail::layer) return TrainingDetail::layer;
    if (needs_layers(config, tensor_on_network)) return TrainingDetail::layer;
    const bool exchanges = config.detail == TrainingDetail::automatic && config.ep > 1;
    return exchanges ? TrainingDetail::layer : TrainingDetail::stage;
}

void check_training(const TrainingConfig& config, std::size_t hosts,
                    std::uint32_t gpus_per_server) {
    check_model(config.model);
    check_degrees(config);
    check_sizes_and_times(config);
    check_strategy(config);
    check_groups(config, hosts, gpus_per_server);
    check_experts(config);
    check_stage_detail(config, gpus_per_server);
    check_amounts(config, gpus_per_server);
}

}  // namespace sluice
