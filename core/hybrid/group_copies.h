// SPDX-License-Identifier: Apache-2.0
/// Groups that are copies of each other, of which one is executed (core/fold/folds.h): what is done to that one is
/// done to all, and each has its own records of it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/clocks/copy_notes.h"
#include "core/clocks/flow_partitions.h"
#include "core/hybrid/group_sampler.h"
#include "core/hybrid/group_table.h"
#include "core/hybrid/phase_report.h"
#include "core/hybrid/skip_executor.h"
#include "core/hybrid/skip_stage.h"

namespace sluice::hybrid {

class GroupCopies {
  public:
    /// All must outlive this.
    GroupCopies(const NetworkView& view, const step::FlowPartitions& partitions, GroupTable& groups,
                const GroupSampler& sampler, SkipExecutor& executor, PhaseReport& report,
                const SkipStages& stages)
        : view_(view),
          partitions_(partitions),
          groups_(groups),
          sampler_(sampler),
          executor_(executor),
          report_(report),
          stages_(stages) {}

    /// Which flows are in which partition has changed.
    void partitions_changed() { ++partition_generation_; }

    /// Does to the group that is executed for `state` what `act` does, and so to its copies.
    template <class Act>
    void together(GroupState& state, Act&& act) {
        if (view_.folds() == nullptr) {
            act(state);
            return;
        }
        GroupState& lead = begin(state);
        act(lead);
        end(lead);
    }

    /// The group's skip, if it is in one, ends at `now`, as do its copies': a flow is about to enter.
    void make_way(std::uint32_t id, Tick now);
    /// The images of `flows`, of one part, are executed by themselves from here on (CopyNotes::separated).
    void take_up(const step::FlowPairs& flows);

  private:
    GroupState& begin(GroupState& state);
    void end(const GroupState& lead);
    GroupState& executed_for(const GroupState& state) const;
    void list_copies(GroupState& lead);
    void follow(GroupState& state, const GroupState& lead);
    void take_over(GroupState& state, const GroupState& lead, const Names& flows,
                   const Names& ports);

    const NetworkView& view_;
    const step::FlowPartitions& partitions_;
    GroupTable& groups_;
    const GroupSampler& sampler_;
    SkipExecutor& executor_;
    PhaseReport& report_;
    const SkipStages& stages_;
    std::uint64_t partition_generation_ = 0;  ///< of which flows are in which
    std::vector<FlowSlot> copies_;            ///< scratch of list_copies()
    step::PortNames port_names_;              ///< scratch of take_up()
};

}  // namespace sluice::hybrid
