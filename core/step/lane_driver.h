// SPDX-License-Identifier: Apache-2.0
/// Advances one lane window by window and does what happens between windows: link events, queue
/// samples, reports. Shared by the SystemC partition clock and by plain loops; they differ only in
/// how a cell's step is called.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "core/step/partition_tracker.h"
#include "core/step/window_loop.h"
#include "core/step/world_store.h"

namespace sluice::step {

/// A PFC frame took effect at the port that received it.
struct PfcChange {
    Tick at = 0;
    PortId port = 0;
    bool pause = false;
};

struct DriverHooks {
    std::function<void(FlowId)> on_finish;         ///< in (finish, flow) order
    std::function<void(const PfcChange&)> on_pfc;  ///< in (time, port) order
    std::function<bool(Tick now)> on_progress;     ///< false: stop here
    Tick progress_interval = kMillisecond;         ///< simulated, or 200 ms of wall time
    std::function<void(Tick now)> on_sample;
    Tick sample_every = 0;
    Tick sample_from = 0;
    Tick sample_to = 0;
};

class LaneDriver {
  public:
    LaneDriver(WorldStore& store, std::vector<LinkEvent> events, DriverHooks hooks)
        : store_(store), events_(std::move(events)), hooks_(std::move(hooks)) {
        std::stable_sort(events_.begin(), events_.end(),
                         [](const LinkEvent& a, const LinkEvent& b) { return a.at < b.at; });
        next_sample_ = hooks_.sample_every > 0 && hooks_.on_sample ? hooks_.sample_from : kNever;
        next_progress_ = hooks_.progress_interval;
        if (hooks_.on_pfc) {
            World& world = store_.world();
            world.callbacks.pfc_context = this;
            world.callbacks.pfc = [](void* self, PortId port, bool pause, Tick now) {
                static_cast<LaneDriver*>(self)->pfc_.push_back(PfcChange{now, port, pause});
            };
        }
    }
    LaneDriver(const LaneDriver&) = delete;
    LaneDriver& operator=(const LaneDriver&) = delete;

    /// Keeps partitions and lets their supervisor look between windows. Before the first window;
    /// `tracker` must outlive the driver.
    void supervise(PartitionTracker& tracker) { tracker_ = &tracker; }

    /// Everything before this instant has been executed.
    Tick now() const { return now_; }
    bool stopped() const { return stopped_; }
    std::uint64_t windows() const { return windows_; }

    /// The next instant at which this lane has something to do.
    Tick next() const { return std::min(next_instant(store_.world()), next_cut()); }

    /// Executes everything before `limit`. `step_cell(cell, begin, end)` steps a node;
    /// `after_window()` runs after each window. Returns next(), or kNever once stopped.
    template <class StepCell, class AfterWindow>
    Tick advance(Tick limit, StepCell&& step_cell, AfterWindow&& after_window) {
        World& world = store_.world();
        while (!stopped_) {
            const Tick begin = next_instant(world);
            const Tick cut = next_cut();
            if (cut <= begin) {
                if (cut >= limit || cut == kNever) {
                    break;
                }
                now_ = cut;
                execute_cut(cut);
                continue;
            }
            if (begin >= limit) {
                break;
            }
            const Tick end = std::min({begin + world.lookahead, cut, limit});
            run_window(world, begin, end, step_cell);
            now_ = end;
            ++windows_;
            if (tracker_ != nullptr) {
                tracker_->update(end);
            }
            after_window();
            if ((windows_ & 255U) == 0 || end >= next_progress_) {
                report();
            }
        }
        report();
        return stopped_ ? kNever : next();
    }

    template <class StepCell>
    Tick advance(Tick limit, StepCell&& step_cell) {
        return advance(limit, std::forward<StepCell>(step_cell), [] {});
    }

  private:
    Tick next_cut() const {
        const bool pending = next_event_ < events_.size() && !at_rest();
        const Tick at = std::min(pending ? events_[next_event_].at : kNever, next_sample_);
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
        if (next_sample_ == at) {
            hooks_.on_sample(at);
            next_sample_ += hooks_.sample_every;
            if (next_sample_ > hooks_.sample_to) {
                next_sample_ = kNever;
            }
        }
        const bool links = next_event_ < events_.size() && events_[next_event_].at == at;
        if (links && tracker_ != nullptr) {
            tracker_->supervisor().before_link_event(at);
        }
        for (; next_event_ < events_.size() && events_[next_event_].at == at; ++next_event_) {
            store_.set_link(events_[next_event_].link, events_[next_event_].up, at);
        }
        if (tracker_ != nullptr) {
            if (links) {
                tracker_->reroute(at);
            }
            if (tracker_->supervisor().next_cut() <= at) {
                tracker_->supervisor().at_cut(at);
            }
        }
    }

    void report() {
        PlainVector<FlowId>& finished = store_.world().finished;
        if (finished.count > 0) {
            if (hooks_.on_finish) {
                const std::vector<FlowResult>& results = store_.results();
                std::sort(finished.data, finished.data + finished.count, [&](FlowId a, FlowId b) {
                    return std::make_pair(results[a].finish, a) <
                           std::make_pair(results[b].finish, b);
                });
                std::for_each(finished.data, finished.data + finished.count, hooks_.on_finish);
            }
            finished.count = 0;
        }
        if (!pfc_.empty()) {
            std::sort(pfc_.begin(), pfc_.end(), [](const PfcChange& a, const PfcChange& b) {
                return std::make_pair(a.at, a.port) < std::make_pair(b.at, b.port);
            });
            std::for_each(pfc_.begin(), pfc_.end(), hooks_.on_pfc);
            pfc_.clear();
        }
        if (hooks_.on_progress) {
            const auto wall = std::chrono::steady_clock::now();
            if (now_ >= next_progress_ || wall - last_wall_ > std::chrono::milliseconds(200)) {
                last_wall_ = wall;
                next_progress_ = now_ + hooks_.progress_interval;
                stopped_ = !hooks_.on_progress(now_);
            }
        }
    }

    WorldStore& store_;
    std::vector<LinkEvent> events_;
    std::size_t next_event_ = 0;
    DriverHooks hooks_;
    PartitionTracker* tracker_ = nullptr;
    Tick next_sample_ = kNever;
    Tick next_progress_ = kNever;
    std::chrono::steady_clock::time_point last_wall_ = std::chrono::steady_clock::now();
    std::vector<PfcChange> pfc_;
    Tick now_ = 0;
    std::uint64_t windows_ = 0;
    bool stopped_ = false;
};

}  // namespace sluice::step
