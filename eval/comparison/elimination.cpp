// SPDX-License-Identifier: Apache-2.0
#include "eval/comparison/elimination.h"

#include <cmath>

#include "eval/comparison/anytime.h"

namespace sluice::eval {

Elimination::Elimination(std::size_t candidates, const EliminationSettings& settings)
    : settings_(settings) {
    check_confidence(1 - settings.family_error);
    if (candidates < 2 || !(settings.margin >= 0) || settings.minimum_trials < 2) {
        throw InternalError("Elimination: a setting is out of its range");
    }
    eliminated_.resize(candidates);
    values_.resize(candidates);
    differences_.resize(candidates * (candidates - 1) / 2);
}

Moments& Elimination::difference(std::size_t a, std::size_t b) {
    return differences_[b * (b - 1) / 2 + a];
}

const Moments& Elimination::difference(std::size_t a, std::size_t b) const {
    return differences_[b * (b - 1) / 2 + a];
}

/// Bonferroni over the pairs; looks are in the confidence sequence.
double Elimination::pair_confidence() const {
    return 1 - settings_.family_error / static_cast<double>(differences_.size());
}

std::vector<std::size_t> Elimination::candidates_left() const {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < eliminated_.size(); ++i) {
        if (left(i)) rest.push_back(i);
    }
    return rest;
}

void Elimination::add_round(const std::vector<double>& values) {
    if (values.size() != eliminated_.size()) throw InternalError("a round has a value a candidate");
    ++rounds_;
    const std::vector<std::size_t> rest = candidates_left();
    for (std::size_t a : rest) {
        values_[a].add(values[a]);
        for (std::size_t b : rest) {
            if (a < b) difference(a, b).add(values[a] - values[b]);
        }
    }
    if (rounds_ < settings_.minimum_trials) return;
    for (std::size_t a : rest) {
        for (std::size_t b : rest) {
            if (a >= b) continue;
            const Interval interval = anytime_interval(difference(a, b), pair_confidence());
            if (interval.contains(0)) continue;
            const bool a_wins = (interval.high < 0) == settings_.smaller_is_better;
            const std::size_t loser = a_wins ? b : a;
            if (left(loser)) eliminated_[loser] = Eliminated{a_wins ? a : b, rounds_};
        }
    }
}

bool Elimination::finished() const {
    const std::vector<std::size_t> rest = candidates_left();
    if (rest.size() <= 1) return true;
    if (settings_.margin <= 0 || rounds_ < settings_.minimum_trials) return false;
    const double margin = settings_.margin * std::fabs(values_[leader()].mean());
    for (std::size_t a : rest) {
        for (std::size_t b : rest) {
            if (a >= b) continue;
            const Interval interval = anytime_interval(difference(a, b), pair_confidence());
            if (interval.low < -margin || interval.high > margin) return false;
        }
    }
    return true;
}

std::size_t Elimination::leader() const {
    const std::vector<std::size_t> rest = candidates_left();
    if (rest.empty()) throw InternalError("Elimination: no candidate is left");
    std::size_t best = rest.front();
    for (std::size_t i : rest) {
        const bool better = settings_.smaller_is_better ? values_[i].mean() < values_[best].mean()
                                                        : values_[i].mean() > values_[best].mean();
        if (better) best = i;
    }
    return best;
}

}  // namespace sluice::eval
