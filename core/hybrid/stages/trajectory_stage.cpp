// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/trajectory_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "core/hybrid/outside.h"
#include "core/hybrid/stages/ack_streams.h"
#include "core/hybrid/stages/stage_list.h"
#include "core/random.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// Most flows of a group that is recorded: larger ones hardly ever occur again.
constexpr std::size_t kMostFlows = 6;
/// Most new flows of a group that shares ports: how several begin together is a matter of fractions of a round trip.
constexpr std::size_t kMostNew = 2;
/// A group of which a flow ends sooner, in round trips, is executed.
constexpr Tick kFewestRoundTrips = 8;
/// The same of a new flow alone: how its law comes down from line rate depends, by a fraction of a round trip, on what ACKs
/// its neighbours' last messages still have under way.
constexpr Tick kFewestOfNew = 48;
/// Laws' rates over aims are of one class if their logarithms to this base round to the same number.
constexpr double kRateClass = 1.4;
constexpr double kRateClassOfMany = 2.5;  ///< in groups of more than two flows
/// In place of the class of a flow of which nothing has been acknowledged.
constexpr std::int64_t kFresh = 1000;
/// Aims of flows alone are of one class if they round to the same part of the NIC's rate: a law does not do quite what is
/// said of it, and is off by the same where it aims at the same.
constexpr double kAimClasses = 64;
constexpr double kAimClassesOfLong = 256;
/// The same of the largest part of a link that ACKs take as the flow begins.
constexpr double kTrajectoryAckClasses = 32;
/// An aim that has moved by this part of it is another one.
constexpr double kAimsAgree = 0.002;
/// A group one of whose aims has moved by more is recorded no longer: laws follow after a while.
constexpr double kSameAim = 0.005;
/// ACK load is known when a group is so many round trips old.
constexpr Tick kLoadsKnown = 2;
/// A flow alone of at most so many round trips may be on the way of one that has been alone from the beginning,
constexpr Tick kYoung = 8;
/// if it has sent as much, and sends as fast, but for this part.
constexpr double kLike = 0.1;
/// A law resumes with a rate within this factor of its rate before the skip.
constexpr double kMostChange = 16;

std::int64_t rate_class(double rate, std::size_t flows) {
    return std::lround(std::log(rate) / std::log(flows > 2 ? kRateClassOfMany : kRateClass));
}

}  // namespace

TrajectoryStage::TrajectoryStage(PhaseEngine& engine, PortLoads& loads, const PhaseConfig& config,
                                 bool measured)
    : engine_(engine),
      view_(engine.view()),
      loads_(loads),
      active_(measured && config.calibrate && config.local() &&
              engine.view().ack_streams() != nullptr && engine.view().counter_unit() > 0 &&
              engine.view().drops_nothing()) {}

void TrajectoryStage::list(GroupState& state, const steady::GroupFacts& /*facts*/) {
    state.trajectory.followed.reset();
}

/// Nothing of it has been acknowledged or skipped.
bool TrajectoryStage::is_fresh(FlowSlot flow) const {
    const step::Sender& sender = view_.sender(flow);
    return sender.una_bytes == 0 && sender.skipped == 0;
}

/// Payload bytes that a skip may take.
double TrajectoryStage::left(const GroupState& state, const TrajectoryFlow& flow) const {
    const std::int64_t packets = view_.unsent_packets(state.group.flows[flow.place]);
    return static_cast<double>((packets - kLastPackets - 1) * view_.payload());
}

