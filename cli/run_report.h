// SPDX-License-Identifier: Apache-2.0
/// A run as `sluice run` shows it: progress, a summary, and what was left undone.
#pragma once

#include "experiment/build_experiment.h"
#include "experiment/run_to_folder.h"

namespace sluice {

/// Runs until the end or an interrupt; returns an exit code. Sets `request.go_on`. Quiet: what was left
/// undone is told all the same. `tells_chance`: where flows have met in queues, that times are one draw of a distribution.
int run_and_tell(const BuiltExperiment& built, RunRequest request, bool quiet, bool tells_chance);

}  // namespace sluice
