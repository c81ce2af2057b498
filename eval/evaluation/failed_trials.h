// SPDX-License-Identifier: Apache-2.0
/// Trials of an evaluation that have failed: how often each, and which of them for good.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace sluice::eval {

class FailedTrials {
  public:
    /// Returns how often it has been tried by now.
    std::size_t add_attempt(std::size_t candidate, std::size_t trial) {
        return ++attempts_[{candidate, trial}];
    }
    /// Failed attempts of a trial.
    std::size_t attempts(std::size_t candidate, std::size_t trial) const {
        const auto found = attempts_.find({candidate, trial});
        return found == attempts_.end() ? 0 : found->second;
    }
    /// There will be no figures of it.
    void give_up(std::size_t candidate, std::size_t trial, std::string why) {
        reasons_[{trial, candidate}] = std::move(why);
    }
    bool any() const { return !reasons_.empty(); }
    /// Why there are none of the first trial; any().
    const std::string& first_reason() const { return reasons_.begin()->second; }
    /// Null: it was not given up.
    const std::string* reason(std::size_t candidate, std::size_t trial) const {
        const auto found = reasons_.find({trial, candidate});
        return found == reasons_.end() ? nullptr : &found->second;
    }

  private:
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> attempts_;  ///< by candidate, trial
    std::map<std::pair<std::size_t, std::size_t>, std::string> reasons_;   ///< by trial, candidate
};

}  // namespace sluice::eval
