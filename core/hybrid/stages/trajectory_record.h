// SPDX-License-Identifier: Apache-2.0
/// What a group is recorded as, or follows (trajectory_stage.h), since it formed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/calibration/group_kind.h"
#include "core/calibration/trajectories.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

struct TrajectoryFlow {
    std::size_t place = 0;  ///< in the group
    Tick base_rtt = 0;
    double aim = 0;  ///< of its law, payload bytes per tick
    // Of the last reading that was recorded:
    double acked = 0;    ///< payload bytes
    double age = 0;      ///< a base round trip before, ticks since the group formed
    double advance = 0;  ///< ticks
    double taken = 0;    ///< of the advance of the one that is followed, so far; ticks
};

struct TrajectoryRecord {
    Tick formed =
        kNever;      ///< GroupState::changed, then: the record is out of date if it is another
    Tick begin = 0;  ///< age 0
    std::vector<TrajectoryFlow> flows;  ///< by their place in the kind; empty: it has none
    GroupKey shape;                     ///< the kind, but for what flows alone are told apart by
    std::int64_t ack_class = 0;         ///< of a flow alone, as it began
    std::int64_t line_rate = 0;         ///< of the first flow's NIC, bits/s
    Tick need = 0;                      ///< the age at which the first flow ends, at its aim
    std::int64_t queued = 0;            ///< new flows but for the first
    bool young = false;                 ///< one flow, which began some time before
    // It is recorded:
    std::shared_ptr<Recording> own;  ///< null: it is not
    bool kept = false;               ///< for others to follow
    // It follows:
    std::shared_ptr<const Trajectory> followed;  ///< null: the present skip follows none
    std::shared_ptr<const Trajectory> guide;  ///< of a large group: the one that was followed last
    bool may_join = false;                    ///< others of its kind are recorded in its place
    Tick from = 0;                            ///< age at which the skip began
    Tick rises = kNever;                      ///< when laws follow aims that have risen
    Tick lasts = 0;                           ///< the skip
    bool to_take = false;        ///< it is over, and has not been taken from what is followed
    bool to_the_end = false;     ///< of a flow
    std::uint32_t last = kNone;  ///< kind of the one that was followed last
};

}  // namespace sluice::hybrid
