// SPDX-License-Identifier: Apache-2.0
/// What is said between whoever owns a lane and whoever executes it. The lane itself is not looked at meanwhile:
/// on a GPU its pages would move to the host and back.
#pragma once

#include "gpu/program/lane.h"

namespace sluice::gpu {

struct LaneOrder {
    std::uint64_t windows = 0;  ///< at most so many
    Tick until = kNever;        ///< Lane::until
    Arena fresh;                ///< memory in place of what is full; without a base: none
    congestion::Law law = congestion::Law::none;  ///< the lane's, for who chooses a kernel by it
};

struct LaneReport {
    Outcome outcome = Outcome::running;
    std::uint32_t fault = 0;  ///< Lane::fault
    Tick end = 0;             ///< Lane::end
    Arena arena;              ///< Lane::arena
};

/// One thread's duty, before the lane is executed.
SLUICE_HD inline void obey(Lane& lane, const LaneOrder& order) {
    lane.until = order.until;
    if (order.fresh.base != nullptr) {
        lane.arena = order.fresh;
    }
}

SLUICE_HD inline LaneReport report_of(const Lane& lane, Outcome outcome) {
    return LaneReport{outcome, lane.fault, lane.end, lane.arena};
}

}  // namespace sluice::gpu
