// SPDX-License-Identifier: Apache-2.0
#include "cli/build_experiment.h"

#include <algorithm>
#include <utility>

#include "cli/workload_part.h"
#include "core/error.h"
#include "core/step/lookahead.h"

namespace sluice {

namespace {

std::uint8_t class_index(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::uint8_t>(found - names.begin());
    names.push_back(name);
    return static_cast<std::uint8_t>(names.size() - 1);
}

void add_classes(BuiltExperiment& built, const WorkloadPart& part) {
    if (part.application == nullptr) {
        const std::uint8_t index = class_index(built.class_names, part.flow_class);
        built.flow_class.insert(built.flow_class.end(), part.flows.size(), index);
        return;
    }
    const JobGraph& graph = part.application->graph();
    for (const JobGraph::Message& message : graph.messages()) {
        std::string name = to_string(graph.label(message.send).cls);
        for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        built.flow_class.push_back(class_index(built.class_names, name));
    }
}

/// Jobs count their flows from 0, so the one job there may be comes first.
std::vector<WorkloadPart> read_parts(Scenario& scenario) {
    std::vector<WorkloadPart> parts;
    for (ConfigSection& section : scenario.workloads) {
        WorkloadPart part = read_workload(section, scenario);
        if (part.application == nullptr) {
            parts.push_back(std::move(part));
            continue;
        }
        if (!parts.empty() && parts.front().application != nullptr) {
            section.fail("type", "is a second job; an experiment runs one, beside other traffic");
        }
        parts.insert(parts.begin(), std::move(part));
    }
    return parts;
}

}  // namespace

BuiltExperiment build_experiment(Scenario& scenario) {
    BuiltExperiment built;
    Experiment& experiment = built.experiment;
    for (WorkloadPart& part : read_parts(scenario)) {
        add_classes(built, part);
        experiment.flows.insert(experiment.flows.end(), part.flows.begin(), part.flows.end());
        built.workload += (built.workload.empty() ? "" : "; ") + part.description;
        if (part.application != nullptr) {
            built.job = part.application.get();
            experiment.application = std::move(part.application);
        }
    }
    if (experiment.flows.empty() && built.job == nullptr) {
        throw ConfigError(scenario.path + ": the workload has no flows; nothing would run");
    }
    if (experiment.flows.size() >= kNone) {
        throw ConfigError(scenario.path + ": has 2^32 flows or more");
    }
    assign_source_ports(experiment.flows);
    if (built.job != nullptr) {
        built.job->graph().check_signals(
            step::network_lookahead(scenario.topology, scenario.network));
    }
    experiment.name = scenario.name;
    experiment.topology = std::move(scenario.topology);
    experiment.network = scenario.network;
    experiment.phases = scenario.phases;
    experiment.link_events = scenario.link_events;
    experiment.stop = scenario.stop;
    built.estimate = estimate_traffic(experiment);
    return built;
}

}  // namespace sluice
