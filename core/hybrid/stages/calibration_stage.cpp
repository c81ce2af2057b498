// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/hybrid/outside.h"
#include "core/hybrid/stages/calibration_stage.h"
#include "core/steady/defaults.h"
#include "core/steady/rate_units.h"

namespace sluice::hybrid {

namespace {

/// The first group of a kind that shares ports makes a calibration run if that takes at most this fraction of the time that
/// it has left. Its own probes would take about as long.
constexpr double kUnseenFraction = 0.25;
/// A profile that covers this fraction of the time that a group has left is enough: contributors end with their last whole
/// bins.
constexpr double kNearlyAll = 0.9;
/// Most flows of a group that is recorded, as each flow has a reading per bin. Large groups that share ports hardly ever
/// occur again.
constexpr std::size_t kMaxFlows = 1024;
constexpr std::size_t kMaxSharing = 256;
/// Bytes in flight that differ by this fraction and a packet count as equal.
constexpr double kFlightsAgree = 0.3;

/// Class of a flow's age in round trips, by factors of four. It distinguishes algorithms that have settled from new ones.
std::int64_t age_class(double packets, double bdp) {
    std::int64_t age = 0;
    for (double round_trips = packets / bdp; round_trips >= 2 && age < 4; round_trips /= 4) {
        ++age;
    }
    return age;
}

}  // namespace

void CalibrationStage::list(GroupState& state, const steady::GroupFacts& facts) {
    state.record = CalibrationRecord{};
    CalibrationRecord& record = state.record;
    // Sprayed flows have no ports.
    const bool shared = facts.sharing > 1;
    record.recording = config_.calibrate && config_.scope == PhaseScope::partition && measured_ &&
                       facts.sharing > 0 && facts.flows > 0 &&
                       !passes_outside(view_, state.group) &&
                       facts.flows <= (shared ? kMaxSharing : kMaxFlows);
    if (!record.recording) {
        return;
    }
    const steady::DetectorSettings settings = steady::resolved(config_.detector, facts);
    record.tolerance = settings.theta / 2;
    record.kind.profile.flows = facts.flows;
    record.kind.profile.sawtooth_span = settings.span;
    record.kind.profile.bin_length = std::max(facts.base_rtt, 2 * state.period);
    record.kind.profile.shared = shared;
    for (const FlowSlot flow : state.group.flows) {
        const auto packets =
            static_cast<double>(view_.reading(flow).acked) / static_cast<double>(view_.payload());
        record.age_class.push_back(age_class(packets, steady::bdp_packets(facts)));
    }
}

std::int64_t CalibrationStage::echoes_of(const GroupState& state) {
    std::int64_t echoes = 0;
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        echoes += state.readings[i].echoes;
    }
    return echoes;
}

/// The bin that ends with the state's readings, by flow. Empty if a flow has not progressed.
std::vector<BinReading> CalibrationStage::finished_bin(const GroupState& state) {
    const CalibrationRecord& record = state.record;
    std::vector<BinReading> bin;
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const steady::FlowReading& reading = state.readings[i];
        if (reading.progress <= record.progress[i]) {
            return {};
        }
        const auto bytes = static_cast<double>(reading.acked - record.acked[i]);
        const auto time = static_cast<double>(reading.progress - record.progress[i]);
        bin.push_back({bytes / time, static_cast<double>(reading.in_flight)});
        if (record.kind.profile.shared) {
            bin.back().law_rate = static_cast<double>(reading.rate);
            bin.back().sent = record.sent[i] + bytes;
        }
    }
    return bin;
}

/// Ends the open bin of a group's record when it is due, and begins the next one.
void CalibrationStage::observe(GroupState& state, Tick now) {
    CalibrationRecord& record = state.record;
    const std::size_t flows = state.group.flows.size();
    const Tick at = now - state.skipped;
    const bool begins = record.progress.empty();
    if (!record.recording || (!begins && at < record.bin_end)) {
        return;
    }
    std::vector<BinReading> bin;
    if (begins) {
        update_ack_load(state, true, now);
        record.echoes = echoes_of(state);
        for (const steady::FlowReading& reading : state.readings) {
            record.initial.push_back(
                {static_cast<double>(reading.rate), static_cast<double>(reading.in_flight)});
        }
        record.begin = now;
        record.bin_end = at;
    } else {
        bin = finished_bin(state);
        record.recording = !bin.empty();
    }
    record.bin_end += record.kind.profile.bin_length;
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
    update_ack_load(state, false, now);
    record.contributes = record.contributes && state.skipped == 0;
    const std::size_t first = record.bins.size() / bin.size();
    record.bins.append(bin);
    if (record.contributes) {
        calibration_.add(record.entry, now, first, std::move(bin), record.saturated);
    }
    record.recording = first + 1 < kMaxBins;
}

/// True if a flow's reading equals the predicted one. `uncertainty`: absolute error of rates.
bool CalibrationStage::matches(const CalibrationRecord& record, const BinReading& own,
                               const BinReading& predicted, double uncertainty) const {
    const double flight_range =
        kFlightsAgree * predicted.in_flight + static_cast<double>(view_.payload());
    return std::abs(own.rate - predicted.rate) <= record.tolerance * predicted.rate + uncertainty &&
           std::abs(own.in_flight - predicted.in_flight) <= flight_range;
}

