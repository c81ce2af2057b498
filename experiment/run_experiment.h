// SPDX-License-Identifier: Apache-2.0
/// Runs what has been built, whatever it was built from: progress, results, summary, exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/build_experiment.h"
#include "core/results/mode.h"
#include "core/results/run_writer.h"

namespace sluice {

struct RunRequest {
    Mode mode = Mode::packet;
    std::string name;
    std::string config_json = "{}";  ///< the effective configuration
    std::string directory;           ///< where results go
    RunFiles files;
    bool quiet = false;
    std::vector<std::string> keys_without_effect;
    /// Called when the run is over, before the results get their names; may be null.
    std::function<void(RunWriter&)> add_results;
};

/// An exit code (experiment/exit_codes.h).
int run_experiment(const BuiltExperiment& built, const RunRequest& request);

}  // namespace sluice
