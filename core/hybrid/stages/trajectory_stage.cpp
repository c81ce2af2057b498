// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/trajectory_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/hybrid/stages/ack_streams.h"
#include "core/hybrid/stages/stage_list.h"
#include "core/random.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// An aim that has moved by this part of it is another one.
constexpr double kAimsAgree = 0.002;
/// What is being recorded is followed further than it is known: by this part of the age, or so many steps.
constexpr double kGuessed = 0.25;
/// The same part of a small group, whose ends are guessed, too.
constexpr double kGuessedOfSmall = 0.0625;
constexpr double kFewGuessed = 4;
/// What others leave of a large group goes on for so much longer than was recorded.
constexpr double kGuessedOfRest = 0.25;
/// A group that has more under way than this part of what its laws aim at in a round trip has packets in queues.
constexpr double kFull = 1.1;
/// Of a flow whose end cannot be told, so many packets are sent as a skip ends.
constexpr std::int64_t kLastPackets = 8;

/// Of a flow that follows, by `at`; what it has taken included. No more than its message.
double advance_by(const TrajectoryRecord& record, const TrajectoryFlow& flow, double at) {
    const double advance =
        flow.by_nic ? flow.before + at - static_cast<double>(record.since) : flow.guided(at);
    return std::min(advance, flow.whole);
}

/// When it has come to `advance`.
double time_of(const TrajectoryRecord& record, const TrajectoryFlow& flow, double advance) {
    return flow.by_nic
               ? static_cast<double>(record.since) + advance - flow.before
               : static_cast<double>(flow.begin) + flow.guide->age_at(flow.guide_flow, advance);
}

/// When a skip from `begin` on ends whose flows are known until `end`. Unless others take up at `end` what a flow leaves, it is
/// the multiple of the lookahead before (GroupTable::on_grid()).
Tick stops_at(const TrajectoryRecord& record, Tick begin, Tick end, Tick lookahead) {
    const Tick rounded = end / lookahead * lookahead;
    const bool exact = record.to_the_end && record.flows.size() > 1;
    return exact || rounded <= begin ? end : rounded;
}

/// By the flows and the instant at which they met.
std::uint64_t draw_of(const PhaseEngine& engine, const GroupState& state) {
    std::uint64_t draw = mix_bits(static_cast<std::uint64_t>(state.trajectory.begin));
    for (const FlowSlot flow : state.group.flows) {
        draw = mix_bits(draw ^ engine.id_of(flow));
    }
    return draw;
}

/// A flow alone that outlasts a whole recording.
bool has_far_to_go(const NetworkView& view, const GroupState& state) {
    const TrajectoryFlow& flow = state.trajectory.flows.front();
    const double left =
        static_cast<double>(view.unsent_packets(state.group.flows[flow.place]) * view.payload());
    return state.trajectory.flows.size() == 1 &&
           left > flow.aim * static_cast<double>(static_cast<Tick>(kMaxBins) * state.rtt);
}

/// Of a flow alone whose kind is not known yet: that of one that aims at nearly the same.
std::shared_ptr<const Trajectory> draw_near(const Trajectories& known, const TrajectoryKinds& kinds,
                                            const TrajectoryRecord& record) {
    return known.nearest(
        record.shape, TrajectoryKinds::kNear + 1,
        [&](const GroupKey& key) { return kinds.distance(record, key); },
        [&](std::uint32_t kind) {
            return known.draw(kind, 1, record.since - record.begin, record.need, 0);
        });
}

}  // namespace

TrajectoryStage::TrajectoryStage(PhaseEngine& engine, PortLoads& loads, const PhaseConfig& config,
                                 bool measured)
    : engine_(engine),
      view_(engine.view()),
      loads_(loads),
      kinds_(view_, known_.facts()),
      active_(measured && config.calibrate && config.local() &&
              engine.view().ack_streams() != nullptr && engine.view().counter_unit() > 0 &&
              engine.drops_nothing()) {}

void TrajectoryStage::list(GroupState& state, const steady::GroupFacts& /*facts*/) {
    state.trajectory.follows = false;
}

