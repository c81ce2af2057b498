// SPDX-License-Identifier: Apache-2.0
/// An AICB workload as a job's graph, executed as SimAI does (Workload.cc, Layer.cc of
/// aliyun/SimAI): one pass, forward through the layers top-down, backward bottom-up.
///   HYBRID_TRANSFORMER(_FWD_IN_BCKWD)   forward: compute, blocking communication. Backward per
///       layer: input-gradient compute, blocking communication, weight-gradient compute, and its
///       communication, which nothing waits for but the end. FWD_IN_BCKWD: a layer that
///       checkpoint_initiates names first repeats the forward pass from the nearest checkpoint above
///   HYBRID_DATA_MODEL, _MODEL_DATA, _CUSTOMIZED, MODEL   the same, but the input gradient's
///       communication runs beside the weight gradient's compute; layer 0 has none of the former
///   DATA             no communication but the weight gradients'; these come before input gradients
///   HYBRID_DLRM(_ENHANCED)   as DATA; layer 0's all-to-all runs beside the layers up to
///       DLRM_LAST_BOTTOM_LAYER, its gradient's beside those below
///   DISTRIBUTED_INFERENCE    forward only
///   MICRO            the weight gradients' communication of each layer, one after the other (the
///       original stops after the first layer)
/// A layer's update time follows each of its communications. Communications that nothing waits for
/// run one after the other: AicbQueue.
/// Pipeline (pp > 1), where SimAI has a formula: every stage runs the file's layers, which are one
/// stage's; micro-batches (aicb_pipeline.h) follow the schedule, and each sends pp_comm bytes from
/// every rank to its peer in the next stage, and back for gradients. Layers before the micro-batches
/// run forward first and backward last, those behind them in between, once, on every stage.
/// Not modelled: SimAI's 1 ns per state change.
/// Memory: the parsed file is shared by all ranks; the graph is not, and is refused before it is
/// built if it would have more than AicbGraphConfig::most_operations operations.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/aicb/aicb_layout.h"
#include "workloads/aicb/aicb_pipeline.h"
#include "workloads/aicb/aicb_workload.h"
#include "workloads/collective/collective_library.h"
#include "workloads/training/schedule.h"

namespace sluice {

/// Which of the communications that nothing waits for is next on a rank, one at a time.
enum class AicbQueue : std::uint8_t {
    communicator,  ///< of each kind of group, in the order in which they were issued, as NCCL
    last_issued,   ///< of all of them, the one issued last, as SimAI's streams (Sys.cc, LIFO)
};

/// That are built unless more are asked for: an operation takes some 150 bytes until it has run.
inline constexpr double kMostAicbOperations = 20e6;
inline constexpr double kBytesOfAicbOperation = 150;

struct AicbGraphConfig {
    double compute_scale = 1;                                   ///< factor on every compute time
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;  ///< gpipe, 1f1b or zb-h1
    std::size_t micro_batches = 0;                              ///< of the file's; 0: all
    CollectiveOptions collectives;
    /// All-reduces of tensor-parallel groups of at least 8 GPUs in one server by reduction in the
    /// NVSwitches.
    bool nvls = false;
    RankId more_ranks = 0;  ///< the graph has ranks beyond the layout's, for NVSwitches
    AicbQueue queue = AicbQueue::communicator;
    double most_operations = kMostAicbOperations;
};

/// What one rank did for one layer, by the graph's operations.
struct AicbRecord {
    enum class Kind : std::uint8_t { compute, communication, boundary };
    Kind kind = Kind::compute;
    AicbPhase phase = kForward;
    bool blocking = true;
    AicbGroup group = AicbGroup::none;
    std::uint32_t layer = 0;  ///< boundary: the first of the micro-batch
    OpId from = kNone;        ///< began when this was complete; kNone: at 0
    OpId to = kNone;          ///< its last operation
    OpId send = kNone;        ///< boundary: the peer's send
};

struct AicbGraph {
    JobGraph graph;
    std::vector<AicbRecord> records;  ///< of rank 0, in program order
    AicbBlocks blocks;
};

/// The algorithm of a group's collectives, by AicbGraphConfig::nvls.
CollectiveAlgorithm aicb_algorithm(const AicbGraphConfig& config, AicbGroup group,
                                   CollectiveKind kind, const std::vector<RankId>& ranks);

/// How many operations the graph would have, about.
double count_operations(const AicbWorkload& workload, const AicbLayout& layout,
                        const AicbGraphConfig& config);

/// Unfinished. ConfigError if it would be too large, or if the schedule is none of the three.
AicbGraph build_aicb_graph(const AicbWorkload& workload, const AicbLayout& layout,
                           const AicbGraphConfig& config, ImportReport& report);

}  // namespace sluice
