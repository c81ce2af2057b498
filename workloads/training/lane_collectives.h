// SPDX-License-Identifier: Apache-2.0
/// Collectives of a device's lanes within a slot: each lane goes on from its own part.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/collective/collective_library.h"
#include "workloads/training/slot_run.h"

namespace sluice {

class LaneCollectives {
  public:
    LaneCollectives(const IterationPlan& plan, CollectiveLibrary& library);

    void add(SlotRun& run, const LaneGroup& group, CollectiveKind kind, const CollectiveSpec& spec);
    /// One in each of `groups` that has several lanes, called "pp0." + group_name + its number.
    void add_over(SlotRun& run, const LaneGroups& groups, const char* group_name,
                  CollectiveKind kind, const CollectiveSpec& spec);
    /// CollectiveLibrary::add_uneven_all_to_all().
    void add_uneven(SlotRun& run, const LaneGroup& group, const CollectiveSpec& spec,
                    const std::vector<std::int64_t>& bytes);
    /// A message; returns its arrival.
    OpId send(RankId from, RankId to, const CollectiveSpec& spec, OpId after);

  private:
    Members members_of(const SlotRun& run, const LaneGroup& group) const;

    const IterationPlan& plan_;
    CollectiveLibrary& library_;
};

}  // namespace sluice
