// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/hybrid/stages/calibration_stage.h"
#include "core/steady/defaults.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// Bins that a group must have left for it to be simulated so long that others are told of times beyond: half of what
/// that may take. A shorter one is simulated to its end, for others as short.
constexpr double kLong = static_cast<double>(kMostBins) / 2;
/// A group that shares ports is simulated long though nobody knows whether its like will come, if that takes no more than this part of
/// what it has left: by itself it would be probed for about as long.
constexpr double kAtFirst = 0.25;
/// What is told of that part of what a group has left is told of all: its like are known to where their last bins ended.
constexpr double kNearlyAll = 0.9;
/// Of its link: a class of ACK streams.
constexpr double kStreamClasses = 256;
/// Of its link: shares of ACK streams that are the same.
constexpr double kStreamsAgree = 2 / kStreamClasses;
/// Most flows of a group that is recorded: a bin is kept of each. Of those that share ports nothing large comes again.
constexpr std::size_t kMostFlows = 1024;
constexpr std::size_t kMostSharing = 256;
/// Relative difference of bytes in flight that are the same, beyond a packet.
constexpr double kFlightsAgree = 0.3;

/// Packets in round trips, by factors of four: a law that has settled is not one that begins.
std::int64_t age_class(double packets, double bdp) {
    std::int64_t age = 0;
    for (double round_trips = packets / bdp; round_trips >= 2 && age < 4; round_trips /= 4) {
        ++age;
    }
    return age;
}

}  // namespace

void CalibrationStage::list(GroupState& state, const steady::GroupFacts& facts) {
    state.record = SteadyRecord{};
    SteadyRecord& record = state.record;
    // Sprayed flows have no ports.
    const bool shared = facts.sharing > 1;
    record.on = config_.calibrate && config_.scope == PhaseScope::partition && measured_ &&
                facts.sharing > 0 && facts.flows > 0 &&
                facts.flows <= (shared ? kMostSharing : kMostFlows);
    if (!record.on) {
        return;
    }
    const steady::DetectorSettings settings = steady::resolved(config_.detector, facts);
    record.agreement = settings.theta / 2;
    record.kind.curve.flows = facts.flows;
    record.kind.curve.swings = settings.span;
    record.kind.curve.unit = std::max(facts.base_rtt, 2 * state.period);
    record.kind.curve.shared = shared;
    for (const FlowSlot flow : state.group.flows) {
        const auto packets =
            static_cast<double>(view_.reading(flow).acked) / static_cast<double>(view_.payload());
        record.age.push_back(age_class(packets, steady::bdp_packets(facts)));
    }
}

std::int64_t CalibrationStage::echoes_of(const GroupState& state) {
    std::int64_t echoes = 0;
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        echoes += state.readings[i].echoes;
    }
    return echoes;
}

/// The bin that ends with the state's readings, flow by flow; empty: it has stood still.
std::vector<BinReading> CalibrationStage::ended_bin(const GroupState& state) {
    const SteadyRecord& record = state.record;
    std::vector<BinReading> bin;
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const steady::FlowReading& reading = state.readings[i];
        if (reading.progress <= record.progress[i]) {
            return {};
        }
        const auto bytes = static_cast<double>(reading.acked - record.acked[i]);
        bin.push_back({bytes / static_cast<double>(reading.progress - record.progress[i]),
                       static_cast<double>(reading.in_flight)});
        if (record.kind.curve.shared) {
            bin.back().law = static_cast<double>(reading.rate);
            bin.back().sent = record.sent[i] + bytes;
        }
    }
    return bin;
}

