// SPDX-License-Identifier: Apache-2.0
/// The loop of every run: builds the engine of a mode, runs it, tells those who watch, and measures.
/// Commands, sweeps, studies and trainers differ in what watches and in what they do with the end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/results/mode.h"
#include "core/results/run_hooks.h"
#include "core/results/run_records.h"
#include "experiment/experiment.h"
#include "experiment/modes/mode_run.h"

namespace sluice {

/// Where a run stands, between windows.
struct RunPosition {
    Tick now = 0;
    std::size_t flows_finished = 0;
    const ModeRun& run;
};

/// Asked between windows whether to go on; an answer of false interrupts the run.
using GoOn = std::function<bool(const RunPosition&)>;

/// Builds a run, of whatever mode: another engine than make_run() has.
using RunMaker = std::function<std::unique_ptr<ModeRun>(const Experiment&)>;

struct RunPlan {
    Mode mode = Mode::packet;
    Caller caller = Caller::systemc;
    RunMaker maker;  ///< empty: make_run()
    /// Of all that watch, called in this order. At most one of them samples queues.
    std::vector<RunHooks> watchers;
    GoOn go_on;  ///< may be empty
    /// Shown the engine before it runs; may be empty.
    std::function<void(const ModeRun&)> on_built;
    /// Ends a run whose flows are cut off for good (experiment/stall_guard.h).
    bool give_up_stalled = true;
};

struct FinishedRun {
    std::unique_ptr<ModeRun> run;
    /// What the engine and the system counted, where the engine stands (`simulated`), and whether
    /// the run was interrupted.
    RunOutcome outcome;
};

/// Runs once. The experiment must outlive what is returned. What a watcher throws ends the run and is
/// thrown from here. ConfigError if the experiment cannot run in the mode.
FinishedRun run_experiment(const Experiment& experiment, const RunPlan& plan);

}  // namespace sluice