/// Payload bytes that a skip may take.
double TrajectoryStage::left(const GroupState& state, const TrajectoryFlow& flow) const {
    const std::int64_t packets = view_.unsent_packets(state.group.flows[flow.place]);
    return static_cast<double>((packets - kLastPackets - 1) * view_.payload());
}

/// Of a large group, ACKs of its own are part of what it does.
std::vector<double> TrajectoryStage::aims_of(GroupState& state, Tick at,
                                             std::vector<PortId>* limits) const {
    return loads_.fair_aims(state.group, at, is_large(state.group.flows.size()), state.data_ports,
                            limits);
}

/// As TrajectoryRecord::take_aims(), of a group that follows: where less is left than before, laws see it at once; where there is
/// more, they raise rates step by step, and take it up with the last of them.
bool TrajectoryStage::follow_aims(GroupState& state, const std::vector<double>& aims,
                                  Tick at) const {
    TrajectoryRecord& record = state.trajectory;
    const bool have_risen = std::any_of(
        record.flows.begin(), record.flows.end(),
        [&](const TrajectoryFlow& flow) { return aims[flow.place] > (1 + kAimsAgree) * flow.aim; });
    if (!have_risen || record.last == kNone || at >= record.rises) {
        record.rises = kNever;
        return record.take_aims(aims);
    }
    // On average: it may be anywhere in its steps.
    const Tick rise_time = congestion::waiting_time(view_.law(), state.rtt) / 2;
    record.rises = std::min(record.rises, at + rise_time);
    bool known = true;
    for (TrajectoryFlow& flow : record.flows) {
        flow.aim = std::min(flow.aim, aims[flow.place]);
        known = known && flow.aim > 0;
    }
    return known;
}

std::uint32_t TrajectoryStage::kind_of(const TrajectoryRecord& record) {
    return record.unshared ? kOfNoKind : known_.kind_of(kinds_.key_of(record));
}

/// A large group stays with the one that it has followed.
void TrajectoryStage::choose_large(TrajectoryRecord& record, std::uint32_t kind,
                                   std::uint64_t draw) const {
    const Tick age = record.since - record.begin;
    record.follows = record.guide != nullptr && known_.goes_on(record.last, *record.guide, age);
    if (record.follows) {
        record.look_back();
    }
    if (record.follows || record.unshared) {
        return;
    }
    const std::size_t flows = record.flows.size();
    record.guide = record.last != kNone || !known_.wants(kind, flows, record.need)
                       ? known_.draw(kind, flows, age, record.need, draw)
                       : nullptr;
    record.last = record.guide != nullptr ? kind : record.last;
    record.take_up(record.guide, kind);
}

std::shared_ptr<const Trajectory> TrajectoryStage::draw_small(const GroupState& state,
                                                              std::uint32_t kind,
                                                              std::uint64_t draw, Tick at) {
    const TrajectoryRecord& record = state.trajectory;
    const std::size_t flows = record.flows.size();
    const bool alone = flows == 1;
    const Tick age = at - record.begin;
    std::shared_ptr<const Trajectory> found;
    const bool wanted =
        record.last == kNone && !record.young && known_.wants(kind, flows, record.need);
    if (!wanted || (alone && !known_.claim(kind, at, at + 2 * kLoadsKnown * state.rtt))) {
        found = known_.draw(kind, flows, age, record.need, draw);
        if (found == nullptr && alone) {
            found = draw_near(known_, kinds_, record);
        }
    }
    return found;
}

void TrajectoryStage::choose(GroupState& state, Tick at) {
    TrajectoryRecord& record = state.trajectory;
    const std::uint32_t kind = kind_of(record);
    const std::uint64_t draw = draw_of(engine_, state);
    if (is_large(record.flows.size())) {
        choose_large(record, kind, draw);
        return;
    }
    if (record.guide != nullptr && record.last == kind &&
        known_.goes_on(kind, *record.guide, at - record.begin)) {
        record.follows = true;  // what was guessed too much or too little is made up for
        record.look_back();
        return;
    }
    std::shared_ptr<const Trajectory> found = draw_small(state, kind, draw, at);
    if (found != nullptr) {
        record.last = kind;
    } else if (record.last != kNone && !has_far_to_go(view_, state)) {
        // Nobody has had the present aim: better to go on as before than to stop for the little that is left.
        found = known_.draw(record.last, record.flows.size(), at - record.begin, record.need, draw);
    }
    record.guide = found != nullptr && known_.grows(kind, *found) ? found : nullptr;
    record.take_up(found, kind);
}

