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

/// ACK load is known when a group is so many round trips old.
inline constexpr Tick kLoadsKnown = 3;

struct TrajectoryFlow {
    std::size_t place = 0;  ///< in the group
    Tick base_rtt = 0;
    double aim = 0;  ///< of its law, payload bytes per tick
    // Of the last reading that was recorded:
    double acked = 0;    ///< payload bytes
    double age = 0;      ///< a base round trip before, ticks since the group formed
    double advance = 0;  ///< ticks
    // What it follows:
    std::shared_ptr<const Trajectory> guide;
    std::size_t guide_flow = 0;  ///< as which one of its flows
    std::uint32_t kind = kNone;  ///< of the guide
    double guide_aim = 0;        ///< `aim` as the guide was recorded, or taken up
    Tick begin = 0;              ///< the guide's age 0
    double taken = 0;            ///< of the guide's advance so far; ticks
    double taken_up = 0;         ///< the same as it was taken up
    bool by_nic = false;         ///< it follows nobody, as its NIC is what limits it
    // In the present skip:
    double before = 0;  ///< `taken` as it began
    /// The advance at which its last byte leaves, and when that is, if its end is predicted; else infinite.
    double whole = 0;
    double sent = 0;

    /// Of the guide, by `at`.
    double guided(double at) const {
        return guide->advance(guide_flow, at - static_cast<double>(begin));
    }
    /// It has followed flow `as` of `followed` since the age 0, which was at `from`.
    void follow(const std::shared_ptr<const Trajectory>& followed, std::size_t as,
                std::uint32_t kind_of_followed, Tick from) {
        guide = followed;
        guide_flow = as;
        kind = kind_of_followed;
        guide_aim = aim;
        begin = from;
    }
};

struct TrajectoryRecord {
    Tick formed =
        kNever;      ///< GroupState::changed, then: the record is out of date if it is another
    Tick begin = 0;  ///< age 0
    std::vector<TrajectoryFlow> flows;  ///< by their place in the kind; empty: it has none
    GroupKey shape;                     ///< the kind, but for what flows alone are told apart by
    std::size_t rate_at = 0;            ///< where in the shape the class of the last flow's rate is
    std::uint32_t counted = kNone;      ///< the kind as the group formed
    std::int64_t ack_class = 0;         ///< of a flow alone, as it began
    std::int64_t line_rate = 0;         ///< of the first flow's NIC, bits/s
    Tick need = 0;                      ///< the age at which the first flow ends, at its aim
    std::int64_t queued = 0;            ///< new flows but for the first
    bool young = false;                 ///< one flow, which began some time before
    // It is recorded:
    std::shared_ptr<Recording> own;  ///< null: it is not
    Tick aimed = 0;                  ///< when aims were looked at last
    bool unshared = false;           ///< it has no kind: it is nobody's guide but its own
    bool asked = false;              ///< it is known whether others want it
    bool renewed = false;            ///< it has formed anew, as an aim had moved
    bool kept = false;               ///< for others to follow
    // It follows:
    bool follows = false;     ///< in the present skip, or the one that is planned
    bool carries_on = false;  ///< each flow what it has followed before
    /// The one that was followed last, if it goes on to be: of a large group, and of a small one that was still growing.
    std::shared_ptr<const Trajectory> guide;
    bool may_join = false;       ///< it has been executed, while others of its kind are recorded
    Tick since = 0;              ///< when the skip begins
    Tick guided_from = 0;        ///< when it began to follow the guide
    Tick rises = kNever;         ///< when laws follow aims that have risen
    Tick lasts = 0;              ///< the skip
    bool to_the_end = false;     ///< of a flow
    bool refills = false;        ///< its last round trip is executed
    std::uint32_t last = kNone;  ///< kind of the one that was followed last

    /// Of the group's flows, by place. False if one of them is not known.
    bool take_aims(const std::vector<double>& aims) {
        bool known = true;
        for (TrajectoryFlow& flow : flows) {
            flow.aim = aims[flow.place];
            known = known && flow.aim > 0;
        }
        return known;
    }
    /// A flow alone that is recorded though nobody has asked for it may be found steady before its recording is complete. Not
    /// where its aim has moved: the detector also sees what the flow did at the aim before.
    bool may_be_found_steady() const { return flows.size() == 1 && asked && !kept && !renewed; }
    /// From now on it may follow others itself, unless it is large.
    void stop_recording() {
        own.reset();
        if (!is_large(flows.size())) {
            kept = false;
            may_join = true;
        }
    }
    /// From `since` on the group follows one that has the same flows; null: none. What it has done before is as much as the other
    /// one had done.
    void take_up(const std::shared_ptr<const Trajectory>& followed, std::uint32_t kind) {
        follows = followed != nullptr;
        for (std::size_t k = 0; follows && k < flows.size(); ++k) {
            flows[k].follow(followed, k, kind, begin);
            flows[k].taken = flows[k].guided(static_cast<double>(since));
            flows[k].taken_up = flows[k].taken;
        }
        guided_from = since;
    }
    /// The guide has grown. How far it had come as it was taken up was guessed then, and may be known by now.
    void look_back() {
        for (TrajectoryFlow& flow : flows) {
            const double known = flow.guided(static_cast<double>(guided_from));
            flow.taken += known - flow.taken_up;
            flow.taken_up = known;
        }
    }
};

}  // namespace sluice::hybrid
