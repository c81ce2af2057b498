// SPDX-License-Identifier: Apache-2.0
/// A slot of a device's pipeline schedule while its steps are added.
#pragma once

#include <string>
#include <vector>

#include "workloads/training/iteration_plan.h"
#include "workloads/training/slot_programs.h"

namespace sluice {

/// By lane.
using Frontier = std::vector<OpId>;

struct SlotRun {
    std::uint32_t device = 0;
    PipelineSlot slot;
    std::uint32_t stage = 0;
    std::string suffix;  ///< of names: " mb3"
    bool last_gradients = false;
    bool first_forward = false;
    bool open = false;  ///< something is on the compute stream
    Frontier done;
    std::vector<Frontier> gathered;  ///< by layer, ZeRO-3
};

/// "attention layer3 mb0"
std::string step_name(const IterationPlan& plan, const SlotRun& run, const Step& step);

/// What is complete when both are; kNone is.
OpId join(JobGraph& graph, RankId rank, OpId a, OpId b);

}  // namespace sluice
