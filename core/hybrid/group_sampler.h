// SPDX-License-Identifier: Apache-2.0
/// Looks at groups while they are executed: lists their flows and where they are, samples them, and asks their detectors
/// whether they are steady.
#pragma once

#include "core/clocks/flow_partitions.h"
#include "core/hybrid/deferral.h"
#include "core/hybrid/group_table.h"
#include "core/hybrid/phase_report.h"
#include "core/hybrid/skip_stage.h"
#include "core/hybrid/stages/port_loads.h"

namespace sluice::hybrid {

class GroupSampler {
  public:
    /// All must outlive this.
    GroupSampler(const NetworkView& view, const step::FlowPartitions& partitions,
                 GroupTable& groups, PortLoads& loads, PhaseReport& report,
                 const SkipStages& stages, const PhaseConfig& config)
        : view_(view),
          partitions_(partitions),
          groups_(groups),
          loads_(loads),
          report_(report),
          stages_(stages),
          config_(config) {}

    /// Lists the group's flows, and begins to observe them.
    void list(GroupState& state, const Deferral& deferral);
    /// Lists ports, hosts and switches of the group.
    void list_extent(GroupState& state) const;
    /// Takes a sample, and says when the next one is due. Not steady: there is nothing to skip, or it is not known yet.
    steady::Verdict sample(GroupState& state, Tick at);

  private:
    template <class Visit>
    void each_partition(const GroupState& state, Visit&& visit) const;
    bool stands_still(GroupState& state, Tick at);

    const NetworkView& view_;
    const step::FlowPartitions& partitions_;
    GroupTable& groups_;
    PortLoads& loads_;
    PhaseReport& report_;
    const SkipStages& stages_;
    const PhaseConfig& config_;
};

}  // namespace sluice::hybrid