/// False if one of them is not known.
bool TrajectoryStage::take_aims(GroupState& state, Tick at) const {
    const std::vector<double> aims = loads_.fair_aims(state.group, at);
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
    const std::vector<double> aims = loads_.fair_aims(state.group, at);
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

/// Not where packets may be dropped: what follows a time-out is not to be told from a few groups. Nor where a port is slower
/// than a NIC: there a new flow's first round trip stands in a queue for long, and it is not known what it does if somebody
/// comes before it is gone.
bool TrajectoryStage::may_form(const GroupState& state) const {
    const std::vector<FlowSlot>& flows = state.group.flows;
    if (!active_ || flows.empty() || flows.size() > kMostFlows ||
        passes_outside(view_, state.group)) {
        return false;
    }
    Tick first = kNever;
    Tick last = 0;
    std::size_t fresh = 0;
    for (const FlowSlot flow : flows) {
        const std::vector<PortId>& way = view_.tracks(flow).data;
        const bool slower = std::any_of(way.begin(), way.end(), [&](PortId port) {
            return view_.link_rate(port) < view_.line_rate(flow);
        });
        if (slower || view_.unsent_packets(flow) <= 0) {
            return false;
        }
        if (is_fresh(flow)) {
            ++fresh;
            first = std::min(first, view_.start(flow));
            last = std::max(last, view_.start(flow));
        }
    }
    return fresh <= 1 || (fresh <= kMostNew && last - first <= view_.lookahead());
}

/// In an order that tells apart what does: new flows last, then by switches, then the fastest first.
void TrajectoryStage::list_flows(GroupState& state, Tick at) const {
    TrajectoryRecord& record = state.trajectory;
    for (std::size_t place = 0; place < state.group.flows.size(); ++place) {
        const FlowSlot slot = state.group.flows[place];
        const steady::FlowReading reading = view_.reading(slot);
        TrajectoryFlow flow;
        flow.place = place;
        flow.base_rtt = view_.base_rtt(slot);
        flow.acked = static_cast<double>(reading.acked);
        // Of a new flow the first ACK is on its way.
        const Tick told = reading.acked > 0 ? reading.progress : state.changed + flow.base_rtt;
        flow.age = static_cast<double>(told - at - flow.base_rtt);
        flow.advance = -static_cast<double>(reading.in_flight);  // bytes, up to here
        record.flows.push_back(flow);
    }
    const auto rank = [&](const TrajectoryFlow& flow) {
        const FlowSlot slot = state.group.flows[flow.place];
        return std::make_tuple(is_fresh(slot), view_.tracks(slot).data.size(),
                               -view_.sender(slot).cc.rate);
    };
    std::stable_sort(record.flows.begin(), record.flows.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

/// By flow in the kind's order: base RTT, class, what its law was given, the class of its law's rate, and the ports of its
/// data by first appearance, with their rates.
GroupKey TrajectoryStage::shape_of(const GroupState& state) const {
    const TrajectoryRecord& record = state.trajectory;
    GroupKey key = {static_cast<std::int64_t>(record.flows.size())};
    std::map<PortId, std::int64_t> names;
    for (const TrajectoryFlow& flow : record.flows) {
        const FlowSlot slot = state.group.flows[flow.place];
        const step::Sender& sender = view_.sender(slot);
        const double rate = static_cast<double>(sender.cc.rate) / kBitsPerByteAndTick / flow.aim;
        const std::vector<std::int64_t> law = view_.law_facts(slot);
        const std::vector<PortId>& way = view_.tracks(slot).data;
        key.insert(key.end(), {flow.base_rtt, sender.traffic_class});
        key.insert(key.end(), law.begin(), law.end());
        key.push_back(record.young || is_fresh(slot) ? kFresh
                                                     : rate_class(rate, record.flows.size()));
        key.push_back(static_cast<std::int64_t>(way.size()));
        for (const PortId port : way) {
            const auto [name, first] = names.emplace(port, static_cast<std::int64_t>(names.size()));
            key.push_back(name->second);
            if (first) {
                key.push_back(view_.link_rate(port));
            }
        }
    }
    return key;
}

/// Flows alone are told apart by what they aim at.
std::uint32_t TrajectoryStage::kind_of(const TrajectoryRecord& record) {
    GroupKey key = record.shape;
    if (record.flows.size() == 1) {
        const TrajectoryFlow& flow = record.flows.front();
        const double line = static_cast<double>(record.line_rate) / kBitsPerByteAndTick;
        const bool is_long = 2 * record.need > static_cast<Tick>(kMaxBins) * flow.base_rtt;
        const double classes = is_long ? kAimClassesOfLong : kAimClasses;
        key.insert(key.end(), {is_long ? 1 : 0, std::llround(flow.aim / line * classes)});
    }
    return known_.kind_of(key);
}

/// A flow begins at line rate, and its law lowers that the further, the more ACKs are in its way.
std::int64_t TrajectoryStage::ack_class(FlowSlot flow) const {
    double most = 0;
    for (const PortId port : view_.tracks(flow).data) {
        const auto link = static_cast<double>(view_.link_rate(port)) / kBitsPerByteAndTick;
        most = std::max(most, view_.ack_streams()->across(port) / link);
    }
    return std::llround(most * kTrajectoryAckClasses);
}

void TrajectoryStage::form(GroupState& state, Tick at) {
    TrajectoryRecord& record = state.trajectory;
    record = TrajectoryRecord{};
    record.formed = state.changed;
    if (!may_form(state)) {
        return;
    }
    record.begin = at;
    list_flows(state, at);
    const FlowSlot first = state.group.flows[record.flows.front().place];
    if (record.flows.size() == 1 && !is_fresh(first) && view_.sender(first).skipped == 0) {
        const Tick begin = view_.start(first) + view_.lookahead();
        record.young = at - begin < kYoung * state.rtt;
        record.begin = record.young ? begin : at;
    }
    double need = static_cast<double>(kMaxBins) * static_cast<double>(state.rtt);
    const bool known = take_aims(state, at);
    for (TrajectoryFlow& flow : record.flows) {
        flow.advance /= known ? flow.aim : 1;
        need = known ? std::min(need, left(state, flow) / flow.aim) : 0;
    }
    const bool is_new = record.flows.size() == 1 && (record.young || is_fresh(first));
    const Tick fewest = is_new ? kFewestOfNew : kFewestRoundTrips;
    if (need < static_cast<double>(fewest * state.rtt)) {
        record.flows.clear();
        return;
    }
    record.need = static_cast<Tick>(need);
    record.line_rate = view_.line_rate(first);
    record.shape = shape_of(state);
    record.shape.push_back(record.flows.size() == 1 ? ack_class(first) : 0);
    known_.count(kind_of(record));
    if (!record.young) {
        record.own = std::make_shared<Recording>(record.flows.size(), state.rtt);
    }
}

/// By the flows and the instant at which they met.
std::uint64_t TrajectoryStage::draw_of(const GroupState& state) const {
    std::uint64_t draw = mix_bits(static_cast<std::uint64_t>(state.trajectory.begin));
    for (const FlowSlot flow : state.group.flows) {
        draw = mix_bits(draw ^ view_.id_of(flow));
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

bool TrajectoryStage::follow(GroupState& state, Tick at) {
    TrajectoryRecord& record = state.trajectory;
    record.followed.reset();
    if (record.formed != state.changed || record.flows.empty() || record.kept ||
        !follow_aims(state, at)) {
        return false;
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        state.readings[i] = view_.reading(state.group.flows[i]);
    }
    record.from = at - record.begin;
    const std::uint32_t kind = kind_of(record);
    const std::uint64_t draw = draw_of(state);
    if (record.last != kNone || record.young ||
        !known_.wants(kind, record.flows.size(), record.need)) {
        record.followed = known_.draw(kind, record.from, record.need, draw);
    }
    if (record.followed != nullptr) {
        record.last = kind;
    } else if (record.last != kNone) {
        // Nobody has had the present aim: better to go on as before than to stop.
        record.followed = known_.draw(record.last, record.from, record.need, draw);
    }
    if (record.young && (record.followed == nullptr || !is_like(state, *record.followed))) {
        record.flows.clear();
        record.followed.reset();
    }
    record.young = false;
    return record.followed != nullptr;
}

bool TrajectoryStage::is_outdated(const GroupState& state, Tick at) const {
    const TrajectoryRecord& record = state.trajectory;
    const std::vector<double> aims = loads_.fair_aims(state.group, at);
    const double most =
        record.rises == kNever ? 1 + kAimsAgree : std::numeric_limits<double>::infinity();
    return std::any_of(record.flows.begin(), record.flows.end(), [&](const TrajectoryFlow& flow) {
        const double change = aims[flow.place] / flow.aim;
        return change < 1 - kAimsAgree || change > most;
    });
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
    double end = std::min(static_cast<double>(followed.extended_reach()),
                          from + static_cast<double>(std::min(plan.most, record.rises - plan.at)));
    record.to_the_end = false;
    for (std::size_t k = 0; k < record.flows.size(); ++k) {
        const TrajectoryFlow& flow = record.flows[k];
        const double whole = followed.advance(k, from) + left(state, flow) / flow.aim;
        const double age = followed.age_at(k, whole);
        record.to_the_end = record.to_the_end || age < end;
        end = std::min(end, age);
    }
    const double dt = std::max(std::floor(end - from), 0.0);
    plan.longest = static_cast<Tick>(dt);
    plan.rates_are_known = true;
    for (std::size_t k = 0; k < record.flows.size() && dt > 0; ++k) {
        const TrajectoryFlow& flow = record.flows[k];
        const double advance = followed.advance(k, from + dt) - followed.advance(k, from);
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
        return (record.followed->advance(k, from + ticks) - record.followed->advance(k, from)) /
               ticks;
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
    const TrajectoryRecord& record = state.trajectory;
    const auto age = static_cast<double>(state.until - record.begin);
    for (std::size_t k = 0; record.followed != nullptr && k < record.flows.size(); ++k) {
        const FlowSlot flow = state.group.flows[record.flows[k].place];
        const double rate =
            record.followed->law(k, age) * record.flows[k].aim * kBitsPerByteAndTick;
        const double change = rate / static_cast<double>(view_.reading(flow).rate);
        engine_.resume_law(flow, std::clamp(change, 1 / kMostChange, kMostChange), state.until);
    }
    return 0;
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
    const std::vector<double> aims = loads_.fair_aims(state.group, at);
    for (std::size_t k = 0; k < record.flows.size(); ++k) {
        TrajectoryFlow& flow = record.flows[k];
        const double aim = aims[flow.place];
        flow.aim = known ? flow.aim : aim;
        if (!(aim > 0) || std::abs(aim - flow.aim) > kSameAim * flow.aim) {
            record.own.reset();
            return;
        }
        record_flow(state, flow, k, aim, at);
    }
    if (known && !record.kept) {
        keep(record);
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
    }
}

std::unique_ptr<SkipStage> make_trajectory_stage(StageContext& context) {
    auto stage = std::make_unique<TrajectoryStage>(context.parts.engine, context.loads,
                                                   context.parts.config, context.rates == nullptr);
    context.trajectories = stage.get();
    return stage;
}

}  // namespace sluice::hybrid