/// Ends a bin of a group's record when it is time, and begins the next.
void CalibrationStage::observe(GroupState& state, Tick now) {
    SteadyRecord& record = state.record;
    const std::size_t flows = state.group.flows.size();
    const Tick at = now - state.skipped;
    const bool begins = record.progress.empty();
    if (!record.on || (!begins && at < record.edge)) {
        return;
    }
    std::vector<BinReading> bin;
    if (begins) {
        note_streams(state, true, now);
        record.echoes = echoes_of(state);
        for (const steady::FlowReading& reading : state.readings) {
            record.origin.push_back(
                {static_cast<double>(reading.rate), static_cast<double>(reading.in_flight)});
        }
        record.begin = now;
        record.edge = at;
    } else {
        bin = ended_bin(state);
        record.on = !bin.empty();
    }
    record.edge += record.kind.curve.unit;
    record.progress.resize(flows);
    record.acked.resize(flows);
    record.sent.resize(flows);
    for (std::size_t i = 0; i < flows; ++i) {
        const steady::FlowReading& reading = state.readings[i];
        record.sent[i] = bin.empty() ? 0 : bin[i].sent;
        record.progress[i] = reading.progress;
        record.acked[i] = reading.acked;
        record.saturated =
            record.saturated && reading.rate >= view_.line_rate(state.group.flows[i]);
    }
    if (bin.empty()) {
        return;
    }
    note_streams(state, false, now);
    record.tells = record.tells && state.skipped == 0;
    const std::size_t first = record.bins.size() / bin.size();
    record.bins.append(bin);
    if (record.tells) {
        calibration_.add(record.entry, now, first, std::move(bin), record.saturated);
    }
    record.on = first + 1 < kMostBins;
}

/// The share of a port that ACKs of others hold.
double CalibrationStage::share_across(PortId port) const {
    const auto rate = static_cast<double>(view_.link_rate(port));
    return acks_ == nullptr ? 0 : acks_->across(port) * kBitsPerByteAndTick / rate;
}

/// What the group is among: as it was, or it is another one from now on, of those that have settled by now whatever
/// they began among, and tells no more.
void CalibrationStage::note_streams(GroupState& state, bool begins, Tick at) {
    SteadyRecord& record = state.record;
    std::vector<double> across;
    bool known = true;
    for (const FlowSlot flow : state.group.flows) {
        for (const PortId port : view_.tracks(flow).data) {
            across.push_back(share_across(port));
            known = known && (acks_ == nullptr || acks_->awaited(port) == 0);
        }
    }
    const auto same = [](double a, double b) { return std::abs(a - b) <= kStreamsAgree; };
    if (begins || !std::equal(across.begin(), across.end(), record.across.begin(),
                              record.across.end(), same)) {
        record.across = std::move(across);
        record.from_begin = begins && known;
        record.kind.key.clear();
        if (acks_ != nullptr) {
            name_kind(state, at);
        }
        record.tells = false;
    }
}

/// Gives the group's kind its key. Where ACKs are no packets that is as it is noted what it is among, else when it is first
/// asked for.
void CalibrationStage::name_kind(GroupState& state, Tick at) const {
    SteadyRecord& record = state.record;
    if (record.kind.key.empty()) {
        record.kind.key = key_of(state, at);
        record.kind.key.push_back(record.from_begin ? 1 : 0);
        record.known = kNone;
        record.known_of = SteadyRecord::kNotAsked;
    }
}

ClusterKey CalibrationStage::key_of(const GroupState& state, Tick at) const {
    std::vector<ClusterFlow> flows;
    std::set<PortId> data;
    const auto counters = loads_.counters_of(state.group, at);
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const FlowSlot flow = state.group.flows[i];
        std::vector<std::int64_t> law = view_.law_facts(flow);
        if (!counters.empty()) {
            law.insert(law.end(), counters[i].begin(), counters[i].end());
        }
        flows.push_back({&view_.tracks(flow), view_.base_rtt(flow), view_.line_rate(flow),
                         state.record.age[i], view_.sender(flow).traffic_class, std::move(law)});
        const std::vector<PortId>& way = view_.tracks(flow).data;
        data.insert(way.begin(), way.end());
    }
    return cluster_key(flows, [&](PortId port) {
        // Elsewhere it is the group's own ACKs, of which it is not known yet how many.
        const double across = data.count(port) > 0 ? share_across(port) : 0;
        return ClusterPort{view_.link_rate(port), view_.describe(port).mark_bytes,
                           std::llround(across * kStreamClasses)};
    });
}

/// `unsure`: what rates are not known to.
bool CalibrationStage::agree(const SteadyRecord& record, const BinReading& own,
                             const BinReading& told, double unsure) const {
    const double flight_range = kFlightsAgree * told.flight + static_cast<double>(view_.payload());
    return std::abs(own.rate - told.rate) <= record.agreement * told.rate + unsure &&
           std::abs(own.flight - told.flight) <= flight_range;
}

