// SPDX-License-Identifier: Apache-2.0
/// Rates and lengths of skips from groups that were simulated long (core/hybrid/calibration.h).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/hybrid/phase_state.h"
#include "core/steady/defaults.h"

namespace sluice::hybrid {

namespace {

/// What a group has done lately is compared over so many bins.
constexpr std::size_t kCompared = 4;
/// Bins that a group must have left for it to be simulated long: half of what that may take. Shorter
/// messages are little skipped anyway.
constexpr double kWorth = static_cast<double>(kMostBins) / 2;
/// Of its link: a class of ACK streams.
constexpr double kStreamClasses = 256;
/// Most flows of a group that is recorded: a bin is kept of each.
constexpr std::size_t kMostFlows = 1024;
/// Relative difference of bytes in flight that are the same, beyond a packet.
constexpr double kFlightsAgree = 0.3;
constexpr double kBitsPerByteAndTick = 8e12;

/// Packets in round trips, by factors of four: a law that has settled is not one that begins.
std::int64_t age_class(double packets, double bdp) {
    std::int64_t age = 0;
    for (double round_trips = packets / bdp; round_trips >= 2 && age < 4; round_trips /= 4) {
        ++age;
    }
    return age;
}

}  // namespace

void PhaseController::begin_record(State& state, const steady::GroupFacts& facts) {
    state.record = SteadyRecord{};
    SteadyRecord& record = state.record;
    // What flows have of a shared port wanders; its mean is not theirs. Sprayed flows have no ports.
    record.on = config_.calibrate && config_.scope == PhaseScope::partition && rates_ == nullptr &&
                facts.sharing == 1 && facts.flows > 0 && facts.flows <= kMostFlows;
    if (!record.on) {
        return;
    }
    const steady::DetectorSettings settings = steady::resolved(config_.detector, facts);
    record.agreement = settings.theta / 2;
    record.swings = settings.span;
    record.unit = std::max(facts.base_rtt, 2 * state.period);
    for (const FlowSlot flow : state.group.flows) {
        const auto packets = static_cast<double>(engine_.reading(flow).acked) /
                             static_cast<double>(engine_.payload());
        record.age.push_back(age_class(packets, steady::bdp_packets(facts)));
    }
}

/// The bin that ends with the state's readings, flow by flow; empty: it has stood still.
std::vector<BinReading> PhaseController::ended_bin(const State& state) {
    const SteadyRecord& record = state.record;
    std::vector<BinReading> bin;
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const steady::FlowReading& reading = state.readings[i];
        if (reading.progress <= record.progress[i]) {
            return {};
        }
        bin.push_back({static_cast<double>(reading.acked - record.acked[i]) /
                           static_cast<double>(reading.progress - record.progress[i]),
                       static_cast<double>(reading.in_flight)});
    }
    return bin;
}

/// Ends a bin of a group's record when it is time, and begins the next.
void PhaseController::record(State& state, Tick now) {
    SteadyRecord& record = state.record;
    const std::size_t flows = state.group.flows.size();
    const Tick at = now - state.skipped;
    const bool begins = record.progress.empty();
    if (!record.on || (!begins && at < record.edge)) {
        return;
    }
    std::vector<BinReading> bin;
    if (begins) {
        record.begin = now;
        record.edge = at;
    } else {
        bin = ended_bin(state);
        record.on = !bin.empty();
    }
    record.edge += record.unit;
    record.progress.resize(flows);
    record.acked.resize(flows);
    for (std::size_t i = 0; i < flows; ++i) {
        const steady::FlowReading& reading = state.readings[i];
        record.progress[i] = reading.progress;
        record.acked[i] = reading.acked;
        record.saturated =
            record.saturated && reading.rate >= engine_.line_rate(state.group.flows[i]);
    }
    if (bin.empty()) {
        return;
    }
    const std::size_t first = record.bins.size() / flows;
    record.bins.insert(record.bins.end(), bin.begin(), bin.end());
    if (record.entry != kNone && state.skipped == 0) {
        calibration_.add(record.entry, now, first, std::move(bin), record.saturated);
    }
    record.on = first + 1 < kMostBins;
}

