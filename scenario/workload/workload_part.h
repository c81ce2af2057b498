// SPDX-License-Identifier: Apache-2.0
/// One [workload] table as flows. Keys, units and defaults: docs/scenario.md.
/// Errors: ConfigError with the place and what is allowed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/flow/application.h"
#include "core/job/placement.h"
#include "core/job/stream_application.h"
#include "core/job/workload.h"
#include "scenario/scenario.h"

namespace sluice {

/// What a table came to: flows, who starts them, and what is said of them.
struct WorkloadPart : Workload {
    WorkloadPart() = default;
    /// A job.
    explicit WorkloadPart(Workload job) : Workload(std::move(job)) {}

    /// Makes what starts those flows that have no start time and no job, once the id of the first of
    /// them is known; may be empty.
    std::function<std::unique_ptr<Application>(FlowId first)> make_starter;
    /// A job that opens its flows while it runs; may be null.
    std::unique_ptr<StreamApplication> stream;
    std::string name;                   ///< of a job
    Tick start = 0;                     ///< of a job
    std::string flow_class;             ///< of every flow, where no job says more
    std::string description;            ///< for people
    std::vector<std::string> notes;     ///< for people, beside the description
    std::vector<std::string> warnings;  ///< what is probably not meant
    /// What of an imported file has no effect, in lines.
    std::vector<std::string> import_notes;
};

/// Where a job runs: the keys `ranks`, `placement`, `unit` and `hosts` of its table.
class JobSite {
  public:
    JobSite(ConfigSection& section, const Scenario& scenario, HostPool& pool);

    /// Hosts that the job may have: those it asks for, else all that are free.
    std::size_t available() const;
    /// The hosts of its ranks, in rank order. `ranks`: what the job needs, which must be what its
    /// table asks for if it does; 0: whatever that is, else all that are free. `unit`: of hosts that the job wants
    /// together, where its table says nothing of it; 0: as PlacementRequest has it.
    std::vector<NodeId> take(std::uint32_t ranks = 0, std::uint32_t unit = 0) const;

  private:
    PlacementRequest request_;
    HostPool* pool_;
};

/// Reads one table of `scenario.workloads` and makes its flows; finishes the table. Jobs take their
/// hosts from `pool`.
WorkloadPart read_workload(ConfigSection& section, const Scenario& scenario, HostPool& pool);

/// Makes the flows once it is known that the table has no other keys. Messages from there have no place
/// in the file yet.
using MakeWorkload = std::function<WorkloadPart()>;

/// A table that is being read. `scenario` and `pool` outlive what its reader returns.
struct WorkloadTable {
    ConfigSection& section;
    const Scenario& scenario;
    const JobSite* site;  ///< of a job, else null
    const std::string& type;
};

enum class WorkloadKind : std::uint8_t {
    flows,  ///< with start times, or triggers
    job,
    /// A job whose trace says itself how its messages leave.
    traced_job,
};

/// A type of workload: a reader in a file of its own, and a line in workload_types.cpp.
struct WorkloadType {
    const char* name;
    WorkloadKind kind;
    MakeWorkload (*read)(const WorkloadTable& table);
};

/// All types, in the order in which messages list them.
const std::vector<const WorkloadType*>& workload_types();

}  // namespace sluice
