// SPDX-License-Identifier: Apache-2.0
/// What each flow of a large group has followed, or has been recorded as, so that what is left of the group can go on with it.
#pragma once

#include <cstddef>
#include <vector>

#include "core/hybrid/stages/trajectory_record.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

class CarriedTrajectories {
  public:
    /// TrajectoryFlow::taken is as of `at`.
    void carry(FlowSlot slot, FlowId id, const TrajectoryFlow& flow, Tick at) {
        if (all_.size() <= slot) {
            all_.resize(std::size_t{slot} + 1);
        }
        all_[slot] = {id, flow, at};
    }
    void drop(FlowSlot slot) {
        if (slot < all_.size()) {
            all_[slot] = Carried{};
        }
    }
    /// Of the flow `id`, which has the slot.
    bool has(FlowSlot slot, FlowId id) const { return slot < all_.size() && all_[slot].id == id; }
    /// The same, and its rate converges to that of others.
    bool converges(FlowSlot slot, FlowId id) const {
        return has(slot, id) && !all_[slot].flow.guide->keeps_rate(all_[slot].flow.guide_flow);
    }
    /// As it goes on at `at`, in a group that has it at `place`.
    TrajectoryFlow take_up(FlowSlot slot, std::size_t place, Tick at) const {
        TrajectoryFlow flow = all_[slot].flow;
        flow.place = place;
        if (all_[slot].at != at || flow.by_nic) {
            flow.taken = flow.guided(static_cast<double>(at));
        }
        return flow;
    }

  private:
    struct Carried {
        FlowId id = kNoFlow;
        TrajectoryFlow flow;
        Tick at = 0;
    };
    std::vector<Carried> all_;  ///< by slot
};

}  // namespace sluice::hybrid
