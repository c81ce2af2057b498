// SPDX-License-Identifier: Apache-2.0
/// Which groups there are, and when their flows have changed, as partitions merge and split.
#pragma once

#include "core/clocks/flow_partitions.h"
#include "core/hybrid/deferral.h"
#include "core/hybrid/group_table.h"
#include "core/hybrid/phase_report.h"

namespace sluice::hybrid {

class GroupMembers {
  public:
    /// All must outlive this.
    GroupMembers(const step::FlowPartitions& partitions, GroupTable& groups, PhaseReport& report,
                 const PhaseConfig& config)
        : partitions_(partitions), groups_(groups), report_(report), config_(config) {}

    /// Flows may be deferred by `deferral`, which must outlive this.
    void defer(const Deferral& deferral) { deferral_ = &deferral; }
    /// A flow has entered a partition, which may have absorbed others.
    void enter(const PartitionSet::Entry& entry, Tick now);
    /// A flow has left partition `from`, which may have split.
    void leave(PartitionId from, const PartitionSet::Exit& exit, Tick now);
    /// Other flows are in the group than before, or other ones of them are executed.
    void changed(std::uint32_t id, Tick now);

  private:
    void close(std::uint32_t id, Tick now, PhaseEnd why);

    const step::FlowPartitions& partitions_;
    GroupTable& groups_;
    PhaseReport& report_;
    const PhaseConfig& config_;
    const Deferral* deferral_ = nullptr;  ///< null: none is
};

}  // namespace sluice::hybrid
