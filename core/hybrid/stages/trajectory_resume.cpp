// SPDX-License-Identifier: Apache-2.0
/// How flows go on by packets that have followed others in a skip.
#include <algorithm>
#include <cmath>

#include "core/hybrid/stages/trajectory_stage.h"
#include "core/random.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// If each flow keeps at least this part of what it has under way, nothing is taken out.
constexpr double kNearlyAll = 0.9;

/// Of a round trip, up to the next update of a flow's law.
double random_part(FlowId flow, Tick at) {
    return to_unit_interval(mix_bits(mix_bits(static_cast<std::uint64_t>(at)) ^ flow));
}

/// The rate with which a flow's law resumes, bits/s.
double rate_after(const GroupState& state, const TrajectoryFlow& flow) {
    const auto age = static_cast<double>(state.until - flow.begin);
    return flow.guide->law(flow.guide_flow, age) * flow.aim * kBitsPerByteAndTick;
}

/// The rate at which it was sending as the skip began: no more than its part of a NIC that the group's flows divide.
double rate_before(NetworkView& view, const Group& group, FlowSlot flow) {
    const PortId nic = view.tracks(flow).data.front();
    const auto sharing = std::count_if(group.flows.begin(), group.flows.end(), [&](FlowSlot one) {
        return view.tracks(one).data.front() == nic;
    });
    return std::min(static_cast<double>(view.reading(flow).rate),
                    static_cast<double>(view.line_rate(flow)) / static_cast<double>(sharing));
}

/// What part of the queue laws have drained that new flows leave: 0 to 1. In their first round trip they send as if they were
/// alone, so that the queue is a round trip long for each flow but one.
double drained_part(NetworkView& view, const GroupState& state) {
    // Laws that have seen the queue leave so much of the port to it.
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

/// A skip ends with the packets under way that there were as it began. Of a small group they were sent at the rates of then.
/// Those of several new flows would meet at their port for a second time, and laws would slow down for a queue that was over long
/// ago. So only as many are left as fit the rates of now. Returns how many were delivered instead.
std::int64_t thin(PhaseEngine& engine, const GroupState& state) {
    NetworkView& view = engine.view();
    std::vector<double> part(state.group.flows.size(), 1);
    const double drained = drained_part(view, state);
    for (const TrajectoryFlow& flow : state.trajectory.flows) {
        const FlowSlot slot = state.group.flows[flow.place];
        const double change = rate_after(state, flow) / rate_before(view, state.group, slot);
        const double left = std::min(change, 1.0);
        part[flow.place] = 1 - drained * (1 - left);
    }
    if (is_large(part.size()) || *std::min_element(part.begin(), part.end()) >= kNearlyAll) {
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
        const double change =
            rate_after(state, flow) / static_cast<double>(view_.reading(slot).rate);
        engine_.resume_law(slot, std::clamp(change, 1 / kMostRateChange, kMostRateChange),
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
