// SPDX-License-Identifier: Apache-2.0
/// One run of an Experiment in some mode: built, run once, then asked what came of it.
/// Called by SystemC, a process has one run at a time, for its context is global; called by a plain loop, as
/// many as there are threads. No SystemC header here.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/results/mode.h"
#include "core/results/run_hooks.h"
#include "core/results/statistics.h"
#include "experiment/experiment.h"

namespace sluice {

/// Who calls the engine of a mode that moves packets. Results are the same.
enum class Caller : std::uint8_t { systemc, loop };

class ModeRun {
  public:
    virtual ~ModeRun() = default;

    /// Runs until every flow has finished and the application is at rest, until experiment.stop,
    /// or until a hook says so. What a hook throws ends the run and is thrown from here.
    virtual void run(const RunHooks& hooks) = 0;

    /// The experiment's stop time ended the run with something left to do.
    virtual bool cut_off() const = 0;
    virtual Tick now() const = 0;                                ///< simulated time reached
    virtual const std::vector<FlowResult>& results() const = 0;  ///< by flow id
    /// Flows, of the list or opened, that have started and are not complete. While it runs, too.
    virtual std::vector<FlowSpec> under_way() const = 0;
    /// While it runs: changes as long as any flow that is under way progresses.
    virtual std::int64_t progress() const = 0;
    /// Egress ports of which each waits for the next one, and the last for the first, as their peers have paused them
    /// for what those hold: a PFC deadlock. Empty: there is none.
    virtual std::vector<PortId> paused_cycle() const { return {}; }
    /// While it runs, too.
    virtual RunCounters counters() const = 0;
    virtual std::vector<PortStatistics> port_statistics() const = 0;  ///< by port id
    virtual double elaboration_seconds() const = 0;
    virtual std::size_t memory_bytes() const = 0;  ///< of the engine's state
};

/// ConfigError "WHAT: ..." if this build does not offer `mode`.
void require_offered(Mode mode, const std::string& what);
/// The modes that this build offers.
std::vector<Mode> offered_modes();

/// ConfigError if the experiment cannot run in `mode`, as far as that can be told without building the run.
void check_run(const Experiment& experiment, Mode mode);

/// Builds the run. The experiment must outlive it. ConfigError if the experiment cannot run so, or
/// if this build does not offer `mode`.
std::unique_ptr<ModeRun> make_run(const Experiment& experiment, Mode mode,
                                  Caller caller = Caller::systemc);

}  // namespace sluice
