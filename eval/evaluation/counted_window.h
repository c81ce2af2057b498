// SPDX-License-Identifier: Apache-2.0
/// Which flows of all trials count: those that start in a window, which is given, or found from the first trials.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/evaluation/plan.h"
#include "eval/trials/metric.h"
#include "eval/warmup/warmup.h"

namespace sluice::eval {

class WindowFinder {
  public:
    /// Trials of the reference that a window is found from, at most.
    static constexpr std::size_t kTrials = 20;

    explicit WindowFinder(const WindowAim& aim, std::size_t maximum_trials);

    /// Whether observations have to wait for the window.
    bool waits() const { return aim_.find && !counted_; }
    /// All is seen that is looked at.
    bool done() const { return seen_ == wanted_; }
    /// A trial of the reference, in any order; once the first ones are all there, so is the window. Others are ignored.
    void add(std::size_t number, const TrialRecord& trial);
    /// Of a trial of this length; not while it waits.
    CountedWindow counted(const TrialRecord& trial) const;
    /// What the first trials say of ramps, seconds; null: their flows do not begin bit by bit.
    const Window* window() const { return found_ ? &*found_ : nullptr; }

    /// For a store.
    std::string text() const;
    void set_text(const std::string& text);

  private:
    void take(const TrialRecord& trial);
    void find();

    WindowAim aim_;
    std::size_t wanted_;
    std::size_t seen_ = 0;                      ///< trials 0 to this - 1
    std::map<std::size_t, TrialRecord> ahead_;  ///< that came before their turn
    std::vector<double> times_;                 ///< completion times of the flows seen
    double arrivals_s_ = 0;  ///< when the last one of a trial begins, summed over trials with flows
    std::size_t with_flows_ = 0;
    std::optional<Window> found_;
    std::optional<CountedWindow> counted_;
};

}  // namespace sluice::eval
