// SPDX-License-Identifier: Apache-2.0
/// Advances a world window by window and does what happens between windows, at *cuts*: link events,
/// queue samples, what a supervisor plans, reports. One driver for a network on one clock and on many
/// (Domains); whoever drives it, a SystemC process or a plain loop, differs only in how a cell's step is
/// called.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/clocks/domains.h"
#include "core/clocks/folding.h"
#include "core/clocks/hook_runner.h"
#include "core/clocks/membership.h"
#include "core/clocks/supervisor.h"
#include "core/clocks/window_loop.h"

namespace sluice::step {

class WorkerPool;

/// On how many clocks a network runs where its partitions are kept.
enum class Clocks : std::uint8_t { one, many };

class Driver {
  public:
    /// Call store.begin() first. The store must outlive the driver.
    Driver(WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks);
    /// Keeps partitions. All references must outlive the driver; `supervisor` may be null.
    Driver(WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks, Clocks clocks,
           FlowPartitions& partitions, Supervisor* supervisor);
    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    /// Foreign models send and hold packets: one clock for everything. Before the first window.
    void expect_packets_from_outside();
    /// A packet is about to be put on the link to `port` from outside at `at`, not before now(), which stands still
    /// meanwhile.
    void before_packet_from_outside(const Packet& packet, PortId port, Tick at);
    /// Takes up and reports flows that were closed from outside.
    void take_up_closed();
    void tune(const ClockTuning& tuning);
    /// Windows of a network on one clock are stepped by `pool`, not by step_cell, while it takes them and
    /// nothing is folded. It must outlive the driver.
    void divide_windows(WorkerPool& pool);
    /// On one clock, without a supervisor or with one that notes what copies need (Supervisor::copy_notes). Hops that are
    /// not executed are in no checksum. It must outlive the driver.
    void fold(Folding& folding);
    /// Between windows: the columns are as if nothing had been folded.
    void unfold();

    /// Everything before this instant has been executed.
    Tick now() const { return now_; }
    bool stopped() const { return hooks_.stopped(); }
    std::uint64_t windows() const;
    ClockStatistics statistics() const;

    /// The next instant at which there is something to do.
    Tick next() const { return std::min(next_instant(store_.world()), next_cut()); }
    /// The next instant at which something happens between windows.
    Tick next_cut() const;

    /// Executes everything before `limit`. `step_cell(cell, begin, end)` steps a cell;
    /// `after_window()` runs after each window of everything and each stretch of solo windows. Returns
    /// next(), or kNever once stopped.
    template <class StepCell, class AfterWindow>
    Tick advance(Tick limit, StepCell&& step_cell, AfterWindow&& after_window) {
        while (!stopped()) {
            const Tick begin = next_instant(store_.world());
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
                hooks_.report(now_, membership_->finished());
            }
        }
        hooks_.report(now_, membership_->finished());
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
        World& world = store_.world();
        if (domains_ == nullptr) {
            const Tick end = std::min(begin + world.lookahead, until);
            if (pool_ != nullptr && for_pool()) {
                run_divided(begin, until);
                return false;
            }
            run_window(world, begin, end, step_cell);
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

    WorldStore& store_;
    HookRunner hooks_;
    std::unique_ptr<Domains> domains_;  ///< null: one clock
    std::unique_ptr<Membership> membership_;
    Supervisor* supervisor_ = nullptr;
    WorkerPool* pool_ = nullptr;
    Folding* folding_ = nullptr;
    bool outside_ = false;  ///< what goes on may be where next_instant() does not see it
    Tick now_ = 0;
    Tick window_end_ = 0;        ///< before now_ where something skipped back
    std::uint64_t windows_ = 0;  ///< without domains
};

}  // namespace sluice::step
