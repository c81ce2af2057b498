// SPDX-License-Identifier: Apache-2.0
/// Runs what has been built, whatever it was built from, and leaves its outputs in a folder, or only sums up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/results/mode.h"
#include "core/results/run_writer.h"
#include "experiment/build_experiment.h"
#include "experiment/run.h"
#include "scenario/watched_ports.h"

namespace sluice {

struct RunRequest {
    Mode mode = Mode::packet;
    std::string name;
    std::optional<std::uint64_t> seed;  ///< as the user gave it; none: the network's
    std::string config_json = "{}";     ///< the effective configuration
    std::string directory;              ///< where results go
    bool only_summary = false;          ///< nothing is written
    Caller caller = Caller::systemc;
    RunMaker maker;                                      ///< empty: make_run()
    std::vector<std::string> outputs = usual_outputs();  ///< the optional ones, by key
    Tick series_step = 10 * kMicrosecond;                ///< between two samples of series.csv
    WatchedPorts watched;                                ///< those of the experiment's taps
    std::vector<std::string> keys_without_effect;
    GoOn go_on;  ///< may be empty
    /// Called when the run is over, before the results get their names; may be empty.
    std::function<void(RunWriter&)> add_results;
};

/// What came of a run whose outputs are in place.
struct RunReport {
    Summary summary;
    RunOutcome outcome;
    bool cut_off = false;  ///< the experiment's stop time came first: work is left by intent
    std::vector<std::string> work_left;  ///< why it came to rest with work undone, in lines

    int exit_code() const;
};

RunReport run_to_folder(const BuiltExperiment& built, const RunRequest& request);

/// What stopped a run that left work undone, in lines; empty if it did not.
std::vector<std::string> work_left(const BuiltExperiment& built,
                                   const std::vector<FlowResult>& results);

}  // namespace sluice
