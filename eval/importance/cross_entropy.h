// SPDX-License-Identifier: Apache-2.0
/// Search for a change of measure by cross entropy (CCEval, section 4.3.5, Algorithm 1, eq. 14 to 17).
///
/// What the paper leaves open, and is chosen here:
/// - Eq. 16 and 17 are expectations of the original distribution, whereas trials of epochs after the first are
///   drawn from changed ones: each event carries its likelihood ratio.
/// - Ten trials have few rare events: all epochs' trials so far are pooled, each with its own weights.
/// - Where fewer than ten values lie beyond the estimated quantile, the tenth largest value takes its place, so
///   that the search does not follow a single flow.
/// - A share of trials stays original (Change::original_share), which bounds weights.
/// - The deviation never falls below the original one: lighter tails than the original's have weights without
///   bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eval/importance/flow_source.h"
#include "eval/importance/weighted_quantile.h"

namespace sluice::eval {

struct SearchSettings {
    std::size_t epochs = 10;            ///< E
    std::size_t trials_per_epoch = 10;  ///< m_ce
    std::size_t fewest_events = 10;     ///< the quantile gives way to the value that so many reach
    double original_share = 0.25;       ///< of the changes tried and found
    double largest_shift = 2;           ///< of z's mean
    double largest_scale = 2;           ///< of z's deviation
};

struct Found {
    Change change;
    double threshold = 0;        ///< gamma_max, the last epoch's estimate of the quantile
    std::vector<Change> epochs;  ///< after each
};

/// Trials have the numbers first_trial, first_trial + 1, ... and E m_ce in all. `flows` as for the estimate.
Found search_change(const Traffic& traffic, const Simulate& simulate, double p,
                    const FlowsPerTrial& flows, std::uint64_t seed, std::uint64_t first_trial,
                    const SearchSettings& settings = {});

/// Runs one trial.
WeightedTrial run_weighted(const Traffic& traffic, const Simulate& simulate, const Change& change,
                           double threshold, std::uint64_t seed, std::uint64_t trial,
                           std::vector<double>* changed_z = nullptr);

}  // namespace sluice::eval
