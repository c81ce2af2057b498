// SPDX-License-Identifier: Apache-2.0
/// One [workload] table as flows. Keys, units and defaults: docs/scenario.md.
/// Errors: ConfigError with the place and what is allowed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "core/flow/flow.h"
#include "workloads/goal/trigger_application.h"
#include "core/job/job_application.h"
#include "core/job/stream_application.h"
#include "core/job/placement.h"

namespace sluice {

struct WorkloadPart {
    std::vector<FlowSpec> flows;
    /// Starts all of `flows`; null: each has its start time.
    std::unique_ptr<JobApplication> application;
    /// Starts those of `flows` that have no start time and no job; may be null.
    std::unique_ptr<TriggerApplication> starter;
    /// A job that opens its flows while it runs; may be null.
    std::unique_ptr<StreamApplication> stream;
    std::string name;                   ///< of a job
    Tick start = 0;                     ///< of a job
    std::string flow_class;             ///< of every flow, where no job says more
    std::string description;            ///< for people
    std::vector<std::string> notes;     ///< for people, beside the description
    std::vector<std::string> warnings;  ///< what is probably not meant
};

/// Where a job runs: the keys `ranks`, `placement`, `unit` and `hosts` of its table.
class JobSite {
  public:
    JobSite(ConfigSection& section, const Scenario& scenario, HostPool& pool);

    /// Hosts that the job may have: those it asks for, else all that are free.
    std::size_t available() const;
    /// The hosts of its ranks, in rank order. `ranks`: what the job needs, which must be what its
    /// table asks for if it does; 0: whatever that is, else all that are free.
    std::vector<NodeId> take(std::uint32_t ranks = 0) const;

  private:
    PlacementRequest request_;
    HostPool* pool_;
};

/// Reads one table of `scenario.workloads` and makes its flows; finishes the table. Jobs take their
/// hosts from `pool`.
WorkloadPart read_workload(ConfigSection& section, const Scenario& scenario, HostPool& pool);

/// The types, each in a file of its own: they read their keys, and say how to make the flows once
/// it is known that there are no others. Messages from there have no place in the file yet.
using MakeWorkload = std::function<WorkloadPart()>;
MakeWorkload read_training(ConfigSection& section, const Scenario& scenario, const JobSite& site);
MakeWorkload read_collective(ConfigSection& section, const Scenario& scenario, const JobSite& site,
                             const std::string& type);
MakeWorkload read_aicb_workload(ConfigSection& section, const Scenario& scenario,
                                const JobSite& site);
MakeWorkload read_traffic(ConfigSection& section, const Scenario& scenario,
                          const std::string& type);
MakeWorkload read_chakra_workload(ConfigSection& section, const Scenario& scenario,
                                  const JobSite& site);
MakeWorkload read_flows(ConfigSection& section, const Scenario& scenario);
MakeWorkload read_goal_workload(ConfigSection& section, const Scenario& scenario,
                                const JobSite& site);
MakeWorkload read_stream_workload(ConfigSection& section, const Scenario& scenario,
                                  const JobSite& site);
MakeWorkload read_htsim_workload(ConfigSection& section, const Scenario& scenario);

}  // namespace sluice
