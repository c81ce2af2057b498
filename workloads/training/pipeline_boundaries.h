// SPDX-License-Identifier: Apache-2.0
/// Between stages: activations to the next one and their gradients back, lane by lane. Sends do not
/// block compute; a slot waits for what it receives.
#pragma once

#include <vector>

#include "workloads/collective/collective_library.h"
#include "workloads/training/iteration_plan.h"

namespace sluice {

class PipelineBoundaries {
  public:
    PipelineBoundaries(const IterationPlan& plan, JobGraph& graph, CollectiveLibrary& library);

    /// What a message to the slot releases, and what completes the slot. Of gradients of weights, which stay where they are,
    /// nothing is kept.
    void begins(RankId rank, const PipelineSlot& slot, OpId op) { keep(first_, rank, slot, op); }
    void ends(RankId rank, const PipelineSlot& slot, OpId op) { keep(last_, rank, slot, op); }

    /// Adds the messages, when all slots are there.
    void add();

  private:
    std::size_t index(RankId rank, bool forward, std::uint32_t chunk,
                      std::uint32_t micro_batch) const;
    void keep(std::vector<OpId>& ops, RankId rank, const PipelineSlot& slot, OpId op) const;
    void turn_around();
    void add_boundary(std::uint32_t stage, std::uint32_t micro_batch);
    void connect(PipelinePlace from, PipelinePlace to, bool forward, std::uint32_t micro_batch,
                 Lane lane, const CollectiveSpec& spec);

    const IterationPlan& plan_;
    JobGraph& graph_;
    CollectiveLibrary& library_;
    std::vector<OpId> first_;  ///< by index()
    std::vector<OpId> last_;   ///< by index()
};

}  // namespace sluice
