// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/trajectory_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/hybrid/stages/stage_list.h"
#include "core/random.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// An aim that has moved by this part of it is another one.
constexpr double kAimsAgree = 0.002;
/// A group one of whose aims has moved by more is recorded no longer: laws follow after a while.
constexpr double kSameAim = 0.005;
constexpr double kSameAimOfLarge = 0.1;  ///< of a large group
/// ACK load is known when a group is so many round trips old.
constexpr Tick kLoadsKnown = 2;
/// What is being recorded is followed further than it is known: by this part of the age, or so many steps.
constexpr double kGuessed = 0.25;
constexpr double kFewGuessed = 4;
/// A young flow goes on as one that has been alone from the beginning, if it has sent as much, and sends as fast, but for this
/// part.
constexpr double kLike = 0.1;

/// What a group has done before it follows is as much as the other one had done.
void take_up(TrajectoryRecord& record) {
    for (std::size_t k = 0; k < record.flows.size(); ++k) {
        record.flows[k].taken = record.followed->advance(k, static_cast<double>(record.from));
    }
}

}  // namespace

TrajectoryStage::TrajectoryStage(PhaseEngine& engine, PortLoads& loads, const PhaseConfig& config,
                                 bool measured)
    : engine_(engine),
      view_(engine.view()),
      loads_(loads),
      active_(measured && config.calibrate && config.local() &&
              engine.view().ack_streams() != nullptr && engine.view().counter_unit() > 0 &&
              engine.drops_nothing()) {}

void TrajectoryStage::list(GroupState& state, const steady::GroupFacts& /*facts*/) {
    state.trajectory.followed.reset();
}

/// Payload bytes that a skip may take.
double TrajectoryStage::left(const GroupState& state, const TrajectoryFlow& flow) const {
    const std::int64_t packets = view_.unsent_packets(state.group.flows[flow.place]);
    return static_cast<double>((packets - kLastPackets - 1) * view_.payload());
}

/// Of a large group, ACKs of its own are part of what it does.
std::vector<double> TrajectoryStage::aims_of(const GroupState& state, Tick at) const {
    return loads_.fair_aims(state.group, at, is_large(state.group.flows.size()));
}

/// False if one of them is not known.
bool TrajectoryStage::take_aims(GroupState& state, Tick at) const {
    const std::vector<double> aims = aims_of(state, at);
    bool known = true;
    for (TrajectoryFlow& flow : state.trajectory.flows) {
        flow.aim = aims[flow.place];
        known = known && flow.aim > 0;
    }
    return known;
}

/// The same, of a group that follows: where less is left than before, laws see it at once; where there is more, they raise
/// rates step by step, and take it up with the last of them.
bool TrajectoryStage::follow_aims(GroupState& state, Tick at) const {
    TrajectoryRecord& record = state.trajectory;
    const std::vector<double> aims = aims_of(state, at);
    const bool have_risen = std::any_of(
        record.flows.begin(), record.flows.end(),
        [&](const TrajectoryFlow& flow) { return aims[flow.place] > (1 + kAimsAgree) * flow.aim; });
    if (!have_risen || record.last == kNone || at >= record.rises) {
        record.rises = kNever;
        return take_aims(state, at);
    }
    record.rises = std::min(record.rises, at + rise_time(state));
    bool known = true;
    for (TrajectoryFlow& flow : record.flows) {
        flow.aim = std::min(flow.aim, aims[flow.place]);
        known = known && flow.aim > 0;
    }
    return known;
}

/// On average: it may be anywhere in its steps.
Tick TrajectoryStage::rise_time(const GroupState& state) const {
    return congestion::waiting_time(view_.law(), state.rtt) / 2;
}

/// By the flows and the instant at which they met.
std::uint64_t TrajectoryStage::draw_of(const GroupState& state) const {
    std::uint64_t draw = mix_bits(static_cast<std::uint64_t>(state.trajectory.begin));
    for (const FlowSlot flow : state.group.flows) {
        draw = mix_bits(draw ^ engine_.id_of(flow));
    }
    return draw;
}

/// True if a young flow, which somebody's last packets may have met, has done what `other` did.
bool TrajectoryStage::is_like(const GroupState& state, const Trajectory& other) const {
    const TrajectoryRecord& record = state.trajectory;
    const double aim = record.flows.front().aim;
    const auto age = static_cast<double>(record.from);
    const step::Sender& sender = view_.sender(state.group.flows.front());
    const auto payload = static_cast<double>(view_.payload());
    const double line = static_cast<double>(record.line_rate) / kBitsPerByteAndTick * payload /
                        static_cast<double>(view_.data_bytes());
    const double sent = line * static_cast<double>(view_.lookahead()) + other.advance(0, age) * aim;
    const double law = other.law(0, age) * aim;
    const double rate = static_cast<double>(sender.cc.rate) / kBitsPerByteAndTick;
    return std::abs(static_cast<double>(sender.next_bytes) - sent) <= kLike * sent + 2 * payload &&
           std::abs(rate - law) <= kLike * law;
}

