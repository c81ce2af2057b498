// SPDX-License-Identifier: Apache-2.0
/// Advances a world window by window and does what happens between windows, at *cuts*: link events,
/// queue samples, what the phase controller plans, reports. One driver for a network on one clock and on many
/// (step::Domains); whoever drives it, a SystemC process or a plain loop, differs only in how a cell's step is
/// called.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/clocks/domains.h"
#include "core/clocks/hook_runner.h"
#include "core/clocks/window_loop.h"
#include "core/clocks/worker_pool.h"
#include "core/engine/flow_changes.h"

namespace sluice::engine {

/// On how many clocks a network runs where its partitions are kept.
enum class Clocks : std::uint8_t { one, many };

class Driver {
  public:
    /// Call store.begin() first. The store must outlive the driver.
    Driver(step::WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks);
    /// Keeps partitions. All must outlive the driver. `controller` may be null, and on many clocks it is.
    Driver(step::WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks, Clocks clocks,
           step::FlowPartitions& partitions, hybrid::PhaseController* controller);
    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    /// Foreign models send and hold packets: one clock for everything. Before the first window.
    void expect_packets_from_outside();
    /// A packet is about to be put on the link to `port` from outside at `at`, not before now(), which stands still
    /// meanwhile.
    void before_packet_from_outside(const step::Packet& packet, PortId port, Tick at);
    /// Takes up and reports flows that were closed from outside.
    void take_up_closed();
    void tune(const step::ClockTuning& tuning);
    /// Windows of a network on one clock are stepped by `pool`, not by step_cell, while it takes them and
    /// nothing is folded. It must outlive the driver.
    void divide_windows(step::WorkerPool& pool);
    /// On one clock, without a phase controller or with one that notes what copies need (copy_notes()). Hops that are
    /// not executed are in no checksum. `folds` must outlive the driver.
    void fold(step::Folds& folds);
    /// Between windows: the columns are as if nothing had been folded.
    void unfold();

    /// Everything before this instant has been executed.
    Tick now() const { return now_; }
    bool stopped() const { return hooks_.stopped(); }
    std::uint64_t windows() const;
    step::ClockStatistics statistics() const;

    /// The next instant at which there is something to do.
    Tick next() const { return std::min(step::next_instant(store_.world()), next_cut()); }
    /// The next instant at which something happens between windows.
    Tick next_cut() const;

    /// Executes everything before `limit`. `step_cell(cell, begin, end)` steps a cell;
    /// `after_window()` runs after each window of everything and each stretch of solo windows. Returns
    /// next(), or kNever once stopped.
    template <class StepCell, class AfterWindow>
    Tick advance(Tick limit, StepCell&& step_cell, AfterWindow&& after_window) {
        while (!stopped()) {
            const Tick begin = step::next_instant(store_.world());
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
            const bool apart = run(begin, std::min(cut, limit), limit, step_cell);
            take_up_changes();
            after_window();
            if (apart || (windows() & 255U) == 0 || now_ >= hooks_.next_progress()) {
                hooks_.report(now_, changes_.finished());
            }
        }
        hooks_.report(now_, changes_.finished());
        return stopped() ? kNever : next();
    }

    template <class StepCell>
    Tick advance(Tick limit, StepCell&& step_cell) {
        return advance(limit, std::forward<StepCell>(step_cell), [] {});
    }

  private:
    /// A window of everything from `begin` on, not beyond `until`; or, where clocks may be apart, a
    /// stretch of solo windows, not beyond `limit`. True if it was that.
    template <class StepCell>
    bool run(Tick begin, Tick until, Tick limit, StepCell&& step_cell) {
        step::World& world = store_.world();
        if (domains_ == nullptr) {
            const Tick end = std::min(begin + world.lookahead, until);
            if (pool_ != nullptr && for_pool()) {
                run_divided(begin, until);
                return false;
            }
            const auto run_window = [&] { step::run_window(world, begin, end, step_cell); };
            if (pool_ != nullptr) {
                pool_->run_unshared(windows_, run_window);
            } else {
                run_window();
            }
            now_ = std::max(now_, end);
            window_end_ = end;
            ++windows_;
            return false;
        }
        const Tick apart = solo_until(begin, limit);
        if (apart > begin) {
            now_ = domains_->run_solo(now_, apart, step_cell);
            return true;
        }
        const Tick end = std::min(begin + world.lookahead, until);
        domains_->run_joint(begin, end, step_cell);
        now_ = std::max(now_, end);
        return false;
    }

    bool for_pool();
    void run_divided(Tick begin, Tick until);
    void execute_cut(Tick at);
    Tick solo_until(Tick begin, Tick limit);
    void take_up_changes();
    void take_up_separated();

    step::WorldStore& store_;
    step::HookRunner hooks_;
    std::unique_ptr<step::Domains> domains_;  ///< null: one clock
    FlowChanges changes_;
    hybrid::PhaseController* controller_ = nullptr;  ///< null: nothing is skipped
    step::WorkerPool* pool_ = nullptr;               ///< null: one thread
    step::Folds* folds_ = nullptr;                   ///< null: nothing is folded
    bool outside_ = false;  ///< what goes on may be where next_instant() does not see it
    Tick now_ = 0;
    Tick window_end_ = 0;        ///< before now_ where something skipped back
    std::uint64_t windows_ = 0;  ///< without domains
};

}  // namespace sluice::engine
