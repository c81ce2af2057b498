// SPDX-License-Identifier: Apache-2.0
/// One iteration of synchronous training as a job graph (docs/models/workload.md).
/// Ranks are tp-dp-pp: tp fastest, pp outermost. Each stage computes its micro-batches in 1F1B
/// order; boundary activations and gradients travel between the same (tp, dp) of neighbouring
/// stages; after a rank's last backward its gradients are reduce-scattered and the updated
/// parameters all-gathered, as rings over the data-parallel group. Mixtures exchange tokens by
/// all-to-all, twice a layer forward and twice backward. Tensor and sequence parallelism stays
/// inside a server and is analytic: its time is part of the compute time.
/// Errors: a group that does not divide or fit throws ConfigError saying what is allowed.
#pragma once

#include "core/topology/topology.h"
#include "workloads/job/workload.h"
#include "workloads/model/gpu.h"
#include "workloads/model/model.h"

namespace sluice {

struct TrainingConfig {
    ModelShape model;
    std::uint32_t tp = 1;
    std::uint32_t ep = 1;
    std::uint32_t dp = 1;
    std::uint32_t pp = 1;
    std::int64_t sequence = 2048;       ///< tokens
    std::int64_t micro_batch = 1;       ///< sequences
    std::uint32_t micro_batches = 1;    ///< per replica and iteration
    std::int64_t activation_bytes = 2;  ///< per value at stage boundaries and in all-to-alls
    std::int64_t gradient_bytes = 4;    ///< per parameter, reduce-scattered
    std::int64_t parameter_bytes = 2;   ///< per parameter, all-gathered

    /// Compute of one micro-batch on one stage; negative: FLOPs / (peak x efficiency), backward
    /// twice forward, plus the analytic tensor-parallel time. Given times are taken as they are.
    Tick forward_time = -1;
    Tick backward_time = -1;
    Tick optimizer_time = 0;  ///< between reduce-scatter and all-gather
    double peak_flops = 312e12;
    double efficiency = 0.5;

    /// Communication inside a server: each operation takes latency + bytes / bandwidth.
    std::int64_t nvlink_bytes_per_second = 240'000'000'000;  ///< 0: unlimited
    Tick nvlink_latency = 11'800 * kNanosecond;  ///< NCCL's ring, Simple protocol, per operation

    std::uint32_t all_to_all_window = 0;  ///< unfinished sends per rank and all-to-all; 0: all
};

/// What the formulae make of a configuration, per rank.
struct TrainingCosts {
    Tick forward = 0;  ///< one micro-batch on a stage, intra-server time included
    Tick backward = 0;
    double attention_share = 0;          ///< part of a layer's time that precedes its all-to-all
    std::int64_t boundary_bytes = 0;     ///< one micro-batch's activation between stages
    std::int64_t all_to_all_bytes = 0;   ///< a rank's buffer in one all-to-all; 0: none happens
    std::int64_t dense_parameters = 0;   ///< reduced over dp
    std::int64_t expert_parameters = 0;  ///< reduced over dp / min(ep, dp)
};

/// Throws ConfigError unless `config` fits `hosts` hosts in servers of `gpus_per_server`.
void check_training(const TrainingConfig& config, std::size_t hosts, std::uint32_t gpus_per_server);

TrainingCosts training_costs(const TrainingConfig& config);

/// The expert-parallel groups of stage 0: lists of ranks, each in ring order. Where ep <= dp a
/// group is ep consecutive replicas at one tp index; where ep > dp it is all dp replicas at ep / dp
/// consecutive tp indices. Those of stage s are tp x dp x s higher.
std::vector<std::vector<RankId>> expert_groups(const TrainingConfig& config);

/// Checks `config` and builds the iteration's graph, finished.
JobGraph training_graph(const TrainingConfig& config, std::size_t hosts,
                        std::uint32_t gpus_per_server);

/// The iteration on a topology: rank r is hosts()[r].
Workload training_workload(const TrainingConfig& config, const Topology& topology);

}  // namespace sluice
