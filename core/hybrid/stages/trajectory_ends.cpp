// SPDX-License-Identifier: Apache-2.0
/// How flows of groups that follow end, and how those that are left go on.
#include <algorithm>
#include <cmath>

#include "core/hybrid/outside.h"
#include "core/hybrid/stages/trajectory_stage.h"

namespace sluice::hybrid {

namespace {

/// Flows of a large group that end within so many round trips end together: what they leave to others sooner is little.
constexpr Tick kTogether = 1;
/// What is known for no more round trips is not worth following.
constexpr Tick kWorth = 2;
/// A flow's part of a port may change by this factor before it is something else.
constexpr double kMostChange = 2;

PortId nic_of(const NetworkView& view, const GroupState& state, const TrajectoryFlow& flow) {
    return view.tracks(state.group.flows[flow.place]).data.front();
}

/// The end of a flow may be told so long before its last byte leaves. In a small group others take its part of a port then, and
/// not before.
Tick tells_ahead(const TrajectoryRecord& record, const TrajectoryFlow& flow, Tick lookahead) {
    if (is_large(record.flows.size())) {
        return kTogether * flow.base_rtt;
    }
    return record.flows.size() == 1 ? lookahead : 1;
}

}  // namespace

std::vector<ToldEnd> TrajectoryStage::ends(const GroupState& state, Tick at) const {
    const TrajectoryRecord& record = state.trajectory;
    std::vector<ToldEnd> found;
    if (!record.follows || !record.to_the_end || !predicts_ends_) {
        return found;
    }
    for (const TrajectoryFlow& flow : record.flows) {
        const FlowSlot slot = state.group.flows[flow.place];
        if (flow.sent <= static_cast<double>(at + tells_ahead(record, flow, view_.lookahead())) &&
            engine_.may_tell(slot)) {
            found.push_back({slot, static_cast<Tick>(std::llround(flow.sent)) + flow.base_rtt});
        }
    }
    return found;
}

/// The group is being recorded: as long as it is executed its flows are what they are recorded as.
void TrajectoryStage::carry_own(const GroupState& state, std::uint32_t kind) {
    const TrajectoryRecord& record = state.trajectory;
    for (std::size_t k = 0; is_large(record.flows.size()) && k < record.flows.size(); ++k) {
        TrajectoryFlow flow = record.flows[k];
        flow.follow(record.own->trajectory, k, kind, record.begin);
        const FlowSlot slot = state.group.flows[flow.place];
        carried_.carry(slot, engine_.id_of(slot), flow, record.begin);
    }
}

void TrajectoryStage::forget(const GroupState& state) {
    for (const FlowSlot flow : state.group.flows) {
        carried_.drop(flow);
    }
}

/// A group forms whose flows have all followed, or been recorded, as parts of large ones: it is what others have left of one.
bool TrajectoryStage::carry_on(GroupState& state, Tick at) {
    leave_out(state);
    TrajectoryRecord& record = state.trajectory;
    record.begin = at;
    record.since = at;
    record.carries_on = true;
    bool known = predicts_ends_ && !passes_outside(view_, state.group);
    for (std::size_t place = 0; known && place < state.group.flows.size(); ++place) {
        const FlowSlot slot = state.group.flows[place];
        known = carried_.has(slot, engine_.id_of(slot)) && view_.unsent_packets(slot) >= 0;
        if (known) {
            record.flows.push_back(carried_.take_up(slot, place, at));
            known = known_until(record, record.flows.back()) >
                    static_cast<double>(at + kWorth * state.rtt);
        }
    }
    if (!known || record.flows.empty() || !is_large(record.flows.size()) ||
        !has_same_shares(state, at)) {
        leave_out(state);
        return false;
    }
    return true;
}

/// What laws limit has about as much as when it was recorded.
bool TrajectoryStage::has_same_shares(GroupState& state, Tick at) const {
    std::vector<PortId> limits;
    const std::vector<double> aims = aims_of(state, at, &limits);
    const auto& flows = state.trajectory.flows;
    return std::all_of(flows.begin(), flows.end(), [&](const TrajectoryFlow& flow) {
        return limits[flow.place] == nic_of(view_, state, flow) ||
               (aims[flow.place] <= kMostChange * flow.guide_aim &&
                flow.guide_aim <= kMostChange * aims[flow.place]);
    });
}

/// Each flow goes on with what it has followed; or, where its NIC is what limits it, with what that lets through.
void TrajectoryStage::go_on(GroupState& state, const std::vector<PortId>& limits, Tick at) const {
    TrajectoryRecord& record = state.trajectory;
    for (TrajectoryFlow& flow : record.flows) {
        const bool was = flow.by_nic;
        flow.by_nic = limits[flow.place] == nic_of(view_, state, flow);
        if (was && !flow.by_nic) {
            flow.taken = flow.guided(static_cast<double>(at));
        }
    }
    record.follows = true;
    record.last = record.flows.front().kind;
}

}  // namespace sluice::hybrid
