// SPDX-License-Identifier: Apache-2.0
/// ZeRO-3: layers' parameters are gathered before they are used, their gradients scattered when they are made, both beside
/// what the rank computes and each in an order of its own.
#pragma once

#include <vector>

#include "workloads/training/compute_streams.h"
#include "workloads/training/lane_collectives.h"

namespace sluice {

class ShardedLayers {
  public:
    ShardedLayers(const IterationPlan& plan, JobGraph& graph, const ComputeStreams& streams,
                  LaneCollectives& collectives);

    /// A layer's parameters are gathered while the layer before it computes, a slot's first ones
    /// right after the last ones of the slot before; one gathering after the other.
    void gather_parameters(SlotRun& run, const Step& step);
    /// A layer's gradients, after each of its backward passes, beside what follows.
    void scatter_gradients(SlotRun& run, const Step& step);
    /// The latest scattering, by rank; kNone: there is none.
    const std::vector<OpId>& scattered() const { return scatter_tail_; }

  private:
    void over_copies(SlotRun& run, const Step& step, CollectiveKind kind, std::int64_t value_bytes);

    const IterationPlan& plan_;
    JobGraph& graph_;
    const ComputeStreams& streams_;
    LaneCollectives& collectives_;
    std::vector<OpId> prefetch_;      ///< by rank: what the latest layer to gather for waited for
    std::vector<OpId> gather_tail_;   ///< by rank: the latest gathering
    std::vector<OpId> scatter_tail_;  ///< by rank
};

}  // namespace sluice