/// True if the group's latest bins equal those of the profile at the same age.
bool CalibrationStage::matches_profile(const GroupState& state,
                                       const CalibrationProfile& profile) const {
    const CalibrationRecord& record = state.record;
    const std::size_t flows = state.group.flows.size();
    const std::size_t bins = record.bins.size() / flows;
    if (bins < kComparedBins || !profile.is_settled(static_cast<double>(bins))) {
        return false;
    }
    // If many flows share a port, each sends few packets in these bins: allow one more or less.
    const double uncertainty =
        record.kind.profile.shared
            ? static_cast<double>(view_.payload()) /
                  (kComparedBins * static_cast<double>(record.kind.profile.bin_length))
            : 0;
    for (std::size_t f = 0; f < flows; ++f) {
        BinReading own;
        for (std::size_t bin = bins - kComparedBins; bin < bins; ++bin) {
            own.rate += record.bins[bin * flows + f].rate / kComparedBins;
            own.in_flight += record.bins[bin * flows + f].in_flight / kComparedBins;
        }
        const BinReading predicted = profile.mean(f, static_cast<double>(bins - kComparedBins),
                                                  static_cast<double>(kComparedBins));
        if (!matches(record, own, predicted, uncertainty)) {
            return false;
        }
    }
    return true;
}

/// The same, but compares again only if either side has new readings.
bool CalibrationStage::matches_profile(GroupState& state, std::uint32_t entry,
                                       const CalibrationProfile& profile) const {
    CalibrationRecord& record = state.record;
    const CalibrationRecord::Compared with{record.bins.size(), entry,
                                           calibration_.is_recalled(entry), profile.additions()};
    if (record.compared != with) {
        record.compared = with;
        record.agrees = matches_profile(state, profile);
    }
    return record.agrees;
}

/// The entry of the group's kind; kNone if there is none.
std::uint32_t CalibrationStage::entry_of(CalibrationRecord& record) {
    if (record.entry != kNone) {
        return record.entry;
    }
    if (record.known == kNone && record.looked_up != calibration_.entries()) {
        record.known = calibration_.find(record.kind);
        record.looked_up = calibration_.entries();
    }
    return record.known;
}

/// True if the group's flows have just started, and their state equals the profile's initial state.
bool CalibrationStage::matches_initial(const GroupState& state,
                                       const CalibrationProfile& profile) const {
    const CalibrationRecord& record = state.record;
    const bool fresh = std::all_of(record.age_class.begin(), record.age_class.end(),
                                   [](std::int64_t age) { return age == 0; });
    if (!fresh || !profile.has_initial() || !profile.is_settled(0)) {
        return false;
    }
    for (std::size_t f = 0; f < record.initial.size(); ++f) {
        if (!matches(record, record.initial[f], profile.initial(f), 0)) {
            return false;
        }
    }
    return true;
}

/// A group that the detector has not observed for long enough is steady if it matches a profile that covers what it has
/// left, or that can be extrapolated.
bool CalibrationStage::recognize(GroupState& state, steady::Verdict& verdict, Tick at) {
    CalibrationRecord& record = state.record;
    const std::size_t flows = state.group.flows.size();
    const std::size_t bins = record.bins.size() / std::max<std::size_t>(flows, 1);
    const auto payload = static_cast<double>(view_.payload());
    const bool early = bins == 0 && state.skipped == 0 && record.known_from_begin;
    if (!record.recording || record.calibrating || record.initial.empty() ||
        !(early || bins >= kComparedBins) || echoes_of(state) != record.echoes ||
        (record.entry == kNone && !calibration_.may_know(record.kind.profile))) {
        return false;
    }
    compute_key(state, at);
    const std::uint32_t entry = entry_of(record);
    if (entry == kNone) {
        return false;
    }
    const CalibrationProfile& profile = calibration_.profile(entry, at);
    if (!(early ? matches_initial(state, profile) : matches_profile(state, entry, profile))) {
        return false;
    }
    state.rate.resize(flows);
    for (std::size_t f = 0; f < flows; ++f) {
        state.rate[f] = profile.mean(f, static_cast<double>(bins), 1).rate / payload;
    }
    // If the profile covers only a part, it is better to wait until the group is steady by itself.
    const double left = time_left(view_, state);
    if (profile.trusted_tail() < static_cast<double>(state.rtt) &&
        trusted_skip(profile, age_of(record, at), left) < kNearlyAll * left) {
        return false;
    }
    record.entry = entry;
    verdict.longest_skip = 0;  // by its own measurements
    verdict.rate.clear();
    for (const double rate : state.rate) {
        verdict.rate.push_back(rate * payload * kTicksPerSecond);
    }
    verdict.marked.assign(flows, 0);
    return true;
}

