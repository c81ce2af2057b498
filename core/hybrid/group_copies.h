// SPDX-License-Identifier: Apache-2.0
/// Groups that are copies of each other, of which one is executed (core/clocks/folding.h): what is done to that one is done
/// to all, and each has its own records of it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/clocks/folding.h"
#include "core/clocks/supervisor.h"
#include "core/hybrid/deferral.h"
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
        if (view_.folding() == nullptr) {
            act(state);
            return;
        }
        GroupState& lead = begin(state);
        act(lead);
        end(lead);
    }

    /// As step::Supervisor::alike().
    bool alike(const std::vector<step::FlowPair>& flows, bool fresh, const Deferral& deferral);
    /// As step::Supervisor::unfolded().
    void unfolded(const std::vector<step::FlowPair>& flows);

  private:
    GroupState& begin(GroupState& state);
    void end(const GroupState& lead);
    GroupState& executed_for(const GroupState& state) const;
    void list_copies(GroupState& lead);
    void follow(GroupState& state, const GroupState& lead);
    /// Each group of `flows`, and its copy; empty if they do not correspond.
    std::map<std::uint32_t, std::uint32_t> paired_groups(
        const std::vector<step::FlowPair>& flows) const;
    Names paired_ports(const std::vector<step::FlowPair>& flows);
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
    std::vector<PortId> copy_of_;             ///< by port, scratch of paired_ports(), kNone
};

}  // namespace sluice::hybrid
