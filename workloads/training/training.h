// SPDX-License-Identifier: Apache-2.0
/// One iteration of synchronous training as a job graph (docs/models/workload.md).
/// Ranks lie on a grid of tensor, context, data and pipeline parallel indices (parallel_groups.h).
/// Each rank computes its micro-batches in the order of the pipeline schedule (schedule.h); boundary
/// activations and gradients travel between equal lanes of neighbouring stages. Gradients are
/// reduced over the copies of a stage as ZeRO's stage says, whole at the end or in buckets during
/// the last backward. Mixtures exchange tokens by all-to-all, twice a layer forward and twice
/// backward; context parallelism passes keys and values round a ring.
/// Detail. A slot (one micro-batch on one stage, forward or backward) is
///   stage  one compute operation, one more for the time of tensor parallelism inside a server, and
///          one all-to-all per expert group with the bytes of all of the layers' exchanges
///   layer  every layer's computing and collectives as operations of their own
/// Errors: a group that does not divide or fit, and a job that does not fit the GPUs' memory, throw
/// ConfigError saying what is allowed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/job/job_graph.h"
#include "core/topology/topology.h"
#include "workloads/collective/collective_library.h"
#include "workloads/model/model.h"
#include "workloads/model/overlap_slowdown.h"
#include "workloads/training/memory.h"
#include "workloads/training/parallel_groups.h"
#include "workloads/training/rank_places.h"
#include "workloads/training/schedule.h"

namespace sluice {

enum class TrainingDetail : std::uint8_t { automatic, stage, layer };

/// How the model is cut in stages. even: every stage has the same share of parameters and of
/// arithmetic, embeddings and head included. layers: layers are whole, embeddings lie on the first
/// stage, final norm and head on the last.
enum class StageSplit : std::uint8_t { even, layers };

/// Where compute times come from: FLOPs / (peak x efficiency); the roofline, which memory bounds
/// too; a profile measured per layer.
enum class ComputeSource : std::uint8_t { flops, roofline, profile };

/// How much work experts get. Popularities of a layer's experts follow Zipf's law with `exponent`
/// (0: even), in an order drawn by (seed, layer).
struct ExpertLoad {
    double exponent = 0;
    std::uint64_t seed = 1;
    /// Copies of tokens that an expert takes, in multiples of the mean; the rest is dropped.
    /// 0: experts take all.
    double capacity = 0;

    /// Whether members of an expert group get other shares than an equal split.
    bool uneven() const { return exponent > 0 || (capacity > 0 && capacity < 1); }
};

/// `rank` computes this many times as slowly.
struct Straggler {
    RankId rank = 0;
    double factor = 1;
};

struct TrainingConfig : ParallelDegrees {
    ModelShape model;
    bool sequence_parallel = true;
    bool tp_across_servers = false;  ///< allowed, over the network
    StageSplit split = StageSplit::even;
    /// By stage, StageSplit::layers only; empty: as even as can be, the first stages have one more.
    std::vector<std::int64_t> layers_per_stage;
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    std::uint32_t chunks = 1;                       ///< per rank; interleaved only
    Recomputation recompute = Recomputation::none;  ///< adds forward time to the backward pass
    TrainingDetail detail = TrainingDetail::automatic;

    std::int64_t sequence = 2048;       ///< tokens
    std::int64_t micro_batch = 1;       ///< sequences
    std::uint32_t micro_batches = 1;    ///< per replica and iteration
    std::int64_t activation_bytes = 2;  ///< per value at stage boundaries and in all-to-alls
    std::int64_t gradient_bytes = 4;    ///< per parameter, reduced
    std::int64_t parameter_bytes = 2;   ///< per parameter, all-gathered

    /// 0: gradients are all-reduced. 1, 2: reduce-scattered, and updated parameters all-gathered
    /// (Megatron-LM's distributed optimizer). 3: every layer's parameters are gathered before its
    /// forward and its backward, its gradients scattered after each backward.
    std::uint32_t zero = 1;
    std::int64_t bucket_bytes = 0;    ///< of gradients, reduced at a time; 0: all of a rank's
    bool overlap_gradients = false;   ///< a bucket is reduced as soon as the last backward made it
    bool overlap_parameters = false;  ///< parameters are gathered during the next forward
    bool tied_embeddings = false;     ///< first and last stage sum the tied embedding's gradients
    bool small_reductions = false;    ///< cross-entropy, loss and gradient norm