/// A small group does not join as long as more is under way than its ports take in a round trip: what stands in queues as a skip
/// begins is there as it ends, and whoever comes then meets it.
bool TrajectoryStage::joins(GroupState& state) const {
    TrajectoryRecord& record = state.trajectory;
    if (!record.may_join) {
        return false;
    }
    double room = 0;
    double under_way = 0;
    for (const TrajectoryFlow& flow : record.flows) {
        room += kFull * flow.aim * static_cast<double>(flow.base_rtt);
        under_way += static_cast<double>(state.readings[flow.place].in_flight);
    }
    const bool waits = !is_large(record.flows.size()) && under_way > room;
    record.may_join = waits;
    return !waits;
}

bool TrajectoryStage::follow(GroupState& state, Tick at) {
    TrajectoryRecord& record = state.trajectory;
    record.follows = false;
    if (record.formed != state.changed || record.flows.empty() || record.kept) {
        return false;
    }
    std::vector<PortId> limits;
    if (!follow_aims(state, aims_of(state, at, &limits), at)) {
        return false;
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        state.readings[i] = view_.reading(state.group.flows[i]);
    }
    record.since = at;
    if (record.carries_on) {
        go_on(state, limits, at);
        return true;
    }
    choose(state, at);
    if (record.young && (!record.follows || !kinds_.is_like(state, *record.flows.front().guide))) {
        form(state, at, false);
        return follow(state, at);
    }
    record.young = false;
    record.may_join = !record.follows && !record.unshared && known_.begins(kind_of(record));
    return record.follows;
}

bool TrajectoryStage::is_outdated(GroupState& state, Tick at) const {
    const TrajectoryRecord& record = state.trajectory;
    const std::vector<double> aims = aims_of(state, at);
    const double most =
        record.rises == kNever ? 1 + kAimsAgree : std::numeric_limits<double>::infinity();
    return std::any_of(record.flows.begin(), record.flows.end(), [&](const TrajectoryFlow& flow) {
        const double change = aims[flow.place] / flow.aim;
        return change < 1 - kAimsAgree || change > most;
    });
}

/// Until when what a flow follows is known, or guessed.
double TrajectoryStage::known_until(const TrajectoryRecord& record,
                                    const TrajectoryFlow& flow) const {
    const Trajectory& guide = *flow.guide;
    const auto begin = static_cast<double>(flow.begin);
    const auto step = static_cast<double>(guide.step());
    auto reach = static_cast<double>(guide.extended_reach());
    if (record.carries_on) {
        reach = std::max(reach, (1 + kGuessedOfRest) * static_cast<double>(guide.reach()));
    }
    if (!known_.grows(flow.kind, guide)) {
        return begin + reach;
    }
    const double age = static_cast<double>(record.since - flow.begin);
    const double guessed = is_large(guide.flows()) ? kGuessed : kGuessedOfSmall;
    return begin + std::max(reach, age + std::max(guessed * age, kFewGuessed * step));
}

/// When the last byte of a flow leaves by a port that it shares: then the others have its part.
double TrajectoryStage::leaves_shared_port(const GroupState& state,
                                           const TrajectoryFlow& flow) const {
    const FlowSlot slot = state.group.flows[flow.place];
    const std::vector<PortId>& way = view_.tracks(slot).data;
    Tick takes = 0;
    for (std::size_t hop = 0; hop < way.size() && state.group.flows.size() > 1; ++hop) {
        const auto shares = [&](FlowSlot other) {
            const std::vector<PortId>& ports = view_.tracks(other).data;
            return other != slot && std::find(ports.begin(), ports.end(), way[hop]) != ports.end();
        };
        if (std::any_of(state.group.flows.begin(), state.group.flows.end(), shares)) {
            return flow.sent + static_cast<double>(takes);
        }
        takes +=
            view_.ack_streams()->hop_time(way[hop], static_cast<std::int32_t>(view_.data_bytes()));
    }
    return flow.sent;
}

