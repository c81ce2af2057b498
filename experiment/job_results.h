// SPDX-License-Identifier: Apache-2.0
/// A job's own results: collectives.csv and the ranks' rows of the timeline.
#pragma once

#include <vector>

#include "core/results/run_writer.h"
#include "experiment/build_experiment.h"

namespace sluice {

/// Writes what has finished: every collective that is complete on all its ranks and, where an output
/// shows them, a span per rank for each computation and each rank's part of a collective.
void write_job_results(const BuiltJob& job, RunWriter& writer);

/// What each job came to.
std::vector<JobRecord> job_records(const BuiltExperiment& built);

}  // namespace sluice
