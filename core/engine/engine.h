// SPDX-License-Identifier: Apache-2.0
/// Executes a network's packets: windows (core/engine/driver.h) or ns-3's instants (core/ns3/driver.h),
/// on one clock or many, folded or not, on one thread or several. Who calls it, a SystemC process or a plain
/// loop, differs in how a cell is stepped and in what time it waits for.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/clocks/worker_pool.h"
#include "core/engine/driver.h"
#include "core/fold/folds.h"
#include "core/ns3/driver.h"

namespace sluice::engine {

/// How far an engine runs in one call where nothing outside can reach the network: far enough that calls
/// cost nothing, near enough that others see time move.
constexpr Tick kRunAhead = kMillisecond;

/// What stands around the nodes, known when the simulation starts.
struct Surroundings {
    bool foreign = false;  ///< models of others send and hold packets
    bool as_is = true;     ///< every node is stepped as step::CellStep does
};

class Engine {
  public:
    /// `store` must outlive it.
    explicit Engine(step::WorldStore& store) : store_(store) {}

    // Before begin().

    /// Nothing is executed at or after `stop`.
    void configure(std::vector<LinkEvent> events, RunHooks hooks, Tick stop);
    /// Keeps partitions and, where `clocks` says so, runs every part of the network on a clock of its own
    /// (core/clocks/domains.h), with the same results; in lock-step on one clock where a foreign model is attached. On one
    /// clock lets `controller` (may be null) look between windows. Both must outlive the engine.
    void keep_partitions(Clocks clocks, step::FlowPartitions& partitions,
                         hybrid::PhaseController* controller);
    /// Executes parts of the network that are copies of each other once (core/fold/folds.h), with the same
    /// results, where that can be: on one clock, with a phase controller that can follow (copy_notes()),
    /// under exact arithmetic, without foreign models, and if nobody wants a checksum of what was executed.
    /// Every node must be stepped as it is. Between windows only unfold() shows columns as they would be.
    void fold() { fold_ = true; }
    /// Steps windows on several threads (core/clocks/worker_pool.h), with the same results, where that can be: on
    /// one clock, under exact arithmetic, where every node is stepped as it is, and for an application that
    /// is not for one thread.
    void divide_windows(step::Threads threads) { threads_ = threads; }

    /// Takes up what was configured. Calls store.begin().
    void begin(const Surroundings& surroundings);

    // From then on.

    /// Executes everything up to `now` + kRunAhead, and ends the run where nothing is left or the stop comes.
    /// Returns the next instant at which there is something to do.
    template <class StepCell>
    Tick run_ahead(Tick now, StepCell&& step_cell) {
        return run_to(now + kRunAhead + 1, step_cell);
    }
    /// The same, everything before `limit`.
    template <class StepCell>
    Tick run_to(Tick limit, StepCell&& step_cell) {
        limit = std::min(limit, stop_);
        return ended(ns3_ != nullptr ? ns3_->advance(limit) : driver_->advance(limit, step_cell));
    }
    /// The same in steps of the lookahead; `after_window()` runs after each.
    template <class StepCell, class AfterWindow>
    Tick run_in_lockstep(Tick limit, StepCell&& step_cell, AfterWindow&& after_window) {
        if (ns3_ != nullptr) {
            return run_to(limit, step_cell);
        }
        limit = std::min(limit, stop_);
        Tick next = driver_->next();
        while (next < limit && !driver_->stopped()) {
            const Tick end = std::min(next + store_.world().lookahead, limit);
            next = driver_->advance(end, step_cell, after_window);
        }
        return ended(next);
    }

    bool begun() const { return driver_ != nullptr || ns3_ != nullptr; }
    /// Null under Arithmetic::ns3, and before begin().
    Driver* driver() const { return driver_.get(); }
    /// Everything before this instant has been executed.
    Tick now() const {
        return ns3_ != nullptr ? ns3_->now() : driver_ != nullptr ? driver_->now() : 0;
    }
    Tick next() const { return ns3_ != nullptr ? ns3_->next() : driver_->next(); }
    Tick stop() const { return stop_; }
    /// Nothing left to do, the stop time reached, or a hook asked to stop.
    bool finished() const { return finished_; }
    /// Something was left to do at or after the stop time.
    bool cut_off() const { return cut_off_; }
    /// Nothing was left to do.
    bool at_rest() const { return at_rest_; }
    /// The simulated time that the run reached: its stop, where it was stopped early, or, at rest, the arrival
    /// of the last packet: nobody waits for timers that no longer mean anything.
    Tick reached() const;
    /// There is something to do again, before the stop.
    void go_on() { finished_ = false; }

    void unfold();
    FoldCounters fold_counters() const;
    /// Threads that have stepped windows.
    std::uint32_t threads_used() const;
    /// Windows executed; under Arithmetic::ns3, instants.
    std::uint64_t windows() const;
    /// The store's, and what the engine itself counts.
    RunCounters counters() const;

  private:
    bool divisible(const Surroundings& surroundings) const;
    Tick ended(Tick next);

    step::WorldStore& store_;
    std::vector<LinkEvent> events_;
    RunHooks hooks_;
    Tick stop_ = kNever;
    step::Threads threads_;
    bool fold_ = false;
    Clocks clocks_ = Clocks::one;
    step::FlowPartitions* partitions_ = nullptr;
    hybrid::PhaseController* controller_ = nullptr;
    std::unique_ptr<step::WorkerPool> pool_;  ///< null: one thread
    std::unique_ptr<Driver> driver_;          ///< one of the two, from begin() on
    std::unique_ptr<ns3::Driver> ns3_;
    std::unique_ptr<step::Folds> folds_;  ///< null: nothing is folded
    bool finished_ = false;
    bool cut_off_ = false;
    bool at_rest_ = false;
};

}  // namespace sluice::engine
