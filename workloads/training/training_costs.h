// SPDX-License-Identifier: Apache-2.0
/// The formulae behind a training iteration: what each stage computes, for how long, and how large
/// its messages are. Equations: workloads/model/{model,messages,roofline}.h, docs/models/workload.md.
/// Backward is twice forward, of which the gradients of weights are one part for every matrix and
/// none for attention scores; recomputation adds the forward time of what it computes again.
/// Errors: ConfigError where a time is beyond a day.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/model/messages.h"
#include "workloads/training/training.h"

namespace sluice {

/// Of every computation of a training.
inline constexpr Tick kLongest = 24 * 3600 * kSecond;

/// Forward seconds of one layer on one rank; only their proportions matter where times are given.
struct LayerCosts {
    double attention = 0;
    double scores = 0;  ///< the part of attention that has no weights
    double mlp = 0;     ///< a mixture's active and shared experts
    double routed = 0;  ///< the part of `mlp` that is routed experts
    bool mixture = false;
};

/// One part of the model, on one rank of those that share it.
struct StageCosts {
    LayerRange range;
    std::vector<LayerCosts> layers;
    double head = 0;  ///< seconds

    Tick forward = 0;   ///< compute of one micro-batch
    Tick backward = 0;  ///< whole: recomputation and gradients of weights included
    Tick weight = 0;    ///< the latter
    /// Tensor parallelism inside a server, stage detail: beside the above.
    Tick forward_tensor = 0;
    Tick backward_tensor = 0;

    std::int64_t dense_parameters = 0;   ///< of a rank
    std::int64_t expert_parameters = 0;  ///< of a rank
};

struct TrainingCosts {
    std::vector<StageCosts> stages;  ///< as many as the pipeline has, chunks counted
    bool given_times = false;
    std::int64_t boundary_bytes = 0;       ///< one micro-batch's activation between stages
    std::int64_t tensor_bytes = 0;         ///< the full tensor of one exchange
    std::int64_t expert_tensor_bytes = 0;  ///< the same inside an expert, over its own group
    std::int64_t dispatch_bytes = 0;       ///< a rank's buffer in one all-to-all; 0: none happens
    std::int64_t combine_bytes = 0;
    std::int64_t context_bytes = 0;  ///< one block of keys and values
    std::int64_t expert_count_bytes = 0;
    std::int64_t cross_entropy_bytes = 0;
    std::int64_t tied_embedding_bytes = 0;
};

MessageShape message_shape(const TrainingConfig& config);

/// The linear model of communication inside a server that `config` asks for.
IntraNode intra_node_of(const TrainingConfig& config);

TrainingCosts training_costs(const TrainingConfig& config);

}  // namespace sluice
