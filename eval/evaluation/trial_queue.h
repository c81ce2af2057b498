// SPDX-License-Identifier: Apache-2.0
/// Which trials are to begin: of every candidate in their order, the candidate that is behind first.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace sluice::eval {

/// A candidate and the number of its trial.
using CandidateTrial = std::pair<std::size_t, std::size_t>;

class TrialQueue {
  public:
    explicit TrialQueue(std::size_t candidates) : candidates_(candidates) {}

    /// It is done, or under way: it need not begin.
    void begun(const CandidateTrial& trial);
    /// It has to begin after all: interrupted, or to be run again.
    void give_back(const CandidateTrial& trial) { again_.push_back(trial); }
    /// The next one with a number below `limit`, which has begun then; of candidates that are `wanted`. Those given back
    /// come first, whatever their number.
    std::optional<CandidateTrial> next(std::size_t limit,
                                       const std::function<bool(std::size_t candidate)>& wanted);

  private:
    struct Candidate {
        std::size_t next = 0;  ///< all before have begun
        std::vector<bool> begun;
    };

    std::vector<Candidate> candidates_;
    std::vector<CandidateTrial> again_;
};

}  // namespace sluice::eval
