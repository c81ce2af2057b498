// SPDX-License-Identifier: Apache-2.0
/// Rates of skips by calibration profiles (core/calibration/calibration.h), and the rates with which the flows' algorithms
/// resume.
#include <algorithm>
#include <map>

#include "core/hybrid/stages/calibration_stage.h"
#include "core/hybrid/stages/stage_list.h"

namespace sluice::hybrid {

/// Takes the profile's means over the skip. The skip's length depends on them in turn, so a few rounds are made.
void CalibrationStage::take_calibrated_rates(GroupState& state, const CalibrationProfile& profile,
                                             Tick at) {
    CalibrationRecord& record = state.record;
    record.predicted = true;
    record.predicted_from = age_of(record, at);
    record.predicted_for = 0;
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds; ++round) {
        const double left = time_left(view_, state);
        const double lasts = std::min(left, trusted_skip(profile, record.predicted_from, left)) /
                             static_cast<double>(record.kind.profile.bin_length);
        for (std::size_t f = 0; f < state.rate.size() && lasts > 0; ++f) {
            record.predicted_for = lasts;
            state.rate[f] = profile.mean(f, record.predicted_from, lasts).rate /
                            static_cast<double>(view_.payload());
        }
    }
    equalize(record, state.rate);
}

double CalibrationStage::mean_ratio(const GroupState& state, std::size_t flow, Tick first) const {
    const CalibrationRecord& record = state.record;
    if (!record.predicted || record.predicted_for <= 0 || first <= 0) {
        return 1;
    }
    const CalibrationProfile& profile = calibration_.last_profile(record.entry);
    const auto bins =
        static_cast<double>(first) / static_cast<double>(record.kind.profile.bin_length);
    const double whole = profile.mean(flow, record.predicted_from, record.predicted_for).rate;
    return whole > 0 ? profile.mean(flow, record.predicted_from, bins).rate / whole : 1;
}

/// Length of the skip for which rates were predicted, ticks; 0: none were.
double CalibrationStage::calibrated_length(const CalibrationRecord& record) {
    return record.predicted
               ? record.predicted_for * static_cast<double>(record.kind.profile.bin_length)
               : 0;
}

void CalibrationStage::shorten(GroupState& state, Tick dt) {
    CalibrationRecord& record = state.record;
    if (!record.predicted || dt <= 0) {
        return;
    }
    std::vector<double> part;
    for (std::size_t f = 0; f < state.rate.size(); ++f) {
        part.push_back(mean_ratio(state, f, dt));
    }
    equalize(record, part);
    for (std::size_t f = 0; f < state.rate.size(); ++f) {
        state.rate[f] *= part[f];
    }
    record.predicted_for =
        static_cast<double>(dt) / static_cast<double>(record.kind.profile.bin_length);
}

/// After a skip with predicted rates, flows have other shares of a port than before. So their algorithms resume with the
/// rates that the profile has at that age.
std::int64_t CalibrationStage::restore(GroupState& state) {
    const CalibrationRecord& record = state.record;
    if (!record.predicted || !record.kind.profile.shared) {
        return 0;
    }
    const CalibrationProfile& profile = calibration_.profile(record.entry, state.until);
    std::vector<double> change;
    for (std::size_t f = 0; f < state.group.flows.size(); ++f) {
        const auto own = static_cast<double>(view_.reading(state.group.flows[f]).rate);
        change.push_back(profile.mean(f, age_of(record, state.until), 1).law_rate / own);
    }
    equalize(record, change);
    for (std::size_t f = 0; f < change.size(); ++f) {
        engine_.rescale_law(state.group.flows[f],
                            std::clamp(change[f], 1 / kMostRateChange, kMostRateChange),
                            state.until);
    }
    return 0;
}

/// Gives flows with equal records the mean of their values, even if the profile's flows differ: the flows of one orbit must
/// have one rate. `values` are by flow.
void CalibrationStage::equalize(const CalibrationRecord& record, std::vector<double>& values) {
    const std::size_t flows = values.size();
    const std::size_t bins = record.bins.size() / flows;
    const auto has_lesser_record = [&](std::size_t a, std::size_t b) {
        const BinReading* one = &record.initial[a];
        const BinReading* other = &record.initial[b];
        for (std::size_t bin = bins - std::min(bins, kComparedBins);
             bin < bins && !(*one < *other) && !(*other < *one); ++bin) {
            one = &record.bins[bin * flows + a];
            other = &record.bins[bin * flows + b];
        }
        return *one < *other;
    };
    std::map<std::size_t, std::pair<double, double>, decltype(has_lesser_record)> sums(
        has_lesser_record);
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

std::unique_ptr<SkipStage> make_calibration_stage(StageContext& context) {
    auto stage = std::make_unique<CalibrationStage>(context.parts.engine, context.loads,
                                                    context.parts.config, context.rates == nullptr);
    context.calibration = stage.get();
    return stage;
}

}  // namespace sluice::hybrid
