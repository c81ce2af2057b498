// SPDX-License-Identifier: Apache-2.0
/// How groups are recorded, from the instant on at which they form.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/hybrid/stages/trajectory_stage.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// A group one of whose aims has moved by more is recorded no longer: laws follow after a while.
constexpr double kSameAim = 0.005;
constexpr double kSameAimOfLarge = 0.1;  ///< of a large group
/// Of an exchange that others have joined, at least this part is what it was.
constexpr double kMostlyBefore = 0.75;
/// Round trips that differ by no more are the same.
constexpr double kSameTrip = 0.1;
/// A group of which a flow ends sooner, in round trips, is executed.
constexpr Tick kFewestRoundTrips = 8;
constexpr Tick kFewestOfLarge = 2;
/// The same of a new flow alone: how its law comes down from line rate depends, by a fraction of a round trip, on what ACKs
/// its neighbours' last messages still have under way.
constexpr Tick kFewestOfNew = 48;
/// A flow alone of at most so many round trips may be on the way of one that has been alone from the beginning.
constexpr Tick kYoung = 8;
/// Whether a flow alone has settled is asked once in so many of its steps.
constexpr Tick kLookEvery = 8;
/// How far ahead the first end of a flow is looked for in a large group, in round trips.
constexpr std::size_t kMostTripsOfLarge = 16 * kMaxBins;

/// Additive steps make windows converge. So rates converge only between flows of the same round trip. And of a flow that has
/// joined an exchange, nobody knows to which window it will come: not converges(flow).
template <class Converges>
void keep_rates(const TrajectoryRecord& record, Converges&& converges) {
    std::vector<Tick> trips;
    for (const TrajectoryFlow& flow : record.flows) {
        trips.push_back(flow.base_rtt);
    }
    const auto median = trips.begin() + static_cast<std::ptrdiff_t>(trips.size() / 2);
    std::nth_element(trips.begin(), median, trips.end());
    const auto trip = static_cast<double>(*median);
    for (std::size_t k = 0; k < record.flows.size(); ++k) {
        const auto own = static_cast<double>(record.flows[k].base_rtt);
        if (std::abs(own - trip) > kSameTrip * trip || !converges(record.flows[k])) {
            record.own->trajectory->keep_rate(k);
        }
    }
}

/// A flow alone that has settled goes on as the nearest recording that is complete. If there is none, it goes on as it and all
/// those near it have done, once they have been recorded for long enough together. False: it has not settled, and is recorded on.
bool settle_with_others(const Trajectories& known, const TrajectoryKinds& kinds,
                        const TrajectoryRecord& record) {
    Trajectory& own = *record.own->trajectory;
    const GroupKey begin(record.shape.begin(),
                         record.shape.begin() + static_cast<std::ptrdiff_t>(record.rate_at));
    const auto distance = [&](const GroupKey& key) { return kinds.distance_settled(record, key); };
    constexpr std::int64_t kBeyond = TrajectoryKinds::kNear + 1;
    if (const auto settled = known.nearest(
            begin, kBeyond, distance, [&](std::uint32_t kind) { return known.complete(kind); })) {
        own.go_on_as(*settled);
        return true;
    }
    LateSteps late;
    if (!record.kept) {
        own.add_to(late);
    }
    known.each_like(begin, [&](const GroupKey& key, std::uint32_t kind) {
        if (distance(key) < kBeyond) {
            known.add_to(late, kind);
        }
    });
    if (!late.have_settled(own.settling().steps)) {
        return false;
    }
    own.go_on_by(late.slope());
    return true;
}

}  // namespace

void TrajectoryStage::leave_out(GroupState& state) {
    state.trajectory = TrajectoryRecord{};
    state.trajectory.formed = state.changed;
}

void TrajectoryStage::form(GroupState& state, Tick at, bool may_be_young) {
    TrajectoryRecord& record = state.trajectory;
    leave_out(state);
    if (!active_ || !kinds_.may_form(state)) {
        return;
    }
    record.begin = at;
    kinds_.list_flows(state, at);
    const FlowSlot first = state.group.flows[record.flows.front().place];
    if (may_be_young && record.flows.size() == 1 && !kinds_.is_fresh(first) &&
        view_.sender(first).skipped == 0) {
        const Tick begin = view_.start(first) + view_.lookahead();
        record.young = at - begin < kYoung * state.rtt;
        record.begin = record.young ? begin : at;
    }
    const bool large = is_large(record.flows.size());
    double need =
        static_cast<double>(large ? kMostTripsOfLarge : kMaxBins) * static_cast<double>(state.rtt);
    const bool known = record.take_aims(aims_of(state, at));
    for (TrajectoryFlow& flow : record.flows) {
        flow.advance /= known ? flow.aim : 1;
        need = known ? std::min(need, left(state, flow) / flow.aim) : 0;
    }
    const bool is_new = record.flows.size() == 1 && (record.young || kinds_.is_fresh(first));
    const Tick fewest = is_new ? kFewestOfNew : large ? kFewestOfLarge : kFewestRoundTrips;
    if (need < static_cast<double>(fewest * state.rtt)) {
        record.flows.clear();
        return;
    }
    record.need = static_cast<Tick>(need);
    record.line_rate = view_.line_rate(first);
    record.queued = large ? 0 : std::max<std::int64_t>(kinds_.new_flows(state) - 1, 0);
    record.unshared = large && !kinds_.is_exchange(state.group.flows);
    const Settling settling = kinds_.settling_of(state);
    if (record.unshared && !may_settle(state, settling)) {
        record.flows.clear();
        return;
    }
    if (!record.unshared) {
        kinds_.name(state);
        record.counted = kind_of(record);
        known_.count(record.counted);
    }
    if (!record.young) {
        record.own = std::make_shared<Recording>(record.flows.size(), state.rtt, settling);
        if (large) {
            keep_rates(record, [&](const TrajectoryFlow& flow) {
                const FlowSlot slot = state.group.flows[flow.place];
                return !record.unshared || carried_.converges(slot, engine_.id_of(slot));
            });
        }
    }
}

