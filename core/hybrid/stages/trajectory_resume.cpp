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
/// A group's first skip is undone if it is interrupted within so many round trips.
constexpr Tick kFewestTrips = 4;

/// Of a round trip, up to the next update of a flow's law.
double random_part(FlowId flow, Tick at) {
    return to_unit_interval(mix_bits(mix_bits(static_cast<std::uint64_t>(at)) ^ flow));
}

/// The rate with which a flow's law resumes at `at`, bits/s.
double rate_at(const TrajectoryFlow& flow, Tick at) {
    const auto age = static_cast<double>(at - flow.begin);
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
        const double change = rate_at(flow, state.until) / rate_before(view, state.group, slot);
        const double left = std::min(change, 1.0);
        part[flow.place] = 1 - drained * (1 - left);
    }
    if (is_large(part.size()) || *std::min_element(part.begin(), part.end()) >= kNearlyAll) {
        return 0;
    }
    const Skipped skip{state.rate, state.packets, state.until - state.since};
    return engine.thin(state.group, skip, part, state.until).delivered;
}

/// What the flow sends in the base round trip before `at`, payload bytes. The mean rate of the present skip would be wrong: in a
/// short skip it also makes up for what was guessed before.
double sent_in_trip(const TrajectoryFlow& flow, Tick at) {
    const auto trip = static_cast<double>(flow.base_rtt);
    const auto now = static_cast<double>(at);
    const double before = std::max(now - trip, static_cast<double>(flow.begin));
    const double sent =
        now > before ? (flow.guided(now) - flow.guided(before)) / (now - before) : 1;
    return sent * trip * flow.aim;
}

/// A flow has more or less under way than what it follows has sent in the last round trip.
bool is_uneven(const NetworkView& view, const GroupState& state, Tick at) {
    const auto& flows = state.trajectory.flows;
    return std::any_of(flows.begin(), flows.end(), [&](const TrajectoryFlow& flow) {
        const double sent = sent_in_trip(flow, at);
        const std::int64_t in_flight = view.reading(state.group.flows[flow.place]).in_flight;
        return std::abs(static_cast<double>(in_flight) - sent) > (1 - kNearlyAll) * sent;
    });
}

}  // namespace

/// What is under way was sent as the skip began, at the rates and the distances of then. So the round trip before an interruption is
/// executed. A skip after another one may be shorter than that: then laws only forget what was sent earlier.
Tick TrajectoryStage::executed_before(GroupState& state, Tick now) {
    TrajectoryRecord& record = state.trajectory;
    record.refills = false;
    if (!record.follows || is_large(record.flows.size())) {
        return 0;
    }
    const Tick lasted = now - state.since;
    if (state.skipped == 0 && lasted < kFewestTrips * state.rtt) {
        return lasted;
    }
    record.refills = lasted > state.rtt;
    if (!record.refills) {
        refill(state, now);
    }
    return std::min(state.rtt, lasted);
}

Tick TrajectoryStage::refill(const GroupState& state, Tick at) {
    if (is_large(state.trajectory.flows.size()) || !is_uneven(view_, state, at)) {
        return 0;
    }
    for (const FlowSlot flow : state.group.flows) {
        engine_.forget_records(flow);
    }
    return state.rtt;
}

/// Laws resume as those of the recorded group would have gone on.
std::int64_t TrajectoryStage::restore(GroupState& state) {
    TrajectoryRecord& record = state.trajectory;
    if (!record.follows) {
        return 0;
    }
    const std::int64_t delivered = thin(engine_, state);
    // While the last round trip is executed laws learn nothing, and keep what they have come to by its end.
    const Tick at = state.until + (record.refills ? state.rtt : 0);
    for (TrajectoryFlow& flow : record.flows) {
        const FlowSlot slot = state.group.flows[flow.place];
        // Of what the flow really sends: where NICs are the bottleneck, its law's rate is far above that.
        const double trip = flow.by_nic ? state.rate[flow.place] *
                                              static_cast<double>(view_.payload() * flow.base_rtt)
                                        : sent_in_trip(flow, at);
        const auto next = static_cast<std::int64_t>(
            trip * (random_part(engine_.id_of(slot), state.until) + (record.refills ? 1 : 0)));
        const auto age = static_cast<double>(at - flow.begin);
        const double change = rate_at(flow, at) / static_cast<double>(view_.reading(slot).rate);
        engine_.resume_law(slot, std::clamp(change, 1 / kMostRateChange, kMostRateChange),
                           {flow.guide->stage(flow.guide_flow, age), next}, state.until);
        if (record.refills) {
            engine_.forget_records(slot);
        }
        const double packets = state.rate[flow.place] * static_cast<double>(record.lasts);
        flow.taken += packets * static_cast<double>(view_.payload()) / flow.aim;
        if (is_large(record.flows.size())) {
            carried_.carry(slot, engine_.id_of(slot), flow, state.until);
        }
    }
    record.refills = false;
    return delivered * view_.payload();
}

}  // namespace sluice::hybrid
