// SPDX-License-Identifier: Apache-2.0
/// What happened to the network in a run: links that failed, packets that were lost, where and why, and what was
/// sent again. And who is where: what each host has of which job.
#pragma once

#include <string>
#include <vector>

#include "core/results/run_records.h"
#include "experiment/build_experiment.h"

namespace sluice {

/// By node, what it does in which job: "training rank 3"; empty: nothing. Empty where there are no jobs.
std::vector<std::string> host_roles(const BuiltExperiment& built);

/// Fills `marks` and `incidents` from the experiment's link events until `simulated` and its ports' drops.
void tell_incidents(const Experiment& experiment, RunOutcome& outcome);

/// Fills `resent`, adds a line to `incidents`, and a warning if it is 1% or more of `payload`, the bytes of
/// all flows that have started.
void tell_resent(const Experiment& experiment, std::int64_t payload, RunOutcome& outcome);

/// Nodes in their order, runs of consecutive ones joined: "0-7 16-23 9".
std::string node_list(const std::vector<NodeId>& nodes);

}  // namespace sluice
