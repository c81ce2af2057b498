// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/training_memory.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/error.h"
#include "workloads/training/expert_load.h"
#include "workloads/training/training_costs.h"

namespace sluice {

namespace {

/// Smaller parts are left out: they would read 0.0 GB.
constexpr std::int64_t kShown = 50'000'000;

double gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

/// Of the layer where it is worst: the fullest member of an expert group over the mean.
double fullest_member(const TrainingConfig& config) {
    const ExpertLoad& load = config.expert_load;
    if (config.model.experts == 0 || config.ep == 1 || load.exponent <= 0) return 1;
    double most = 1;
    for (std::int64_t layer = 0; layer < config.model.layers; ++layer) {
        const std::vector<double> shares = member_shares(
            expert_shares(load, config.model.experts, config.model.top_k, layer), config.ep);
        most = std::max(most, *std::max_element(shares.begin(), shares.end()) * config.ep);
    }
    return most;
}

/// A ring has two neighbours; an all-to-all everybody.
std::int64_t connected_ranks(const TrainingConfig& config) {
    std::int64_t peers = 0;
    for (const std::uint32_t degree : {config.tp, config.cp, config.dp * config.cp, config.pp}) {
        peers += std::min<std::int64_t>(2, degree - 1);
    }
    return peers + config.ep - 1;
}

MemoryInputs common_inputs(const TrainingConfig& config) {
    MemoryInputs inputs;
    inputs.model = config.model;
    inputs.pipeline = config.pipeline();
    inputs.sequence = config.sequence;
    inputs.micro_batch = config.micro_batch;
    inputs.tp = config.tp;
    inputs.cp = config.cp;
    inputs.sequence_parallel = config.sequence_parallel;
    inputs.replicas = std::int64_t{config.cp} * config.dp;
    inputs.expert_replicas = ParallelGroups(config).expert_copies();
    inputs.zero = config.zero;
    inputs.parameter_bytes = static_cast<double>(config.parameter_bytes);
    inputs.gradient_bytes = static_cast<double>(config.gradient_bytes);
    inputs.recomputation = config.recompute;
    inputs.flash_attention = config.flash_attention;
    inputs.dropout = config.dropout;
    inputs.activation_factor = config.activation_factor;
    inputs.capacity_factor = fullest_member(config);
    inputs.bucket_bytes = config.bucket_bytes;
    inputs.nccl_peers = connected_ranks(config);
    return inputs;
}

}  // namespace

TrainingMemory training_memory(const TrainingConfig& config) {
    const TrainingCosts costs = training_costs(config);
    MemoryInputs inputs = common_inputs(config);
    TrainingMemory worst;
    for (std::uint32_t rank = 0; rank < config.pp; ++rank) {
        inputs.pipeline_rank = rank;
        inputs.chunks.clear();
        for (std::uint32_t chunk = 0; chunk < chunks_per_rank(inputs.pipeline); ++chunk) {
            const StageCosts& stage = costs.stages[stage_of(inputs.pipeline, rank, chunk)];
            inputs.chunks.push_back(
                {stage.range, {stage.dense_parameters, stage.expert_parameters}});
            // ZeRO-3 holds a layer and the one gathered ahead of it.
            const std::int64_t layers = std::max<std::int64_t>(1, stage.range.count);
            inputs.live_parameters =
                2 * (stage.dense_parameters + stage.expert_parameters) / layers;
        }
        const MemoryUse use = memory_use(inputs);
        if (rank == 0 || use.total() > worst.use.total()) worst = {rank, use};
    }
    return worst;
}

std::string describe_memory(const TrainingMemory& memory, std::int64_t capacity) {
    std::string text = fmt::format("{:.1f} GB", gigabytes(memory.use.total()));
    if (capacity > 0) text += fmt::format(" of {:.1f} GB", gigabytes(capacity));
    text += fmt::format(" per GPU on pipeline rank {}: ", memory.pipeline_rank);
    bool first = true;
    for (const auto& [name, bytes] : memory.use.parts()) {
        if (bytes < kShown) continue;
        text += fmt::format("{}{} {:.1f}", first ? "" : ", ", name, gigabytes(bytes));
        first = false;
    }
    return text;
}

void check_memory(const TrainingMemory& memory, std::int64_t capacity) {
    if (capacity <= 0 || !is_out_of_memory(memory.use, capacity)) return;
    throw OutOfMemoryError(fmt::format(
        "out of memory: {} GB; at most {:.0f}% may be planned with: use more tp, pp, zero or "
        "recompute, or run it all the same with allow_oom = true",
        describe_memory(memory, capacity), 100 * kUsableMemory));
}

}  // namespace sluice
