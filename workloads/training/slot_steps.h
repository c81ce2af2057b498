// SPDX-License-Identifier: Apache-2.0
/// Adds the steps of slots: computing, and the collectives of layers. Each lane's next step starts
/// when its last one is complete.
#pragma once

#include "workloads/training/compute_streams.h"
#include "workloads/training/expert_exchange.h"
#include "workloads/training/gradient_update.h"
#include "workloads/training/lane_collectives.h"
#include "workloads/training/pipeline_boundaries.h"
#include "workloads/training/sharded_layers.h"

namespace sluice {

class SlotSteps {
  public:
    SlotSteps(const IterationPlan& plan, JobGraph& graph, CollectiveLibrary& library,
              ComputeStreams& streams, PipelineBoundaries& boundaries, GradientUpdate& update);

    void add(SlotRun& run, const Step& step);
    /// Computes on one lane, after what it has done. `attention`: the share of it that has no weights.
    OpId compute(SlotRun& run, Lane lane, Tick time, Label label, double attention);
    /// ShardedLayers::scattered()
    const std::vector<OpId>& scattered() const { return sharded_.scattered(); }

  private:
    void open_slot(SlotRun& run);
    void add_compute(SlotRun& run, const Step& step);
    void use_parameters(const SlotRun& run, const Step& step);
    void add_tensor_time(SlotRun& run, const Step& step);
    void add_tensor(SlotRun& run, const Step& step);
    void add_attention_ring(SlotRun& run, const Step& step);
    void pass_blocks(SlotRun& run, const Step& step, const LaneGroup& group, std::size_t index);

    const IterationPlan& plan_;
    JobGraph& graph_;
    ComputeStreams& streams_;
    PipelineBoundaries& boundaries_;
    GradientUpdate& update_;
    LaneCollectives collectives_;
    ExpertExchange experts_;
    ShardedLayers sharded_;
};

}  // namespace sluice
