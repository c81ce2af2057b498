// SPDX-License-Identifier: Apache-2.0
/// A scenario as something to run: its [workload] table becomes flows and what starts them.
/// Keys, units and defaults: docs/scenario.md.
/// Errors: ConfigError with the place and what is allowed; everything that can be checked without
/// running is checked here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/job/job_application.h"
#include "experiment/estimate.h"
#include "experiment/experiment.h"
#include "scenario/scenario.h"
#include "scenario/workload/workload_part.h"

namespace sluice {

/// All is well but that there is nothing to run: random traffic may draw no flow.
class NoFlowsError : public ConfigError {
  public:
    using ConfigError::ConfigError;
};

/// A job among an experiment's workloads.
struct BuiltJob {
    std::string name;  ///< unlike any other job's
    const JobApplication* application = nullptr;
    Tick start = 0;
};

struct BuiltExperiment {
    Experiment experiment;
    /// Every flow belongs to a class of traffic ("dp", "pp", "poisson", ...; with several jobs
    /// "NAME.dp"): an index into names.
    std::vector<std::string> class_names;
    std::vector<std::uint16_t> flow_class;
    /// What experiment.application runs, in order of their flows; empty where all flows have start
    /// times.
    std::vector<BuiltJob> jobs;
    /// The job whose flows are opened while it runs, if that is what experiment.application is: its
    /// name, and the class of its flows.
    const StreamApplication* stream = nullptr;
    std::string stream_name;
    std::string stream_class;
    std::string workload;                   ///< for people, one line
    std::vector<std::string> notes;         ///< for people: what the workloads say of themselves
    std::vector<std::string> warnings;      ///< of workloads and timeouts
    std::vector<std::string> import_notes;  ///< what of imported files has no effect, in lines
    TrafficEstimate estimate;

    std::string_view class_of(FlowId flow) const {
        if (flow >= flow_class.size()) return stream_class;
        return class_names[flow_class[flow]];
    }
};

/// Whether somebody posts operations at host ports, beside the workloads and at times that these do not know.
enum class HostPorts : std::uint8_t { none, attached };

/// Takes the scenario's topology and network over. `config_json` must be asked of the scenario
/// afterwards: the workload's keys are recorded while they are read. `ports` count in what the scenario leaves to the program
/// (phases.wake). `known`: as estimate_traffic() takes it.
BuiltExperiment build_experiment(Scenario& scenario, HostPorts ports = HostPorts::none,
                                 KnownRouting* known = nullptr);

/// What a scenario says of all but its workloads; its topology is taken over.
Experiment take_network(Scenario& scenario);

/// The same of a network and workloads that come from elsewhere: `experiment` has all but flows and
/// application. Messages begin with `where`.
BuiltExperiment build_experiment(Experiment experiment, std::vector<WorkloadPart> parts,
                                 const std::string& where, KnownRouting* known = nullptr);

}  // namespace sluice
