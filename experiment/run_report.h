// SPDX-License-Identifier: Apache-2.0
/// What `sluice run` tells its user at the end.
#pragma once

#include <string>
#include <vector>

#include "experiment/build_experiment.h"
#include "experiment/modes/mode_run.h"
#include "core/results/run_writer.h"

namespace sluice {

/// The summary on standard output. What the mode does not have is left out.
void print_summary(const BuiltExperiment& built, Mode mode, const Summary& summary,
                   const RunOutcome& outcome, const std::string& directory);

/// What stopped a run that left work undone, in lines; empty if it did not.
std::vector<std::string> work_left(const BuiltExperiment& built,
                                   const std::vector<FlowResult>& results);

}  // namespace sluice