/// A large group stays with the one that it has followed.
void TrajectoryStage::choose_large(TrajectoryRecord& record, std::uint32_t kind,
                                   std::uint64_t draw) const {
    if (record.guide != nullptr && known_.goes_on(record.last, *record.guide, record.from)) {
        record.followed = record.guide;
        return;
    }
    const std::size_t flows = record.flows.size();
    if (record.last != kNone || !known_.wants(kind, flows, record.need)) {
        record.followed = known_.draw(kind, flows, record.from, record.need, draw);
    }
    record.guide = record.followed;
    if (record.followed != nullptr) {
        record.last = kind;
        take_up(record);
    }
}

void TrajectoryStage::choose(GroupState& state, Tick at) {
    TrajectoryRecord& record = state.trajectory;
    const std::uint32_t kind = kind_of(record);
    const std::uint64_t draw = draw_of(state);
    const std::size_t flows = record.flows.size();
    if (is_large(flows)) {
        choose_large(record, kind, draw);
        return;
    }
    const bool alone = flows == 1;
    const bool wanted =
        record.last == kNone && !record.young && known_.wants(kind, flows, record.need);
    if (!wanted || (alone && !known_.claim(kind, at, at + 2 * kLoadsKnown * state.rtt))) {
        record.followed = known_.draw(kind, flows, record.from, record.need, draw);
        if (record.followed == nullptr && alone) {
            record.followed = draw_near(state);
        }
    }
    if (record.followed != nullptr) {
        record.last = kind;
    } else if (record.last != kNone) {
        // Nobody has had the present aim: better to go on as before than to stop.
        record.followed = known_.draw(record.last, flows, record.from, record.need, draw);
    }
    if (record.followed != nullptr) {
        take_up(record);
    }
}

bool TrajectoryStage::follow(GroupState& state, Tick at) {
    TrajectoryRecord& record = state.trajectory;
    record.followed.reset();
    if (record.formed != state.changed || record.flows.empty() || record.kept) {
        return false;
    }
    if (std::exchange(record.to_take, false)) {
        take_skipped(state);
    }
    if (!follow_aims(state, at)) {
        return false;
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        state.readings[i] = view_.reading(state.group.flows[i]);
    }
    record.from = at - record.begin;
    choose(state, at);
    if (record.young && (record.followed == nullptr || !is_like(state, *record.followed))) {
        record.flows.clear();
        record.followed.reset();
    }
    record.young = false;
    return record.followed != nullptr;
}

bool TrajectoryStage::is_outdated(const GroupState& state, Tick at) const {
    const TrajectoryRecord& record = state.trajectory;
    const std::vector<double> aims = aims_of(state, at);
    const double most =
        record.rises == kNever ? 1 + kAimsAgree : std::numeric_limits<double>::infinity();
    return std::any_of(record.flows.begin(), record.flows.end(), [&](const TrajectoryFlow& flow) {
        const double change = aims[flow.place] / flow.aim;
        return change < 1 - kAimsAgree || change > most;
    });
}

/// The age up to which it may be followed now.
double TrajectoryStage::known_to(const TrajectoryRecord& record) const {
    const Trajectory& followed = *record.followed;
    const auto reach = static_cast<double>(followed.extended_reach());
    if (record.guide == nullptr || !known_.grows(record.last, followed)) {
        return reach;
    }
    const auto from = static_cast<double>(record.from);
    return std::max(reach, from + std::max(kGuessed * from,
                                           kFewGuessed * static_cast<double>(followed.step())));
}

void TrajectoryStage::limit(SkipPlan& plan) {
    GroupState& state = plan.state;
    TrajectoryRecord& record = state.trajectory;
    if (record.followed == nullptr) {
        plan.spared = record.own != nullptr && record.formed == state.changed;
        plan.longest = plan.spared ? 0 : plan.longest;
        return;
    }
    const Trajectory& followed = *record.followed;
    const auto from = static_cast<double>(record.from);
    double end = std::min(known_to(record),
                          from + static_cast<double>(std::min(plan.most, record.rises - plan.at)));
    record.to_the_end = false;
    for (std::size_t k = 0; k < record.flows.size(); ++k) {
        const TrajectoryFlow& flow = record.flows[k];
        const double whole = flow.taken + left(state, flow) / flow.aim;
        const double age = followed.age_at(k, whole);
        record.to_the_end = record.to_the_end || age < end;
        end = std::min(end, age);
    }
    if (record.to_the_end) {
        // What new flows have sent of their first round trips stands in one queue.
        end -= static_cast<double>(record.queued * view_.lookahead());
    }
    const double dt = std::max(std::floor(end - from), 0.0);
    plan.longest = static_cast<Tick>(dt);
    plan.rates_are_known = true;
    for (std::size_t k = 0; k < record.flows.size() && dt > 0; ++k) {
        const TrajectoryFlow& flow = record.flows[k];
        const double advance = std::max(followed.advance(k, from + dt) - flow.taken, 0.0);
        state.rate[flow.place] = advance * flow.aim / dt / static_cast<double>(view_.payload());
    }
}

