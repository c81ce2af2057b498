// SPDX-License-Identifier: Apache-2.0
/// What symmetry reduction (core/fold/) has to know of phases (core/hybrid/), which it does not call, and what it lists for
/// them: values.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "core/clocks/flow_pairs.h"
#include "core/clocks/flow_partitions.h"
#include "core/units.h"

namespace sluice::step {

/// What the phase controller has noted of a partition. A partition and its copy agree in it.
struct PartitionPhase {
    bool dirty = true;  ///< its flows have changed since they were listed
    bool whole = true;  ///< all that its flows do is executed, but for skips
    Tick changed = 0;   ///< when its flows last changed
    Tick cut = kNever;  ///< when it is looked at next
    Tick since = 0;     ///< the present phase began
    Tick born = 0;      ///< it formed
    bool skipping = false;
    std::uint32_t flows_at_start = 0;

    auto what_copies_share() const {
        return std::tie(dirty, changed, cut, since, born, flows_at_start, skipping);
    }
};

struct CopyNotes {
    CopyNotes(const FlowPartitions& of, const std::vector<const PartitionPhase*>& phases,
              bool folds_inside)
        : partitions(of), phase(phases), inside(folds_inside) {}

    const FlowPartitions& partitions;
    // Written by the phase controller, for who folds.
    const std::vector<const PartitionPhase*>& phase;  ///< by partition; null: nobody looks at it
    const bool inside;                                ///< a partition may be folded upon itself
    /// What could not be folded is gone from where these flows are, which may be folded now. Whoever folds empties it.
    std::vector<std::vector<FlowSlot>> released;
    // Written by who folds, for the phase controller.
    /// Copies' flows, each list of one part, that are executed by themselves from here on; their columns say what those of
    /// the representative did. A flow that is its own image is one of a part that was folded upon itself. The controller
    /// empties it.
    std::vector<FlowPairs> separated;
};

}  // namespace sluice::step