ClusterKey PhaseController::key_of(const State& state) const {
    std::vector<ClusterFlow> flows;
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const FlowSlot flow = state.group.flows[i];
        flows.push_back({&engine_.tracks(flow), engine_.base_rtt(flow), engine_.line_rate(flow),
                         state.record.age[i], engine_.traffic_class(flow)});
    }
    return cluster_key(flows, [&](PortId port) {
        const auto rate = static_cast<double>(engine_.link_rate(port));
        const double across =
            acks_ == nullptr ? 0 : acks_->across(port) * kBitsPerByteAndTick / rate;
        return ClusterPort{engine_.link_rate(port), engine_.describe(port).mark_bytes,
                           std::llround(across * kStreamClasses)};
    });
}

/// What the group did lately is what others did at its age.
bool PhaseController::agrees(const State& state, const SteadyCurve& curve) const {
    const SteadyRecord& record = state.record;
    const std::size_t flows = state.group.flows.size();
    const std::size_t bins = record.bins.size() / flows;
    if (bins < kCompared) {
        return false;
    }
    for (std::size_t f = 0; f < flows; ++f) {
        BinReading own;
        for (std::size_t bin = bins - kCompared; bin < bins; ++bin) {
            own.rate += record.bins[bin * flows + f].rate / kCompared;
            own.flight += record.bins[bin * flows + f].flight / kCompared;
        }
        const BinReading told =
            curve.mean(f, static_cast<double>(bins - kCompared), static_cast<double>(kCompared));
        const double flight_range =
            kFlightsAgree * told.flight + static_cast<double>(engine_.payload());
        if (std::abs(own.rate - told.rate) > record.agreement * told.rate ||
            std::abs(own.flight - told.flight) > flight_range) {
            return false;
        }
    }
    return true;
}

/// When the group's first finisher has its last packets to send, ticks from now; 0: it has.
double PhaseController::time_left(const State& state) const {
    double left = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < state.rate.size(); ++i) {
        const auto packets = static_cast<double>(skippable(state, i));
        left = std::min(left, state.rate[i] > 0 ? packets / state.rate[i] : 0);
    }
    return std::max(left, 0.0);
}

/// The longest skip of a group whose rates are taken, `longest` by what it has seen of itself; 0: it is
/// simulated for others. May change the rates.
Tick PhaseController::calibrate(State& state, Tick longest, Tick at) {
    SteadyRecord& record = state.record;
    if (!record.on && !record.long_run) {
        return longest;
    }
    if (record.entry == kNone && !record.bins.empty()) {
        record.entry = calibration_.find(key_of(state), state.group.flows.size(), record.unit,
                                         record.swings, at);
        if (state.skipped == 0) {
            calibration_.add(record.entry, at, 0, record.bins, record.saturated);
        }
    }
    if (record.entry == kNone) {
        return longest;
    }
    const SteadyCurve& curve = calibration_.curve(record.entry, at);
    const double left = time_left(state);
    if (record.long_run) {
        if (curve.trusted() < left && record.on && !calibration_.closed(record.entry, at)) {
            return 0;
        }
        calibration_.close(record.entry, at);
        record.long_run = false;
    }
    if (curve.trusted() > static_cast<double>(longest) && agrees(state, curve)) {
        take_calibrated_rates(state, curve, at);
        return static_cast<Tick>(curve.trusted());
    }
    record.long_run = record.on && state.skipped == 0 &&
                      left > kWorth * static_cast<double>(record.unit) &&
                      calibration_.wants(record.entry, at);
    return record.long_run ? 0 : longest;
}

/// Means over the time that the skip will take, which depends on them.
void PhaseController::take_calibrated_rates(State& state, const SteadyCurve& curve, Tick at) {
    const SteadyRecord& record = state.record;
    const auto unit = static_cast<double>(record.unit);
    const double age = static_cast<double>(at - record.begin) / unit;
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
        const double lasts = std::min(time_left(state), curve.trusted());
        for (std::size_t f = 0; f < state.rate.size() && lasts > 0; ++f) {
            state.rate[f] =
                curve.mean(f, age, lasts / unit).rate / static_cast<double>(engine_.payload());
        }
    }
}

}  // namespace sluice::hybrid