void TrajectoryStage::settle(GroupState& state, Tick dt) {
    TrajectoryRecord& record = state.trajectory;
    record.own.reset();  // what is skipped is not recorded
    record.lasts = dt;
    if (record.followed != nullptr && record.to_the_end) {
        state.planned_end = PhaseEnd::finisher_near;
    }
}

double TrajectoryStage::mean_ratio(const GroupState& state, std::size_t flow, Tick first) const {
    const TrajectoryRecord& record = state.trajectory;
    if (record.followed == nullptr || first <= 0 || record.lasts <= 0) {
        return 1;
    }
    const auto found = std::find_if(record.flows.begin(), record.flows.end(),
                                    [flow](const auto& one) { return one.place == flow; });
    const auto k = static_cast<std::size_t>(found - record.flows.begin());
    const auto mean_over = [&](Tick length) {
        const auto from = static_cast<double>(record.from);
        const auto ticks = static_cast<double>(length);
        const double advance = record.followed->advance(k, from + ticks) - record.flows[k].taken;
        return std::max(advance, 0.0) / ticks;
    };
    const double whole = mean_over(record.lasts);
    return whole > 0 ? mean_over(first) / whole : 1;
}

void TrajectoryStage::shorten(GroupState& state, Tick dt) {
    if (state.trajectory.followed == nullptr || dt <= 0) {
        return;
    }
    for (std::size_t flow = 0; flow < state.rate.size(); ++flow) {
        state.rate[flow] *= mean_ratio(state, flow, dt);
    }
    state.trajectory.lasts = dt;
}

/// Laws resume as those of the recorded group would have gone on.
std::int64_t TrajectoryStage::restore(GroupState& state) {
    TrajectoryRecord& record = state.trajectory;
    const auto age = static_cast<double>(state.until - record.begin);
    for (std::size_t k = 0; record.followed != nullptr && k < record.flows.size(); ++k) {
        const FlowSlot flow = state.group.flows[record.flows[k].place];
        const double rate =
            record.followed->law(k, age) * record.flows[k].aim * kBitsPerByteAndTick;
        const double change = rate / static_cast<double>(view_.reading(flow).rate);
        engine_.resume_law(flow, std::clamp(change, 1 / kMostRateChange, kMostRateChange),
                           state.until);
    }
    record.to_take = record.followed != nullptr;
    return 0;
}

/// Of the advance of the one that is followed, the last skip has taken its part.
void TrajectoryStage::take_skipped(GroupState& state) const {
    TrajectoryRecord& record = state.trajectory;
    for (TrajectoryFlow& flow : record.flows) {
        const double packets = state.rate[flow.place] * static_cast<double>(record.lasts);
        flow.taken += packets * static_cast<double>(view_.payload()) / flow.aim;
    }
}

void TrajectoryStage::observe(GroupState& state, Tick at) {
    TrajectoryRecord& record = state.trajectory;
    record.followed.reset();
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
    const std::vector<double> aims = aims_of(state, at);
    for (std::size_t k = 0; k < record.flows.size(); ++k) {
        TrajectoryFlow& flow = record.flows[k];
        const double aim = aims[flow.place];
        flow.aim = known ? flow.aim : aim;
        if (!(aim > 0) || std::abs(aim - flow.aim) > same * flow.aim) {
            record.own.reset();
            return;
        }
        record_flow(state, flow, k, aim, at);
    }
    if (known && !record.kept) {
        keep(record);
    } else if (record.own->trajectory->is_complete() && large) {
        record.own->trajectory->halve();
    } else if (record.own->trajectory->is_complete()) {
        record.own.reset();
    }
}

void TrajectoryStage::record_flow(GroupState& state, TrajectoryFlow& flow, std::size_t k,
                                  double aim, Tick at) {
    const TrajectoryRecord& record = state.trajectory;
    Trajectory& own = *record.own->trajectory;
    const auto step = static_cast<double>(own.step());
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
        own.add_law(k, static_cast<double>(reading.rate) / kBitsPerByteAndTick / aim);
    }
}

/// The group's kind is known by now: it is recorded on if others of it want that.
void TrajectoryStage::keep(TrajectoryRecord& record) {
    const std::uint32_t kind = kind_of(record);
    record.kept = known_.wants(kind, record.flows.size(), record.need);
    if (record.kept) {
        known_.keep(kind, record.own);
    } else {
        record.own.reset();
        record.may_join = is_large(record.flows.size());
    }
}

std::unique_ptr<SkipStage> make_trajectory_stage(StageContext& context) {
    auto stage = std::make_unique<TrajectoryStage>(context.parts.engine, context.loads,
                                                   context.parts.config, context.rates == nullptr);
    context.trajectories = stage.get();
    return stage;
}

}  // namespace sluice::hybrid
