// SPDX-License-Identifier: Apache-2.0
/// Rates of skips as others told them (core/calibration/calibration.h), and the laws' rates with which their flows wake.
#include <algorithm>
#include <map>

#include "core/hybrid/stages/calibration_stage.h"

namespace sluice::hybrid {

namespace {

/// A law wakes with its rate within this factor of the one that it fell asleep with.
constexpr double kMostChange = 16;

}  // namespace

/// Means over the time that the skip will take, which depends on them.
void CalibrationStage::take_calibrated_rates(GroupState& state, const SteadyCurve& curve, Tick at) {
    SteadyRecord& record = state.record;
    record.told = true;
    record.told_from = age_of(record, at);
    record.told_for = 0;
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
        const double lasts = std::min(time_left(view_, state), curve.trusted(record.told_from)) /
                             static_cast<double>(record.kind.curve.unit);
        for (std::size_t f = 0; f < state.rate.size() && lasts > 0; ++f) {
            record.told_for = lasts;
            state.rate[f] =
                curve.mean(f, record.told_from, lasts).rate / static_cast<double>(view_.payload());
        }
    }
    level(record, state.rate);
}

double CalibrationStage::part_of_mean(const GroupState& state, std::size_t flow, Tick first) const {
    const SteadyRecord& record = state.record;
    if (!record.told || record.told_for <= 0 || first <= 0) {
        return 1;
    }
    const SteadyCurve& curve = calibration_.told(record.entry);
    const auto bins = static_cast<double>(first) / static_cast<double>(record.kind.curve.unit);
    const double whole = curve.mean(flow, record.told_from, record.told_for).rate;
    return whole > 0 ? curve.mean(flow, record.told_from, bins).rate / whole : 1;
}

/// Ticks for which the record's flows were told rates; 0: for none.
double CalibrationStage::calibrated_length(const SteadyRecord& record) {
    return record.told ? record.told_for * static_cast<double>(record.kind.curve.unit) : 0;
}

void CalibrationStage::shorten(GroupState& state, Tick dt) {
    SteadyRecord& record = state.record;
    if (!record.told || dt <= 0) {
        return;
    }
    std::vector<double> part;
    for (std::size_t f = 0; f < state.rate.size(); ++f) {
        part.push_back(part_of_mean(state, f, dt));
    }
    level(record, part);
    for (std::size_t f = 0; f < state.rate.size(); ++f) {
        state.rate[f] *= part[f];
    }
    record.told_for = static_cast<double>(dt) / static_cast<double>(record.kind.curve.unit);
}

/// After a skip with rates that others told: what they have of a port is not what they had as it began, so their laws wake as
/// those of the others were.
std::int64_t CalibrationStage::restore(GroupState& state) {
    const SteadyRecord& record = state.record;
    if (!record.told || !record.kind.curve.shared) {
        return 0;
    }
    const SteadyCurve& curve = calibration_.curve(record.entry, state.until);
    std::vector<double> change;
    for (std::size_t f = 0; f < state.group.flows.size(); ++f) {
        const auto own = static_cast<double>(view_.reading(state.group.flows[f]).rate);
        change.push_back(curve.mean(f, age_of(record, state.until), 1).law / own);
    }
    level(record, change);
    for (std::size_t f = 0; f < change.size(); ++f) {
        engine_.rescale_law(state.group.flows[f],
                            std::clamp(change[f], 1 / kMostChange, kMostChange), state.until);
    }
    return 0;
}

/// Flows that have done the same so far go on doing the same, though others, of which they were told, did not: those of
/// a group that is folded upon itself have one rate. `values` are by flow.
void CalibrationStage::level(const SteadyRecord& record, std::vector<double>& values) {
    const std::size_t flows = values.size();
    const std::size_t bins = record.bins.size() / flows;
    const auto other_past = [&](std::size_t a, std::size_t b) {
        const BinReading* one = &record.origin[a];
        const BinReading* other = &record.origin[b];
        for (std::size_t bin = bins - std::min(bins, kCompared);
             bin < bins && !(*one < *other) && !(*other < *one); ++bin) {
            one = &record.bins[bin * flows + a];
            other = &record.bins[bin * flows + b];
        }
        return *one < *other;
    };
    std::map<std::size_t, std::pair<double, double>, decltype(other_past)> sums(other_past);
    for (std::size_t f = 0; f < flows; ++f) {
        auto& [sum, count] = sums[f];
        sum += values[f];
        count += 1;
    }
    for (std::size_t f = 0; f < flows && sums.size() < flows; ++f) {
        const auto& [sum, count] = sums[f];
        values[f] = sum / count;
    }
}

}  // namespace sluice::hybrid
