// SPDX-License-Identifier: Apache-2.0
#include "experiment/build_experiment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "core/job/job_checks.h"
#include "core/job/job_set.h"
#include "core/routing/routing.h"
#include "core/routing/valiant.h"
#include "core/text/quantity.h"
#include "core/world/network_check.h"
#include "experiment/configuration_of.h"
#include "experiment/modes/mode_run.h"
#include "experiment/wake_choice.h"
#include "scenario/workload/workload_part.h"

namespace sluice {

namespace {

std::uint16_t class_index(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::uint16_t>(found - names.begin());
    if (names.size() > std::numeric_limits<std::uint16_t>::max()) {
        throw ConfigError("the workloads have more than 65536 classes of traffic: run fewer jobs");
    }
    names.push_back(name);
    return static_cast<std::uint16_t>(names.size() - 1);
}

void add_classes(BuiltExperiment& built, const WorkloadPart& part, const std::string& prefix) {
    if (part.application == nullptr) {
        const std::uint16_t index = class_index(built.class_names, part.flow_class);
        built.flow_class.insert(built.flow_class.end(), part.flows.size(), index);
        return;
    }
    const JobGraph& graph = part.application->graph();
    std::array<int, 256> known;
    known.fill(-1);
    for (const JobGraph::Message& message : graph.messages()) {
        const OpClass cls = graph.label(message.send).cls;
        int& index = known[static_cast<std::uint8_t>(cls)];
        if (index < 0) {
            std::string name = prefix + to_string(cls);
            for (std::size_t i = prefix.size(); i < name.size(); ++i) {
                name[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
            }
            index = class_index(built.class_names, name);
        }
        built.flow_class.push_back(static_cast<std::uint16_t>(index));
    }
}

/// The workloads, jobs first: flow ids of a job do not depend on what runs beside it.
std::vector<WorkloadPart> read_parts(Scenario& scenario) {
    std::vector<WorkloadPart> parts;
    HostPool pool(scenario.topology);
    for (ConfigSection& section : scenario.workloads) {
        parts.push_back(read_workload(section, scenario, pool));
    }
    std::stable_partition(parts.begin(), parts.end(),
                          [](const WorkloadPart& part) { return part.application != nullptr; });
    return parts;
}

/// Names of jobs that differ: the second "training" is "training-2".
std::string unlike(const std::vector<BuiltJob>& jobs, const std::string& wanted) {
    std::string name = wanted;
    const auto taken = [&](const BuiltJob& job) { return job.name == name; };
    for (int n = 2; std::any_of(jobs.begin(), jobs.end(), taken); ++n) {
        name = wanted + "-" + std::to_string(n);
    }
    return name;
}

/// What runs the jobs: the one job itself, if it starts at once, or several side by side.
std::unique_ptr<Application> run_jobs(std::vector<std::unique_ptr<JobApplication>> applications,
                                      const std::vector<BuiltJob>& jobs) {
    if (jobs.empty()) return nullptr;
    if (jobs.size() == 1 && jobs.front().start == 0) return std::move(applications.front());
    auto set = std::make_unique<JobSet>();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        set->add(std::move(applications[i]), jobs[i].start);
    }
    return set;
}

/// Gives the experiment what starts a part's flows, if they need that.
void add_starter(Experiment& experiment, std::unique_ptr<Application> starter) {
    if (starter == nullptr) return;
    Configuration configuration = configuration_of(experiment, Mode::packet);
    configuration.triggered = true;
    configuration.beside_others = experiment.application != nullptr;
    refuse(configuration, "");
    experiment.application = std::move(starter);
}

/// Makes a streamed job what the experiment runs.
void add_stream(BuiltExperiment& built, WorkloadPart& part) {
    if (part.stream == nullptr) return;
    Configuration configuration = configuration_of(built.experiment, Mode::packet);
    configuration.streamed = true;
    configuration.beside_others =
        built.experiment.application != nullptr || !built.experiment.flows.empty();
    refuse(configuration, "");
    built.stream = part.stream.get();
    built.stream_name = part.name;
    built.stream_class = part.flow_class;
    built.experiment.application = std::move(part.stream);
}

/// Appends all workloads' flows and makes what starts those of the jobs.
void add_workloads(BuiltExperiment& built, std::vector<WorkloadPart> parts) {
    Experiment& experiment = built.experiment;
    const auto is_job = [](const WorkloadPart& part) { return part.application != nullptr; };
    const bool several = std::count_if(parts.begin(), parts.end(), is_job) > 1;
    std::vector<std::unique_ptr<JobApplication>> applications;
    std::vector<std::unique_ptr<Application>> starters;
    for (WorkloadPart& part : parts) {
        const std::string name = unlike(built.jobs, part.name);
        add_classes(built, part, several ? name + "." : "");
        if (is_job(part)) {
            part.application->set_first_flow(static_cast<FlowId>(experiment.flows.size()));
            built.jobs.push_back({name, part.application.get(), part.start});
            applications.push_back(std::move(part.application));
        }
        if (part.make_starter) {
            starters.push_back(part.make_starter(static_cast<FlowId>(experiment.flows.size())));
        }
        const ConnectionId connections = connection_count(experiment.flows);
        for (FlowSpec& flow : part.flows) {
            if (flow.connection != kNone) flow.connection += connections;
        }
        if (experiment.flows.empty()) {
            experiment.flows = std::move(part.flows);  // often millions
        } else {
            experiment.flows.insert(experiment.flows.end(), part.flows.begin(), part.flows.end());
        }
        built.notes.insert(built.notes.end(), part.notes.begin(), part.notes.end());
        built.warnings.insert(built.warnings.end(), part.warnings.begin(), part.warnings.end());
        built.import_notes.insert(built.import_notes.end(), part.import_notes.begin(),
                                  part.import_notes.end());
        built.workload += (built.workload.empty() ? "" : "; ") + part.description;
    }
    experiment.application = run_jobs(std::move(applications), built.jobs);
    for (auto& starter : starters) add_starter(experiment, std::move(starter));
    for (WorkloadPart& part : parts) add_stream(built, part);
}

/// What the engine would say of the flows' paths, and where the law is named.
void check_paths(const BuiltExperiment& built, const Scenario& scenario) {
    const auto switches = static_cast<int>(built.estimate.longest_path) - 1;
    const std::string fault = step::int_hops_fault(built.experiment.network, switches);
    if (fault.empty()) return;
    EffectiveConfig unused;
    ConfigSection(*scenario.values, unused)
        .table("congestion")
        .fail("law", "does not fit: " + fault);
}

/// The ways of Valiant's routing, each flow's own, which tables cannot have.
void give_detours(BuiltExperiment& built, const std::string& where) {
    Experiment& experiment = built.experiment;
    Configuration configuration = configuration_of(experiment, Mode::packet);
    configuration.streamed = built.stream != nullptr;
    refuse(configuration, "topology.routing", where);
    const Routing routing(experiment.topology, next_hop_order(experiment.network.arithmetic));
    experiment.paths =
        valiant_paths(experiment.topology, routing, experiment.flows, experiment.network.seed);
}

/// Tells of a timeout that ends before any ACK can be back.
void check_timeout(BuiltExperiment& built) {
    const Tick timeout = built.experiment.network.nic.retransmit_timeout;
    const Tick round_trip = built.estimate.longest_round_trip;
    if (timeout == 0 || timeout > round_trip) return;
    built.warnings.push_back(
        fmt::format("network.nic.retransmit_timeout, {}, is no longer than a flow's round trip, "
                    "{}: packets are retransmitted before they can be acknowledged",
                    format_time(timeout), format_time(round_trip)));
}

/// Tells of what links do to packets, in a mode without any. A file's topology has losses that no key names.
void check_losses(BuiltExperiment& built) {
    const std::vector<Link>& links = built.experiment.topology.links();
    const auto losing =
        std::count_if(links.begin(), links.end(), [](const Link& link) { return link.loss > 0; });
    if (losing == 0) return;
    built.warnings.push_back(
        fmt::format("{} of {} links lose packets (loss > 0), which mode flow does not model: "
                    "nothing is lost or retransmitted",
                    losing, links.size()));
}

/// Decides what the scenario left open, as the effective configuration then says.
void decide_wake(BuiltExperiment& built, const Scenario& scenario, HostPorts ports) {
    Wake& wake = built.experiment.phases.wake;
    if (wake != Wake::automatic || !has_phases(scenario.mode)) return;
    const WakeChoice choice = choose_wake(built, ports);
    wake = choice.wake;
    const char* const name = wake == Wake::data ? "data" : "partition";
    ConfigSection(*scenario.values, *scenario.effective).table("phases").note("wake", name);
    if (wake == Wake::data) {
        built.notes.push_back(std::string("phases.wake: data, because ") + choice.reason);
    }
}

}  // namespace

BuiltExperiment build_experiment(Experiment experiment, std::vector<WorkloadPart> parts,
                                 const std::string& where, KnownRouting* known) {
    BuiltExperiment built;
    built.experiment = std::move(experiment);
    Experiment& made = built.experiment;
    add_workloads(built, std::move(parts));
    if (made.flows.empty() && built.jobs.empty() && built.stream == nullptr) {
        throw NoFlowsError(where + ": the workload has no flows; nothing would run");
    }
    if (made.flows.size() >= kNone) throw ConfigError(where + ": has 2^32 flows or more");
    assign_source_ports(made.flows);
    if (made.topology.group_routing == GroupRouting::valiant) give_detours(built, where);
    for (const BuiltJob& job : built.jobs) {
        check_signals(job.application->graph(), 1);
    }
    built.estimate = estimate_traffic(made, known);
    return built;
}

Experiment take_network(Scenario& scenario) {
    Experiment experiment;
    experiment.name = scenario.name;
    experiment.topology = std::move(scenario.topology);
    experiment.network = scenario.network;
    experiment.phases = scenario.phases;
    experiment.link_events = scenario.link_events;
    experiment.stop = scenario.stop;
    experiment.fold = scenario.fold;
    const std::vector<std::string>& outputs = scenario.output.optional;
    if (std::find(outputs.begin(), outputs.end(), "rtt") != outputs.end()) {
        experiment.on_ack = std::make_shared<std::function<void(FlowId, std::uint32_t, Tick)>>();
    }
    if (scenario.output.watched.any()) {
        experiment.taps = std::make_shared<std::vector<Tap*>>();
    }
    if (!why_not(Effect::not_memoized, configuration_of(experiment, scenario.mode)).empty()) {
        experiment.phases.memo = false;
    }
    return experiment;
}

BuiltExperiment build_experiment(Scenario& scenario, HostPorts ports, KnownRouting* known) {
    std::vector<WorkloadPart> parts = read_parts(scenario);
    BuiltExperiment built =
        build_experiment(take_network(scenario), std::move(parts), scenario.path, known);
    if (moves_packets(scenario.mode)) {
        check_paths(built, scenario);
        check_timeout(built);
    } else {
        check_losses(built);
    }
    decide_wake(built, scenario, ports);
    try {
        check_run(built.experiment, scenario.mode);
    } catch (const ConfigError& error) {
        throw ConfigError(scenario.path, 0, error.what());
    }
    return built;
}

}  // namespace sluice
