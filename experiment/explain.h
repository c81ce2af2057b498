// SPDX-License-Identifier: Apache-2.0
/// Why a run took as long as it did, and what of its configuration mattered.
#pragma once

#include <string>
#include <vector>

#include "core/results/run_writer.h"
#include "experiment/build_experiment.h"

namespace sluice {

/// Fills critical_path and rank_time of `record`, which is of `job`.
void explain_job(const BuiltExperiment& built, const BuiltJob& job, JobRecord& record);

/// What each class of links carried until `simulated`.
std::vector<LinkClassRecord> explain_links(const Topology& topology,
                                           const std::vector<PortStatistics>& ports,
                                           Tick simulated);

/// What a user should know before trusting the result.
std::vector<std::string> explain_warnings(const std::vector<LinkClassRecord>& links,
                                          const std::vector<JobRecord>& jobs);

/// The figures above in lines for people.
std::vector<std::string> explanation(const RunOutcome& outcome);

}  // namespace sluice
