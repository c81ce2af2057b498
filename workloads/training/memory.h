// SPDX-License-Identifier: Apache-2.0
/// Memory that one GPU needs in training, by part: an estimate, made before a run, of whether a job
/// fits. t tensor-parallel ranks, s tokens of a micro-batch's b sequences on this rank (the sequence
/// divided by context parallelism), h hidden, f MLP width, a heads, d replicas that share state.
///   state         per parameter 2 B of weights, 2 or 4 B of gradients, 12 B of Adam (fp32 master
///                 copy and both moments); ZeRO divides by d (Rajbhandari et al., SC 2020, section
///                 5): 1 Adam, 2 gradients too, 3 weights too. Experts divide by their own replicas.
///                 Megatron's distributed optimizer is ZeRO 1 with gradients of 4 B: 6 + 12 / d
///   layer         Korthikanti et al. (MLSys 2023), equations 1 to 4, by tensor: of the plain GPT
///                 layer 34 s b h + 5 a s^2 b without parallelism; 10 + 24 / t where norms, inputs
///                 and dropout masks are whole on each tensor-parallel rank; all of it / t with
///                 sequence parallelism. Selective recomputation and fused attention drop the scores
///                 (5 a s^2 b), full recomputation keeps 2 s b h, the layer's input
///     attention   norm and projection inputs 4 h, mask h; queries, keys, values and the output's
///                 input 2 B each at their own widths (8 h in the plain case)
///     MLP         norm and MLP inputs 4 h, mask h; inside 4 f, gated 8 f
///     mixture     norm and router inputs 4 h, logits and probabilities 8 E; per copy of a token
///                 (k x capacity factor of them) input 2 h, mask h and the inside of an expert
///     latent      its two latent vectors before and after their norms more
///   head          its and the final norm's input 4 s b h; logits s b V (2 + 4) / t
///   embedding     dropout mask s b h
///   split backward  gradients of weights still need the matrices' inputs and their outputs'
///                 gradients: 32 s b h of the plain layer (Qi et al., ICLR 2024, table 1)
/// Activations are counted at the moment of the schedule's order when they are most. DualPipe holds
/// two stages; ZeRO then shares their state among twice the replicas, as both ranks that hold a
/// stage do.
/// Estimates, to be set by whoever has measured: gated and mixture layers, fixed parts,
/// fragmentation. Not modelled: temporary tensors within an operation, KV caches, offloading.
/// Errors: ConfigError if a value is out of range, InternalError if the chunks do not fit the
/// schedule.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/model/model.h"
#include "workloads/training/schedule.h"

namespace sluice {

enum class Recomputation : std::uint8_t {
    none,
    selective,  ///< attention scores
    full,       ///< whole layers, of which only the input is kept
};

/// Model chunk of the rank, in the order of PipelineSlot::chunk.
struct MemoryChunk {
    LayerRange layers;
    RankParameters parameters;
};

struct MemoryInputs {
    ModelShape model;
    PipelineShape pipeline;
    std::uint32_t pipeline_rank = 0;
    std::vector<MemoryChunk> chunks;  ///< chunks_per_rank() of them

    std::int64_t sequence = 2048;  ///< tokens, before context parallelism
    std::int64_t micro_batch = 1;  ///< sequences
    std::int64_t tp = 1;
    std::int64_t cp = 1;
    bool sequence_parallel = true;
    std::int64_t replicas = 1;         ///< that hold the same dense parameters: dp x cp
    std::int64_t expert_replicas = 1;  ///< that hold the same experts: dp x cp / ep

    std::int64_t zero = 0;  ///< 0 to 3
    double parameter_bytes = 2;
    double gradient_bytes = 2;  ///< 4: fp32 main gradients
    double optimizer_bytes = 12;
    std::int64_t live_parameters =
        0;  ///< ZeRO 3: gathered weights at once, prefetched ones included

    Recomputation recomputation = Recomputation::none;
    bool flash_attention = true;  ///< scores are never stored
    bool shard_saved_inputs =
        false;  ///< full recomputation: each rank keeps 1 / tp of a layer's input
    bool dropout = true;
    double capacity_factor = 1;  ///< the fullest rank's token copies over the mean
    /// What a layer really keeps over what the formulae say: implementations that fuse or free more
    /// are below 1. Inputs kept by full recomputation are not scaled.
    double activation_factor = 1;

    std::int64_t bucket_bytes = 0;  ///< communication buckets beside the gradients themselves
    std::int64_t nccl_channels = 16;
    std::int64_t nccl_peers = 0;  ///< connected ranks, summed over the communicators
    std::int64_t nccl_bytes_per_channel = 4 << 20;
    std::int64_t context_bytes = 750'000'000;    ///< CUDA context
    std::int64_t workspace_bytes = 750'000'000;  ///< of the libraries
    double fragmentation =
        0.05;  ///< of what the framework's allocator gives: all but context and NCCL
};

/// Bytes on one GPU.
struct MemoryUse {
    std::int64_t weights = 0;
    std::int64_t gradients = 0;
    std::int64_t optimizer = 0;
    std::int64_t activations = 0;  ///< kept by layers and the head's input
    std::int64_t recomputed = 0;   ///< of the one layer that is being recomputed
    std::int64_t embedding = 0;    ///< dropout masks
    std::int64_t logits = 0;
    std::int64_t buffers = 0;  ///< buckets, gathered weights, NCCL
    std::int64_t fixed = 0;    ///< context and workspace
    std::int64_t fragmentation = 0;

    std::int64_t total() const;
    /// The parts with their names, in this order.
    std::vector<std::pair<const char*, std::int64_t>> parts() const;
};

MemoryUse memory_use(const MemoryInputs& inputs);

/// Part of a GPU's capacity that a job may plan with.
inline constexpr double kUsableMemory = 0.92;
bool is_out_of_memory(const MemoryUse& use, std::int64_t capacity_bytes);

/// Bytes that layer `layer` keeps of one micro-batch from its forward to its backward, and of those
/// what gradients of weights alone still need; recomputation is not applied.
struct LayerActivations {
    double whole = 0;   ///< without attention scores
    double scores = 0;  ///< attention scores, their softmax's output and dropout
    double weights_only = 0;
};
LayerActivations layer_activations(const MemoryInputs& inputs, std::int64_t layer);

}  // namespace sluice