/// What the group did lately is what others did at its age.
bool CalibrationStage::agrees(const GroupState& state, const SteadyCurve& curve) const {
    const SteadyRecord& record = state.record;
    const std::size_t flows = state.group.flows.size();
    const std::size_t bins = record.bins.size() / flows;
    if (bins < kCompared || !curve.is_settled(static_cast<double>(bins))) {
        return false;
    }
    // Of many flows that share a port each sends few packets: one more or less was sent in what is compared.
    const double unsure = record.kind.curve.shared
                              ? static_cast<double>(view_.payload()) /
                                    (kCompared * static_cast<double>(record.kind.curve.unit))
                              : 0;
    for (std::size_t f = 0; f < flows; ++f) {
        BinReading own;
        for (std::size_t bin = bins - kCompared; bin < bins; ++bin) {
            own.rate += record.bins[bin * flows + f].rate / kCompared;
            own.flight += record.bins[bin * flows + f].flight / kCompared;
        }
        const BinReading told =
            curve.mean(f, static_cast<double>(bins - kCompared), static_cast<double>(kCompared));
        if (!agree(record, own, told, unsure)) {
            return false;
        }
    }
    return true;
}

/// The same, compared once for all looks between which neither has more bins.
bool CalibrationStage::agrees(GroupState& state, std::uint32_t entry,
                              const SteadyCurve& curve) const {
    SteadyRecord& record = state.record;
    const SteadyRecord::Compared with{record.bins.size(), entry, calibration_.is_recalled(entry),
                                      curve.additions()};
    if (record.compared != with) {
        record.compared = with;
        record.agrees = agrees(state, curve);
    }
    return record.agrees;
}

/// The entry of the group's kind, kNone: nobody has told of it.
std::uint32_t CalibrationStage::entry_of(SteadyRecord& record) {
    if (record.entry != kNone) {
        return record.entry;
    }
    if (record.known == kNone && record.known_of != calibration_.entries()) {
        record.known = calibration_.known(record.kind);
        record.known_of = calibration_.entries();
    }
    return record.known;
}

/// Flows that have just begun are as others were that had.
bool CalibrationStage::begins_alike(const GroupState& state, const SteadyCurve& curve) const {
    const SteadyRecord& record = state.record;
    const bool fresh = std::all_of(record.age.begin(), record.age.end(),
                                   [](std::int64_t age) { return age == 0; });
    if (!fresh || !curve.has_origin() || !curve.is_settled(0)) {
        return false;
    }
    for (std::size_t f = 0; f < record.origin.size(); ++f) {
        if (!agree(record, record.origin[f], curve.origin(f), 0)) {
            return false;
        }
    }
    return true;
}

/// A group that the detector does not call steady yet, for it has not seen it long enough, is if it does what others
/// like it did at its age, and those were simulated long.
bool CalibrationStage::recognize(GroupState& state, steady::Verdict& verdict, Tick at) {
    SteadyRecord& record = state.record;
    const std::size_t flows = state.group.flows.size();
    const std::size_t bins = record.bins.size() / std::max<std::size_t>(flows, 1);
    const auto payload = static_cast<double>(view_.payload());
    const bool early = bins == 0 && state.skipped == 0 && record.from_begin;
    if (!record.on || record.long_run || record.origin.empty() || !(early || bins >= kCompared) ||
        echoes_of(state) != record.echoes ||
        (record.entry == kNone && !calibration_.may_know(record.kind.curve))) {
        return false;
    }
    name_kind(state, at);
    const std::uint32_t entry = entry_of(record);
    if (entry == kNone) {
        return false;
    }
    const SteadyCurve& curve = calibration_.curve(entry, at);
    if (!(early ? begins_alike(state, curve) : agrees(state, entry, curve))) {
        return false;
    }
    state.rate.resize(flows);
    for (std::size_t f = 0; f < flows; ++f) {
        state.rate[f] = curve.mean(f, static_cast<double>(bins), 1).rate / payload;
    }
    // To be put off until it is steady by itself is better than to be told of a part.
    const double left = time_left(view_, state);
    if (curve.trusted() < static_cast<double>(state.rtt) &&
        curve.trusted(age_of(record, at)) < kNearlyAll * left) {
        return false;
    }
    record.entry = entry;
    verdict.steady = true;
    verdict.longest_skip = 0;  // by itself
    verdict.rate.clear();
    for (const double rate : state.rate) {
        verdict.rate.push_back(rate * payload * kTicksPerSecond);
    }
    verdict.marked.assign(flows, 0);
    return true;
}

