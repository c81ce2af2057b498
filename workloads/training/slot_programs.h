// SPDX-License-Identifier: Apache-2.0
/// What a slot of the pipeline consists of: a program of steps that all lanes of the device take, in
/// this order. Only computing steps occupy the compute stream.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/training/iteration_plan.h"

namespace sluice {

enum class StepKind : std::uint8_t {
    compute,
    tensor_time,    ///< analytic tensor parallelism of a whole slot
    tensor_gather,  ///< all-gather of tensor_bytes
    tensor_reduce,  ///< reduce-scatter; all-reduce without sequence parallelism
    cross_entropy,  ///< all-reduce over the tensor-parallel group
    expert_gather,  ///< as tensor_*, inside an expert
    expert_reduce,
    attention_ring,  ///< attention of context parallelism: computing and ring
    expert_counts,   ///< all-gather over the expert group
    to_experts,      ///< all-to-all
    from_experts,
    all_experts,        ///< all-to-all: all of a slot's exchanges together
    gather_parameters,  ///< ZeRO-3
    gradients_ready,
};

struct Step {
    StepKind kind = StepKind::compute;
    std::uint32_t layer = 0;  ///< in its stage
    const char* name = "";
    Tick time = 0;
    Tick scores = 0;         ///< attention_ring: the part that keys and values are needed for
    double attention = 0;    ///< compute: the share of it that is scores, without weights
    std::int64_t bytes = 0;  ///< all_experts: a rank's buffer
    double routed = 0;       ///< compute: the share of it that grows with the experts' load
    bool first = false;  ///< compute: of its layer, needs the parameters; gathering: of its slot
    bool forward = true;
};

using Program = std::vector<Step>;

class SlotPrograms {
  public:
    explicit SlotPrograms(const IterationPlan& plan);

    /// The same object each time.
    const Program& of(std::uint32_t stage, SlotKind kind);

  private:
    Program make(const StageCosts& stage, SlotKind kind) const;
    Program stage_program(const StageCosts& stage, SlotKind kind) const;
    Program layer_program(const StageCosts& stage, SlotKind kind) const;
    std::int64_t exchanged_bytes(const StageCosts& stage, SlotKind kind) const;

    const IterationPlan& plan_;
    std::vector<std::vector<Program>> programs_;  ///< by stage and SlotKind; empty: not made yet
};

}  // namespace sluice
