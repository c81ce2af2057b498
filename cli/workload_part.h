// SPDX-License-Identifier: Apache-2.0
/// One [workload] table as flows. Keys, units and defaults: docs/scenario.md.
/// Errors: ConfigError with the place and what is allowed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config/scenario.h"
#include "core/flow/flow.h"
#include "workloads/job/job_application.h"

namespace sluice {

struct WorkloadPart {
    std::vector<FlowSpec> flows;
    /// Starts all of `flows`; null: each has its start time.
    std::unique_ptr<JobApplication> application;
    std::string flow_class;   ///< of every flow, where no job says more
    std::string description;  ///< for people
};

/// Reads one table of `scenario.workloads` and makes its flows; finishes the table.
WorkloadPart read_workload(ConfigSection& section, const Scenario& scenario);

/// The types, each in a file of its own: they read their keys, and say how to make the flows once
/// it is known that there are no others. Messages from there have no place in the file yet.
using MakeWorkload = std::function<WorkloadPart()>;
MakeWorkload read_training(ConfigSection& section, const Scenario& scenario);
MakeWorkload read_collective(ConfigSection& section, const Scenario& scenario,
                             const std::string& type);
MakeWorkload read_traffic(ConfigSection& section, const Scenario& scenario,
                          const std::string& type);
MakeWorkload read_flows(ConfigSection& section, const Scenario& scenario);

}  // namespace sluice
