// SPDX-License-Identifier: Apache-2.0
/// How flows go on by packets that have followed others in a skip.
#include <algorithm>
#include <cmath>

#include "core/hybrid/stages/trajectory_stage.h"
#include "core/random.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// A flow that resumes at less than this part of its rate has more under way than it would have.
constexpr double kSlower = 0.9;

/// Of a round trip, up to the next update of a flow's law.
double random_part(FlowId flow, Tick at) {
    return to_unit_interval(mix_bits(mix_bits(static_cast<std::uint64_t>(at)) ^ flow));
}

/// Of a flow's law as a skip ends, over that with which it began.
double change_of_rate(NetworkView& view, const GroupState& state, const TrajectoryFlow& flow) {
    const auto age = static_cast<double>(state.until - flow.begin);
    const double rate = flow.guide->law(flow.guide_flow, age) * flow.aim * kBitsPerByteAndTick;
    return rate / static_cast<double>(view.reading(state.group.flows[flow.place]).rate);
}

/// The rate at which a flow was sending as the skip began: no more than its part of a NIC that the group's flows divide.
double rate_before(NetworkView& view, const Group& group, FlowSlot flow) {
    const PortId nic = view.tracks(flow).data.front();
    const auto sharing = std::count_if(group.flows.begin(), group.flows.end(), [&](FlowSlot one) {
        return view.tracks(one).data.front() == nic;
    });
    return std::min(static_cast<double>(view.reading(flow).rate),
                    static_cast<double>(view.line_rate(flow)) / static_cast<double>(sharing));
}

/// How far laws have drained what new flows have sent in their first round trip, as if they were alone: 0 to 1. It leaves a queue
/// of a round trip for each flow but one, and laws that have seen it take up a quarter of the port.
double drained_by(NetworkView& view, const GroupState& state) {
    constexpr double kDrains = 0.75;
    const TrajectoryRecord& record = state.trajectory;
    const std::vector<FlowSlot>& flows = state.group.flows;
    const bool has_new = std::any_of(flows.begin(), flows.end(), [&](FlowSlot flow) {
        return view.start(flow) + 2 * view.lookahead() >= record.begin;
    });
    const double age =
        static_cast<double>(state.until - record.begin) / static_cast<double>(state.rtt);
    const double trips = 1 + static_cast<double>(flows.size() - 1) / kDrains;
    return has_new ? std::clamp(age - trips, 0.0, 1.0) : 1;
}

/// What flows of a small group have under way they sent as fast as they did when the skip began. Several that had just begun
/// would meet at their port at once, and laws slow down for what was over long ago. Returns packets that were delivered.
std::int64_t thin(PhaseEngine& engine, const GroupState& state) {
    NetworkView& view = engine.view();
    std::vector<double> part(state.group.flows.size(), 1);
    const double drained = drained_by(view, state);
    for (const TrajectoryFlow& flow : state.trajectory.flows) {
        const FlowSlot slot = state.group.flows[flow.place];
        const double rate =
            change_of_rate(view, state, flow) * static_cast<double>(view.reading(slot).rate);
        const double left = std::min(rate / rate_before(view, state.group, slot), 1.0);
        part[flow.place] = 1 - drained * (1 - left);
    }
    if (is_large(part.size()) || *std::min_element(part.begin(), part.end()) >= kSlower) {
        return 0;
    }
    const Skipped skip{state.rate, state.packets, state.until - state.since};
    return engine.thin(state.group, skip, part, state.until).delivered;
}

}  // namespace

/// Laws resume as those of the recorded group would have gone on.
std::int64_t TrajectoryStage::restore(GroupState& state) {
    TrajectoryRecord& record = state.trajectory;
    if (!record.follows) {
        return 0;
    }
    const std::int64_t delivered = thin(engine_, state);
    for (TrajectoryFlow& flow : record.flows) {
        const FlowSlot slot = state.group.flows[flow.place];
        // Of what the flow really sends: where NICs are the bottleneck, its law's rate is far above that.
        const double trip = state.rate[flow.place] * static_cast<double>(view_.payload()) *
                            static_cast<double>(flow.base_rtt);
        const auto next =
            static_cast<std::int64_t>(trip * random_part(engine_.id_of(slot), state.until));
        const auto age = static_cast<double>(state.until - flow.begin);
        engine_.resume_law(
            slot,
            std::clamp(change_of_rate(view_, state, flow), 1 / kMostRateChange, kMostRateChange),
            {flow.guide->stage(flow.guide_flow, age), next}, state.until);
        const double packets = state.rate[flow.place] * static_cast<double>(record.lasts);
        flow.taken += packets * static_cast<double>(view_.payload()) / flow.aim;
        if (is_large(record.flows.size())) {
            carried_.carry(slot, engine_.id_of(slot), flow, state.until);
        }
    }
    return delivered * view_.payload();
}

}  // namespace sluice::hybrid
