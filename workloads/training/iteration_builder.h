// SPDX-License-Identifier: Apache-2.0
/// Builds the graph of one iteration, a pipeline rank ("device": all lanes at one pp index) at a
/// time, each in its schedule's order. A slot is run as a program: steps that all lanes of the
/// device take, in this order; each lane's next step starts when its last one is complete.
/// Only computing steps occupy the compute stream, so the steps of DualPipe's pairs alternate.
/// What a slot consists of: slot_programs.h; how its steps are added: slot_steps.h; between stages:
/// pipeline_boundaries.h; after and during the last backward: gradient_update.h.
#pragma once

#include <vector>

#include "workloads/training/slot_steps.h"

namespace sluice {

class IterationBuilder {
  public:
    IterationBuilder(const TrainingConfig& config, const RankPlaces& places);

    JobGraph build();

  private:
    void reserve();
    void add_device(std::uint32_t device);
    SlotRun begin_slot(std::uint32_t device, const PipelineSlot& slot);
    void end_slot(const SlotRun& run, bool paired);
    void run_alone(SlotRun& run);
    void run_pair(SlotRun& first, SlotRun& second);
    void open_pair(SlotRun& first, SlotRun& second);
    void end_pair(SlotRun& first, SlotRun& second);

    IterationPlan plan_;
    JobGraph graph_;
    CollectiveLibrary library_;
    SlotPrograms programs_;
    ComputeStreams streams_;
    PipelineBoundaries boundaries_;
    GradientUpdate update_;
    SlotSteps steps_;
    std::vector<OpId> previous_;  ///< by rank: communication that ended the slot before
};

}  // namespace sluice
