// SPDX-License-Identifier: Apache-2.0
/// Which ranks of an AICB workload communicate with which: TP fastest (consecutive ranks), then EP
/// within DP, DP with stride tp, DP_EP = DP / EP (ranks with the same experts), PP outermost.
/// Policies without model_parallel_NPU_group: DATA, HYBRID_DLRM and MICRO are data-parallel over all
/// ranks; MODEL and DISTRIBUTED_INFERENCE model-parallel over all; HYBRID_DATA_MODEL splits the model
/// over a server's GPUs and the data over servers, HYBRID_MODEL_DATA the other way round, with the
/// model's ranks at stride dp.
/// A layout stores degrees only; groups are computed when they are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/job/job_graph.h"
#include "workloads/aicb/aicb_workload.h"

namespace sluice {

enum class AicbGroup : std::uint8_t { none, tp, dp, ep, dp_ep, all };

const char* to_string(AicbGroup group);

/// Who takes part in a layer's communication. `layer`: its index (a DLRM's layer 0 is special).
AicbGroup group_of(const AicbWorkload& workload, std::size_t layer, AicbPhase phase);

class AicbLayout {
  public:
    /// `hosts` GPUs in servers of `gpus_per_server`; `gpus` > 0: use so many instead of the file's
    /// all_gpus. ConfigError where degrees do not divide or GPUs are lacking; what was assumed goes
    /// into `report`.
    AicbLayout(const AicbWorkload& workload, RankId hosts, std::uint32_t gpus_per_server,
               RankId gpus, ImportReport& report);

    RankId world() const { return world_; }
    RankId tp() const { return tp_; }
    RankId ep() const { return ep_; }
    RankId pp() const { return pp_; }
    RankId dp() const { return dp_; }
    RankId stage_ranks() const { return tp_ * dp_; }
    RankId stage(RankId rank) const { return rank / stage_ranks(); }

    /// Members of a group of that kind; 1 for none.
    RankId size(AicbGroup group) const;
    /// Groups of a kind in one pipeline stage.
    RankId count(AicbGroup group) const;
    /// The ranks of group `index` of `stage`, in ring order.
    std::vector<RankId> members(AicbGroup group, RankId stage, RankId index) const;

  private:
    RankId world_ = 1;
    RankId tp_ = 1;
    RankId ep_ = 1;
    RankId pp_ = 1;
    RankId dp_ = 1;
    bool dp_fastest_ = false;
};

}  // namespace sluice