    ExpertLoad expert_load;
    double dispatch_factor = 1;  ///< forward dispatch: bytes against activation_bytes
    /// Experts of at most so many servers per token, one copy each over the network (DeepSeek-V3,
    /// section 2.1.2); 0: no limit, a copy per expert.
    std::uint32_t node_limit = 0;
    std::uint32_t all_to_all_window = 0;  ///< unfinished sends per rank and all-to-all; 0: all

    /// Compute of one micro-batch on one rank's stage (all of its chunks); negative: by `source`.
    /// Given times are taken as they are, tensor parallelism inside a server included.
    Tick forward_time = -1;
    Tick backward_time = -1;
    Tick weight_time = -1;    ///< part of backward_time that is the gradients of weights
    Tick optimizer_time = 0;  ///< after the gradients' reduction
    ComputeSource source = ComputeSource::flops;
    double peak_flops = 312e12;
    double efficiency = 0.5;
    double memory_bytes_per_second = 0;  ///< reached, roofline only; 0: does not bound
    Tick profile_attention = 0;          ///< of one layer forward, profile only
    Tick profile_mlp = 0;
    Tick profile_head = 0;
    std::vector<Straggler> stragglers;
    /// Each computation of a rank lasts exp(N(0, compute_jitter)) times as long, drawn by `jitter_seed`.
    double compute_jitter = 0;
    std::uint64_t jitter_seed = 0;
    OverlapSlowdown overlap_slowdown;  ///< of compute while its rank communicates

    /// Communication inside a server: each operation takes latency + wire bytes / bandwidth, unless
    /// `calibrated` says more.
    bool network_in_server = false;                          ///< simulated instead
    std::int64_t nvlink_bytes_per_second = 240'000'000'000;  ///< 0: unlimited
    Tick nvlink_latency = 11'800 * kNanosecond;  ///< NCCL's ring, Simple protocol, per operation
    bool calibrated = false;
    IntraNode intra_node;           ///< where calibrated
    std::optional<IntraNode> nvls;  ///< reduction in the server's switches, where there is one

    bool flash_attention = true;   ///< memory only: scores are never stored
    bool dropout = true;           ///< memory only
    double activation_factor = 1;  ///< memory only: what layers keep, against the estimate

    std::vector<CollectiveAlgorithm> algorithms;  ///< by CollectiveKind; missing: automatic
    std::optional<NcclHardware> nccl;             ///< CollectiveOptions::nccl
    std::uint32_t channels = kUsualChannels;
    RingOrder ring_order = RingOrder::rail;
    std::int64_t chunk = 0;
    Tick collective_overhead = 0;
    Tick step_overhead = 0;

    RankId ranks() const { return tp * cp * dp * pp; }
    PipelineShape pipeline() const { return {schedule, pp, micro_batches, chunks}; }
};

/// Throws ConfigError unless `config` fits `hosts` hosts in servers of `gpus_per_server`.
void check_training(const TrainingConfig& config, std::size_t hosts, std::uint32_t gpus_per_server);

/// Throws ConfigError if a straggler is not a rank, is named twice, or its factor is out of range.
void check_stragglers(const TrainingConfig& config);

/// Whether a tensor-parallel group's collectives are simulated: simulation inside servers, or a
/// group on several.
bool tensor_uses_network(const TrainingConfig& config, const RankPlaces& places);

/// The detail that the graph is built in: automatic is layer where layers matter to the network
/// (expert exchange, context parallelism, overlap of gradients or parameters, ZeRO-3, tensor
/// parallelism that is simulated), else stage. Stage is layer only where a sum cannot show the job.
TrainingDetail training_detail(const TrainingConfig& config, bool tensor_on_network);

/// Builds the graph of a checked configuration, finished. ConfigError if a tensor-parallel group is
/// on several servers and may not be.
JobGraph training_graph(const TrainingConfig& config, const RankPlaces& places);

/// Checks `config` and builds the graph on the first of `hosts` hosts.
JobGraph training_graph(const TrainingConfig& config, std::size_t hosts,
                        std::uint32_t gpus_per_server);

}  // namespace sluice