/// When a flow of a group that follows ends, or comes to its last packets.
double TrajectoryStage::end_of(const GroupState& state, TrajectoryFlow& flow) const {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    const TrajectoryRecord& record = state.trajectory;
    const FlowSlot slot = state.group.flows[flow.place];
    const step::Sender& sender = view_.sender(slot);
    const bool may_tell = predicts_ends_ && engine_.may_tell(slot);
    const double bytes =
        may_tell ? static_cast<double>(sender.size - sender.next_bytes) : left(state, flow);
    flow.before = flow.taken;
    const double whole = flow.taken + bytes / flow.aim;
    const double at = time_of(record, flow, whole);
    flow.whole = may_tell ? whole : kInfinite;
    flow.sent = may_tell ? std::max(at, static_cast<double>(record.since)) : kInfinite;
    if (may_tell) {
        return leaves_shared_port(state, flow);
    }
    // What new flows have sent of their first round trips stands in one queue.
    return at - static_cast<double>(record.queued * view_.lookahead());
}

void TrajectoryStage::limit(SkipPlan& plan) {
    GroupState& state = plan.state;
    TrajectoryRecord& record = state.trajectory;
    if (!record.follows) {
        plan.spared = record.own != nullptr && record.formed == state.changed &&
                      !record.may_be_found_steady();
        plan.longest = plan.spared ? 0 : plan.longest;
        return;
    }
    const auto begin = static_cast<double>(plan.at);
    double end = begin + static_cast<double>(std::min(plan.most, record.rises - plan.at));
    for (const TrajectoryFlow& flow : record.flows) {
        end = std::min(end, known_until(record, flow));
    }
    record.to_the_end = false;
    for (TrajectoryFlow& flow : record.flows) {
        const double last = end_of(state, flow);
        record.to_the_end = record.to_the_end || last < end;
        end = std::min(end, last);
    }
    const Tick until =
        stops_at(record, plan.at, static_cast<Tick>(std::floor(end)), view_.lookahead());
    const auto dt = static_cast<double>(std::max<Tick>(until - plan.at, 0));
    plan.longest = static_cast<Tick>(dt);
    plan.rates_are_known = true;
    for (const TrajectoryFlow& flow : record.flows) {
        const double advance = dt > 0 ? advance_by(record, flow, begin + dt) - flow.taken : 0;
        state.rate[flow.place] =
            dt > 0 ? std::max(advance, 0.0) * flow.aim / dt / static_cast<double>(view_.payload())
                   : 0;
    }
}

void TrajectoryStage::settle(GroupState& state, Tick dt) {
    TrajectoryRecord& record = state.trajectory;
    record.own.reset();  // what is skipped is not recorded
    record.lasts = dt;
    if (record.follows && record.to_the_end) {
        state.planned_end = PhaseEnd::finisher_near;
    }
}

double TrajectoryStage::mean_ratio(const GroupState& state, std::size_t flow, Tick first) const {
    const TrajectoryRecord& record = state.trajectory;
    if (!record.follows || first <= 0 || record.lasts <= 0) {
        return 1;
    }
    const auto found = std::find_if(record.flows.begin(), record.flows.end(),
                                    [flow](const auto& one) { return one.place == flow; });
    const auto mean_over = [&](Tick length) {
        const double advance =
            advance_by(record, *found, static_cast<double>(record.since + length)) - found->before;
        return std::max(advance, 0.0) / static_cast<double>(length);
    };
    const double whole = mean_over(record.lasts);
    return whole > 0 ? mean_over(first) / whole : 1;
}

void TrajectoryStage::shorten(GroupState& state, Tick dt) {
    if (!state.trajectory.follows || dt <= 0) {
        return;
    }
    for (std::size_t flow = 0; flow < state.rate.size(); ++flow) {
        state.rate[flow] *= mean_ratio(state, flow, dt);
    }
    state.trajectory.lasts = dt;
    state.trajectory.to_the_end = false;
}

std::unique_ptr<SkipStage> make_trajectory_stage(StageContext& context) {
    auto stage = std::make_unique<TrajectoryStage>(context.parts.engine, context.loads,
                                                   context.parts.config, context.rates == nullptr);
    context.trajectories = stage.get();
    return stage;
}

}  // namespace sluice::hybrid
