// SPDX-License-Identifier: Apache-2.0
/// Who works with whom: the ranks of a job as a grid of tensor, context, data and pipeline
/// parallel indices, and expert groups laid over it.
/// `order` names the dimensions from the fastest-changing to the slowest, as Megatron-LM does
/// (--rank order, default tp-cp-ep-dp-pp): rank = sum of index x product of the faster degrees. ep
/// is not a dimension of the grid. Copies of a stage, cp x dp of them, are numbered in the grid's
/// order of cp and dp; an expert group is
///   ep <= copies  ep neighbouring copies at one tp index; copies / ep apart where ep stands after
///                 dp in the order
///   ep > copies   all copies at ep / copies consecutive tp indices
/// A lane is a rank's place within its stage: tp fastest, then the copy. The grid of lanes is the
/// same on all stages.
/// Errors: ConfigError for an order that is not a permutation; degrees are checked by
/// check_training().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/job/job_graph.h"

namespace sluice {

struct ParallelDegrees {
    std::uint32_t tp = 1;
    std::uint32_t cp = 1;
    std::uint32_t ep = 1;
    std::uint32_t dp = 1;
    std::uint32_t pp = 1;
    std::string order = "tp-cp-ep-dp-pp";
};

/// Throws ConfigError unless `order` names tp, dp and pp once each, cp and ep at most once, and
/// leaves out neither of the two whose degree is above 1.
void check_order(const ParallelDegrees& degrees);

using Lane = std::uint32_t;
using LaneGroup = std::vector<Lane>;  ///< in ring order
using LaneGroups = std::vector<LaneGroup>;

/// How many ranks share the matrices of one expert.
std::uint32_t expert_tensor_degree(const ParallelDegrees& degrees);

class ParallelGroups {
  public:
    explicit ParallelGroups(const ParallelDegrees& degrees);

    std::uint32_t lanes() const { return degrees_.tp * copies(); }
    std::uint32_t stages() const { return degrees_.pp; }
    RankId ranks() const { return lanes() * stages(); }
    /// Replicas of a stage's dense parameters.
    std::uint32_t copies() const { return degrees_.cp * degrees_.dp; }

    RankId rank(std::uint32_t stage, Lane lane) const {
        return stage * stage_stride_ + lane_offset_[lane];
    }
    std::uint32_t tp_index(Lane lane) const { return lane % degrees_.tp; }
    std::uint32_t copy(Lane lane) const { return lane / degrees_.tp; }

    /// ".dp1.tp0", with ".cp0" between them where there is context parallelism.
    std::string lane_name(Lane lane) const;

    /// Ranks of one tensor-parallel group hold the parts of one copy's layers.
    const LaneGroups& tensor() const { return tensor_; }
    /// They hold the parts of one sequence.
    const LaneGroups& context() const { return context_; }
    /// They reduce the gradients of dense parameters: all copies at a tp index.
    const LaneGroups& replicas() const { return replicas_; }
    /// They hold different experts and exchange tokens.
    const LaneGroups& experts() const { return experts_; }
    /// They hold the parts of the same experts.
    const LaneGroups& expert_tensor() const { return expert_tensor_; }
    /// They reduce the gradients of experts.
    const LaneGroups& expert_replicas() const { return expert_replicas_; }

    std::uint32_t expert_tensor_degree() const;
    std::uint32_t expert_copies() const;

  private:
    std::uint32_t dp_index(std::uint32_t copy) const {
        return cp_first_ ? copy / degrees_.cp : copy % degrees_.dp;
    }
    void number_ranks();
    void make_dense_groups();
    void make_expert_groups();

    ParallelDegrees degrees_;
    std::uint32_t stage_stride_ = 1;
    std::vector<RankId> lane_offset_;
    bool cp_first_ = true;  ///< copies are numbered cp fastest
    LaneGroups tensor_, context_, replicas_, experts_, expert_tensor_, expert_replicas_;
};

}  // namespace sluice
