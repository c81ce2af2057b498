// SPDX-License-Identifier: Apache-2.0
/// Exchange of tokens between ranks and experts, and what an uneven load of experts does to both sides.
#pragma once

#include <vector>

#include "workloads/training/lane_collectives.h"

namespace sluice {

class ExpertExchange {
  public:
    ExpertExchange(const IterationPlan& plan, LaneCollectives& collectives);

    /// A layer's dispatch or combination, or the gradients of one.
    void add(SlotRun& run, const Step& step);
    /// All of a slot's exchanges together.
    void add_all(SlotRun& run, const Step& step);
    /// How much longer a step takes on a lane whose experts have more than the mean to do.
    double slowdown(std::uint32_t stage, const Step& step, Lane lane);

  private:
    bool exchange_by_server(SlotRun& run, const Step& step, const LaneGroup& group,
                            const CollectiveSpec& spec);
    const std::vector<double>& shares_of(std::int64_t layer);

    const IterationPlan& plan_;
    LaneCollectives& collectives_;
    std::vector<std::vector<double>> layer_shares_;  ///< by layer, of an expert group's members
    std::vector<Lane> member_index_;                 ///< by lane: place in its expert group
};

}  // namespace sluice