/// True if a group that is no exchange may go on by itself once it has settled: most of its flows have been in one.
bool TrajectoryStage::may_settle(const GroupState& state, const Settling& settling) const {
    if (settling.steps == 0 || !predicts_ends_) {
        return false;
    }
    const auto before =
        std::count_if(state.group.flows.begin(), state.group.flows.end(),
                      [this](FlowSlot flow) { return carried_.has(flow, engine_.id_of(flow)); });
    return static_cast<double>(before) >=
           kMostlyBefore * static_cast<double>(state.group.flows.size());
}

void TrajectoryStage::observe(GroupState& state, Tick at) {
    TrajectoryRecord& record = state.trajectory;
    record.follows = false;
    if (record.own != nullptr && record.formed == state.changed) {
        this->record(state, at);
    }
}

/// Steps that have ended by the present readings, as long as laws aim at the same.
void TrajectoryStage::record(GroupState& state, Tick at) {
    TrajectoryRecord& record = state.trajectory;
    const bool known = at - record.begin >= kLoadsKnown * state.rtt;
    const bool large = is_large(record.flows.size());
    const double same = large ? kSameAimOfLarge : kSameAim;
    const bool look = !large || !known || at - record.aimed >= state.rtt;
    std::vector<double> aims;
    if (look) {
        aims = aims_of(state, at);
        record.aimed = at;
    } else {
        aims.resize(record.flows.size());
        for (const TrajectoryFlow& flow : record.flows) {
            aims[flow.place] = flow.aim;
        }
    }
    for (std::size_t k = 0; k < record.flows.size(); ++k) {
        TrajectoryFlow& flow = record.flows[k];
        const double aim = aims[flow.place];
        flow.aim = known ? flow.aim : aim;
        if (!(aim > 0) || std::abs(aim - flow.aim) > same * flow.aim) {
            if (record.flows.size() == 1 && aim > 0) {
                form(state, at, false);
                record.renewed = true;
            } else {
                record.stop_recording();
            }
            return;
        }
        record_flow(state, flow, k, aim, at);
    }
    if (known && !record.asked) {
        record.asked = true;
        keep(state);
        return;
    }
    Trajectory& own = *record.own->trajectory;
    const Tick steps = own.reach() / own.step();
    const bool may_have_settled =
        record.flows.size() == 1 && steps >= kSettled && steps % kLookEvery == 0;
    if ((may_have_settled && settle_with_others(known_, kinds_, record)) ||
        (look && own.is_complete())) {
        complete(record, at);
    }
}

/// The recording is: a large group that has settled goes on by itself, or else is recorded on. A small one may follow others.
void TrajectoryStage::complete(TrajectoryRecord& record, Tick at) {
    if (!is_large(record.flows.size())) {
        if (!record.kept) {
            known_.keep(kind_of(record), record.own);
        }
        record.stop_recording();
    } else if (record.own->trajectory->settles()) {
        follow_own(record, at);
    } else {
        record.own->trajectory->halve();
    }
}

/// The recording of a large group is complete: it goes on as it has settled. Others may follow it, whether or not anybody has
/// asked for one.
void TrajectoryStage::follow_own(TrajectoryRecord& record, Tick at) {
    record.last = kind_of(record);
    if (!record.kept && !record.unshared) {
        known_.keep(record.last, record.own);
    }
    record.guide = record.own->trajectory;
    record.since = at;
    record.take_up(record.guide, record.last);
    record.follows = false;
    record.own.reset();
    record.kept = false;
    record.may_join = true;
}

void TrajectoryStage::record_flow(GroupState& state, TrajectoryFlow& flow, std::size_t k,
                                  double aim, Tick at) {
    const TrajectoryRecord& record = state.trajectory;
    Trajectory& own = *record.own->trajectory;
    const auto step = static_cast<double>(own.step());
    const FlowSlot slot = state.group.flows[flow.place];
    const steady::FlowReading& reading = state.readings[flow.place];
    const auto age = static_cast<double>(reading.progress - record.begin - flow.base_rtt);
    const double more = (static_cast<double>(reading.acked) - flow.acked) / aim;
    const auto step_end = [&] { return static_cast<double>(own.advances(k) + 1) * step; };
    while (age > flow.age && step_end() <= age) {
        const double part = (step_end() - flow.age) / (age - flow.age);
        own.add_advance(k, flow.advance + part * more);
    }
    flow.age = age;
    flow.advance += more;
    flow.acked = static_cast<double>(reading.acked);
    while (static_cast<double>(own.laws(k) + 1) * step <= static_cast<double>(at - record.begin)) {
        own.add_law(k, static_cast<double>(reading.rate) / kBitsPerByteAndTick / aim,
                    congestion::increase_stage(view_.law_state(slot), view_.law()));
    }
}

/// The group's kind is known by now: it is recorded on if others of it want that. If not, it may follow those that are.
void TrajectoryStage::keep(GroupState& state) {
    TrajectoryRecord& record = state.trajectory;
    if (record.unshared) {
        return;
    }
    const std::uint32_t kind = kind_of(record);
    if (kind != record.counted) {
        known_.count(kind);
    }
    record.kept = known_.wants(kind, record.flows.size(), record.need);
    if (record.kept) {
        known_.keep(kind, record.own);
        carry_own(state, kind);
    } else {
        record.may_join = true;
        if (record.flows.size() > 1 && !is_large(record.flows.size())) {
            record.own.reset();
        }
    }
}

}  // namespace sluice::hybrid
