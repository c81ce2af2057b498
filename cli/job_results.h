// SPDX-License-Identifier: Apache-2.0
/// A job's own results: collectives.csv and the ranks' rows of the timeline.
#pragma once

#include "core/results/run_writer.h"
#include "workloads/job/job_application.h"

namespace sluice {

/// Writes what has finished: every collective that is complete on all its ranks, and a span per
/// rank for each computation and each rank's part of a collective.
void write_job_results(const JobApplication& job, RunWriter& writer);

}  // namespace sluice
