// SPDX-License-Identifier: Apache-2.0
/// Advances one lane window by window and does what happens between windows: link events, queue
/// samples, reports. Shared by the SystemC partition clock and by plain loops; they differ only in
/// how a cell's step is called.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/clocks/lane_loop.h"
#include "core/clocks/partition_tracker.h"

namespace sluice::step {

class LaneDriver : public LaneLoop {
  public:
    LaneDriver(WorldStore& store, std::vector<LinkEvent> events, DriverHooks hooks)
        : LaneLoop(store, std::move(events), std::move(hooks)) {}

    /// Keeps partitions and lets their supervisor look between windows. Before the first window;
    /// `tracker` must outlive the driver.
    void supervise(PartitionTracker& tracker) { tracker_ = &tracker; }

    std::uint64_t windows() const { return windows_; }

    /// The next instant at which this lane has something to do.
    Tick next() const { return std::min(next_instant(store_.world()), next_cut()); }

    /// Executes everything before `limit`. `step_cell(cell, begin, end)` steps a node;
    /// `after_window()` runs after each window. Returns next(), or kNever once stopped.
    template <class StepCell, class AfterWindow>
    Tick advance(Tick limit, StepCell&& step_cell, AfterWindow&& after_window) {
        return drive(*this, limit, [&](Tick begin, Tick until) {
            World& world = store_.world();
            const Tick end = std::min(begin + world.lookahead, until);
            run_window(world, begin, end, step_cell);
            now_ = std::max(now_, end);
            ++windows_;
            if (tracker_ != nullptr) {
                tracker_->update();
            }
            after_window();
            if ((windows_ & 255U) == 0 || end >= hooks_.next_progress()) {
                hooks_.report(end);
            }
        });
    }

    template <class StepCell>
    Tick advance(Tick limit, StepCell&& step_cell) {
        return advance(limit, std::forward<StepCell>(step_cell), [] {});
    }

  private:
    friend class LaneLoop;

    Tick next_cut() const {
        return next_cut_with(tracker_ != nullptr ? &tracker_->supervisor() : nullptr);
    }

    void execute_cut(Tick at) {
        if (hooks_.next_sample() == at) {
            hooks_.sample(at);
        }
        const bool links = hooks_.next_event() == at;
        if (links && tracker_ != nullptr) {
            tracker_->supervisor().before_link_event(at);
        }
        hooks_.run_events(at);
        if (tracker_ != nullptr) {
            if (links) {
                tracker_->reroute(at);
            }
            if (tracker_->supervisor().next_cut() <= at) {
                tracker_->supervisor().at_cut(at);
            }
        }
    }

    PartitionTracker* tracker_ = nullptr;
    std::uint64_t windows_ = 0;
};

}  // namespace sluice::step
