// SPDX-License-Identifier: Apache-2.0
/// The best of many candidates by successive elimination on common random numbers (Even-Dar, Mannor and
/// Mansour, J. Mach. Learn. Res. 7, 2006, with confidence sequences of paired differences): every round
/// runs one trial of each candidate that is left; one that is shown to be worse than another one leaves.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "eval/intervals/moments.h"

namespace sluice::eval {

struct EliminationSettings {
    /// At most this probability that anything false is said, over all pairs and all looks: that a
    /// candidate leaves for one that is not better.
    double family_error = 0.05;
    /// Ends, too, when those that are left differ by at most this share of the leader's mean; 0: never.
    double margin = 0;
    bool smaller_is_better = true;
    std::size_t minimum_trials = 20;
};

struct Eliminated {
    std::size_t by = 0;      ///< the candidate that is better
    std::size_t trials = 0;  ///< that had been run of it by then
};

class Elimination {
  public:
    /// InternalError unless candidates >= 2, 0 < family_error < 1, margin >= 0, minimum_trials >= 2.
    Elimination(std::size_t candidates, const EliminationSettings& settings = {});

    bool left(std::size_t candidate) const { return !eliminated_[candidate]; }
    std::vector<std::size_t> candidates_left() const;
    std::size_t rounds() const { return rounds_; }
    /// The values of the next trial, one a candidate; values of those that have left are ignored.
    void add_round(const std::vector<double>& values);
    /// One is left, or those left are the same within the margin.
    bool finished() const;
    /// Of those left, the one with the best mean so far; the lowest number among equals.
    std::size_t leader() const;
    const std::optional<Eliminated>& eliminated(std::size_t candidate) const {
        return eliminated_[candidate];
    }

  private:
    /// Of candidate a minus candidate b, a < b.
    Moments& difference(std::size_t a, std::size_t b);
    const Moments& difference(std::size_t a, std::size_t b) const;
    double pair_confidence() const;

    EliminationSettings settings_;
    std::size_t rounds_ = 0;
    std::vector<std::optional<Eliminated>> eliminated_;
    std::vector<Moments> values_;
    std::vector<Moments> differences_;  ///< triangular, by pair
};

}  // namespace sluice::eval
