// SPDX-License-Identifier: Apache-2.0
/// Advances one lane window by window and does what happens between windows: link events, queue
/// samples, reports. Shared by the SystemC partition clock and by plain loops; they differ only in
/// how a cell's step is called.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/step/driver_hooks.h"
#include "core/step/partition_tracker.h"
#include "core/step/window_loop.h"

namespace sluice::step {

class LaneDriver {
  public:
    LaneDriver(WorldStore& store, std::vector<LinkEvent> events, DriverHooks hooks)
        : store_(store), hooks_(store, std::move(events), std::move(hooks)) {}
    LaneDriver(const LaneDriver&) = delete;
    LaneDriver& operator=(const LaneDriver&) = delete;

    /// Keeps partitions and lets their supervisor look between windows. Before the first window;
    /// `tracker` must outlive the driver.
    void supervise(PartitionTracker& tracker) { tracker_ = &tracker; }

    /// Everything before this instant has been executed.
    Tick now() const { return now_; }
    bool stopped() const { return hooks_.stopped(); }
    std::uint64_t windows() const { return windows_; }

    /// The next instant at which this lane has something to do.
    Tick next() const { return std::min(next_instant(store_.world()), next_cut()); }

    /// Executes everything before `limit`. `step_cell(cell, begin, end)` steps a node;
    /// `after_window()` runs after each window. Returns next(), or kNever once stopped.
    template <class StepCell, class AfterWindow>
    Tick advance(Tick limit, StepCell&& step_cell, AfterWindow&& after_window) {
        World& world = store_.world();
        while (!stopped()) {
            const Tick begin = next_instant(world);
            const Tick cut = next_cut();
            if (cut <= begin) {
                if (cut >= limit || cut == kNever) {
                    break;
                }
                now_ = std::max(now_, cut);
                execute_cut(cut);
                continue;
            }
            if (begin >= limit) {
                break;
            }
            const Tick end = std::min({begin + world.lookahead, cut, limit});
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
        }
        hooks_.report(now_);
        return stopped() ? kNever : next();
    }

    template <class StepCell>
    Tick advance(Tick limit, StepCell&& step_cell) {
        return advance(limit, std::forward<StepCell>(step_cell), [] {});
    }

  private:
    Tick next_cut() const {
        const Tick event = hooks_.next_event();
        const bool pending = event != kNever && !at_rest();
        const Tick at = std::min(pending ? event : kNever, hooks_.next_sample());
        // Nothing left to do is the end, however much there would be to look at.
        const bool watched = tracker_ != nullptr && next_instant(store_.world()) != kNever;
        return watched ? std::min(at, tracker_->supervisor().next_cut()) : at;
    }

    /// Nothing is under way and nothing will start: a link event would change nothing.
    bool at_rest() const {
        const World& world = store_.world();
        return world.senders.count == world.free_senders.count && next_instant(world) == kNever;
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

    WorldStore& store_;
    HookRunner hooks_;
    PartitionTracker* tracker_ = nullptr;
    Tick now_ = 0;
    std::uint64_t windows_ = 0;
};

}  // namespace sluice::step