/// A group that is steady tells of itself from its first bin on, as long as nothing about it changes.
void CalibrationStage::begin_telling(GroupState& state, Tick at) {
    SteadyRecord& record = state.record;
    if (record.entry != kNone || record.bins.empty()) {
        return;
    }
    name_kind(state, at);
    record.entry = calibration_.find(record.kind, at);
    record.tells = state.skipped == 0;
    if (record.tells) {
        calibration_.add_origin(record.entry, at, record.origin);
        calibration_.add(record.entry, at, 0, record.bins.all(), record.saturated);
    }
}

/// A group that is simulated for others has told what it was asked for: `trusted` ticks are known of what it has `left`.
bool CalibrationStage::ends_long_run(GroupState& state, double trusted, double left, Tick at) {
    SteadyRecord& record = state.record;
    const SteadyCurve& curve = calibration_.curve(record.entry, at);
    const std::size_t bins = record.bins.size() / state.group.flows.size();
    if (std::max(trusted, curve.foreseen(bins)) < left && record.on && record.tells &&
        !calibration_.closed(record.entry, at)) {
        return false;
    }
    const bool concluded = record.kind.curve.shared ? curve.told_enough(kMostBins - 1)
                                                    : curve.trusted() > 0 || !record.on;
    if ((trusted > 0 && trusted >= left) || concluded) {
        calibration_.close(record.entry, at);
    }
    if (record.tells) {
        calibration_.has_told(record.entry, record.asked, at);
    }
    record.long_run = false;
    return true;
}

void CalibrationStage::limit(SkipPlan& plan) {
    SteadyRecord& record = plan.state.record;
    record.told = false;
    record.recalled = false;
    if (!plan.state.by_law.empty()) {
        return;  // what others did says nothing of such a group
    }
    plan.longest = trusted_length(plan);
    plan.rates_are_known = plan.rates_are_known || record.told;
    const Tick length = std::min(plan.longest, plan.most);
    if (length < plan.longest && static_cast<double>(length) < calibrated_length(record)) {
        shorten(plan.state, length);
    }
}

/// For which the rates are trusted, `plan.longest` by what the group has seen of itself; 0: it is simulated for others. May
/// change the rates.
Tick CalibrationStage::trusted_length(SkipPlan& plan) {
    GroupState& state = plan.state;
    const Tick longest = plan.longest;
    const Tick at = plan.at;
    SteadyRecord& record = state.record;
    if (!record.on && !record.long_run) {
        return longest;
    }
    if (longest > 0) {
        begin_telling(state, at);
    }
    if (record.entry == kNone) {
        return longest;
    }
    const SteadyCurve& curve = calibration_.curve(record.entry, at);
    const double age = age_of(record, at);
    const double trusted = curve.trusted(age);
    const double left = time_left(view_, state);
    if (record.long_run && !ends_long_run(state, trusted, left, at)) {
        return 0;
    }
    const bool alike =
        longest == 0 || agrees(state, record.entry, curve);  // 0: it has been recognized
    const auto take = [&] {
        take_calibrated_rates(state, curve, at);
        record.recalled = calibration_.is_recalled(record.entry);
        return static_cast<Tick>(trusted);
    };
    if (alike && (trusted >= kNearlyAll * left || curve.trusted() > static_cast<double>(longest))) {
        return take();
    }
    const Tick unit = record.kind.curve.unit;
    const double there = age + left / static_cast<double>(unit);
    const bool is_long = left > kLong * static_cast<double>(unit);
    const Tick lasts = is_long ? static_cast<Tick>(kMostBins) * unit : static_cast<Tick>(left);
    const bool unseen = record.kind.curve.shared && static_cast<double>(lasts) <= kAtFirst * left;
    // What is beyond is concluded from halves that are two swings long.
    const bool whole = !is_long && there * static_cast<double>(unit) <
                                       4 * static_cast<double>(record.kind.curve.swings);
    record.long_run = record.on && record.tells && record.asked == kNever &&
                      (is_long || !curve.told_enough(there)) &&
                      calibration_.wants(record.entry, at, lasts, unseen, whole);
    if (record.long_run) {
        record.asked = at;
        plan.spared = true;
        return 0;
    }
    return alike && trusted > static_cast<double>(longest) ? take() : longest;
}

/// In bins.
double CalibrationStage::age_of(const SteadyRecord& record, Tick at) {
    return static_cast<double>(at - record.begin) / static_cast<double>(record.kind.curve.unit);
}

}  // namespace sluice::hybrid