/// How long a group that has `left` ticks trusts the rates of the profile. Groups differ by a few packets as they begin, which
/// matters to short skips only.
double CalibrationStage::trusted_skip(const CalibrationProfile& profile, double age, double left) {
    constexpr double kFirstBins = 8;
    const double bins = left / static_cast<double>(profile.kind().bin_length);
    return profile.trusted_skip(age, bins >= 2 * kFirstBins ? kFirstBins : 0);
}

/// A steady group contributes from its first bin on, until something about it changes.
void CalibrationStage::begin_contributing(GroupState& state, Tick at) {
    CalibrationRecord& record = state.record;
    if (record.entry != kNone || record.bins.empty()) {
        return;
    }
    compute_key(state, at);
    record.entry = calibration_.find_or_add(record.kind, at);
    record.contributes = state.skipped == 0;
    if (record.contributes) {
        calibration_.add_initial(record.entry, at, record.initial);
        calibration_.add(record.entry, at, 0, record.bins.all(), record.saturated);
    }
}

/// Ends a calibration run if it is complete, and returns true then. The profile covers `trusted` ticks of the `left` ones.
bool CalibrationStage::complete_run(GroupState& state, double trusted, double left, Tick at) {
    CalibrationRecord& record = state.record;
    const CalibrationProfile& profile = calibration_.profile(record.entry, at);
    const std::size_t bins = record.bins.size() / state.group.flows.size();
    if (std::max(trusted, profile.projected_skip(bins)) < left && record.recording &&
        record.contributes && !calibration_.closed(record.entry, at)) {
        return false;
    }
    const bool sufficient = record.kind.profile.shared
                                ? profile.has_enough_contributors(kMaxBins - 1)
                                : profile.trusted_tail() > 0 || !record.recording;
    if ((trusted > 0 && trusted >= left) || sufficient) {
        calibration_.close(record.entry, at);
    }
    if (record.contributes) {
        calibration_.complete_run(record.entry, record.run, at);
    }
    record.calibrating = false;
    return true;
}

void CalibrationStage::limit(SkipPlan& plan) {
    CalibrationRecord& record = plan.state.record;
    record.predicted = false;
    record.recalled = false;
    if (!plan.state.by_law.empty() || plan.state.trajectory.follows) {
        return;  // the group's rates follow its algorithms' equations, or a trajectory
    }
    plan.longest = trusted_length(plan);
    plan.rates_are_known = plan.rates_are_known || record.predicted;
    const Tick length = std::min(plan.longest, plan.most);
    if (length < plan.longest && static_cast<double>(length) < calibrated_length(record)) {
        shorten(plan.state, length);
    }
}

/// The time for which the rates are trusted: `plan.longest` by the group's own measurements, or longer by a profile. 0: the
/// group is a calibration run. May replace the rates.
Tick CalibrationStage::trusted_length(SkipPlan& plan) {
    GroupState& state = plan.state;
    const Tick longest = plan.longest;
    const Tick at = plan.at;
    CalibrationRecord& record = state.record;
    if (!record.recording && !record.calibrating) {
        return longest;
    }
    if (longest > 0) {
        begin_contributing(state, at);
    }
    if (record.entry == kNone) {
        return longest;
    }
    const CalibrationProfile& profile = calibration_.profile(record.entry, at);
    const double age = age_of(record, at);
    const double left = time_left(view_, state);
    const double trusted = trusted_skip(profile, age, left);
    if (record.calibrating && !complete_run(state, trusted, left, at)) {
        return 0;
    }
    const bool matching = longest == 0 || matches_profile(state, record.entry,
                                                          profile);  // 0: recognize() has found so
    const auto take = [&] {
        take_calibrated_rates(state, profile, at);
        record.recalled = calibration_.is_recalled(record.entry);
        return static_cast<Tick>(trusted);
    };
    if (matching &&
        (trusted >= kNearlyAll * left || profile.trusted_tail() > static_cast<double>(longest))) {
        return take();
    }
    const Tick unit = record.kind.profile.bin_length;
    const double age_at_end = age + left / static_cast<double>(unit);
    const bool is_long = left > kLongBins * static_cast<double>(unit);
    const Tick length = is_long ? static_cast<Tick>(kMaxBins) * unit : static_cast<Tick>(left);
    const bool unseen =
        record.kind.profile.shared && static_cast<double>(length) <= kUnseenFraction * left;
    // An extrapolation needs a later half that is two sawtooth spans long.
    const bool whole = !is_long && age_at_end * static_cast<double>(unit) <
                                       4 * static_cast<double>(record.kind.profile.sawtooth_span);
    if (record.recording && record.contributes && record.run == kNone &&
        (is_long || !profile.has_enough_contributors(age_at_end))) {
        // Where ACKs are no packets nothing folds.
        record.run =
            calibration_.request_run(record.entry, at, {length, unseen, whole, acks_ == nullptr});
        record.calibrating = record.run != kNone;
    }
    if (record.calibrating) {
        plan.spared = true;
        return 0;
    }
    return matching && trusted > static_cast<double>(longest) ? take() : longest;
}

/// Age of the group in bins.
double CalibrationStage::age_of(const CalibrationRecord& record, Tick at) {
    return static_cast<double>(at - record.begin) /
           static_cast<double>(record.kind.profile.bin_length);
}

}  // namespace sluice::hybrid
