// SPDX-License-Identifier: Apache-2.0
/// Which flows of all trials count: those that start in a window, which is given, or found from the first trials.
#pragma once

#include <cstddef>
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
    /// A trial of the reference; once there are enough, the window is there. Others are ignored.
    void add(const TrialRecord& trial);
    /// Of a trial of this length; not while it waits.
    CountedWindow counted(const TrialRecord& trial) const;
    /// What the first trials say of ramps, seconds. Where next to no flow begins in what is left nothing is cut, and it
    /// is mostly ramps. Null: they have no flows that begin by themselves, or are too few.
    const Window* window() const { return found_ ? &*found_ : nullptr; }

    /// For a store.
    std::string text() const;
    void set_text(const std::string& text);

  private:
    void find();

    WindowAim aim_;
    std::size_t wanted_;
    std::size_t seen_ = 0;
    double length_s_ = 0;  ///< sum over trials
    std::vector<double>
        active_;                 ///< flows under way, by equal parts of a trial, summed over trials
    std::vector<double> begun_;  ///< flows that begin, likewise
    std::optional<Window> found_;
    std::optional<CountedWindow> counted_;
};

}  // namespace sluice::eval
