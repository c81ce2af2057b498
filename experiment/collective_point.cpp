// SPDX-License-Identifier: Apache-2.0
#include "experiment/collective_point.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/text/config_value.h"
#include "experiment/build_experiment.h"
#include "experiment/exit_codes.h"
#include "experiment/run_to_folder.h"
#include "workloads/collective/collective_library.h"

namespace sluice {

namespace {

constexpr const char* kSaid = "collective";

/// Whether the scenario's one workload is a collective, whose keys then are the defaults.
bool has_collective(const ConfigValue& root) {
    const ConfigMember* workload = root.find("workload");
    const ConfigMember* type = workload != nullptr ? workload->value.find("type") : nullptr;
    return type != nullptr && type->value.text == "collective";
}

Scenario load_point(const CollectivePoint& point, std::int64_t bytes) {
    ConfigValue root = load_config(point.scenario);
    for (const std::string& set : point.sets) override_config(root, set);
    if (!has_collective(root)) {
        set_config(root, "workload", {}, kSaid);
        set_config(root, "workload.type", text_value("collective"), kSaid);
    }
    // As the user typed them: numbers or texts.
    for (const auto& [key, value] : point.keys) {
        override_config(root, fmt::format("workload.{}={}", key, value));
    }
    set_config(root, "workload.size", text_value(fmt::format("{}B", bytes)), kSaid);
    if (!point.mode.empty()) set_config(root, "mode", text_value(point.mode), "--mode");
    Scenario scenario = make_scenario(std::move(root), point.scenario);
    require_offered(scenario.mode, fmt::format("mode {}", mode_name(scenario.mode)));
    return scenario;
}

/// A member is done when its last receive is; acknowledgements of its sends may still be on their
/// way, which no other operation waits for.
Tick last_done(const JobApplication& job) {
    Tick last = 0;
    for (OpId op = 0; op < job.graph().op_count(); ++op) {
        if (job.graph().kind(op) != OpKind::send) last = std::max(last, job.end(op));
    }
    return last;
}

std::string describe_network(const Topology& topology) {
    std::string text = fmt::format("{}, {} hosts", topology.name, topology.host_count());
    if (topology.gpus_per_server > 1) {
        text += fmt::format(" in servers of {}", topology.gpus_per_server);
    }
    return text;
}

}  // namespace

void check_collective_point(const CollectivePoint& point, std::int64_t bytes) {
    Scenario scenario = load_point(point, bytes);
    build_experiment(scenario);
}

int run_collective_point(const CollectivePoint& point, std::int64_t bytes, const GoOn& go_on,
                         CollectiveResult& result, std::vector<std::string>& work_left) {
    Scenario scenario = load_point(point, bytes);
    BuiltExperiment built = build_experiment(scenario);
    RunPlan plan;
    plan.mode = scenario.mode;
    plan.go_on = go_on;
    const FinishedRun done = run_experiment(built.experiment, plan);
    if (done.outcome.interrupted) return kExitInterrupted;
    const JobApplication& job = *built.jobs.front().application;
    if (!job.complete()) {
        work_left = sluice::work_left(built, done.run->results());
        return kExitWorkLeft;
    }
    const std::vector<Collective>& collectives = job.graph().collectives();
    result.kind = job.graph().name(collectives.front().name);
    result.algorithm =
        scenario.workloads.front().text("algorithm", to_string(CollectiveAlgorithm::automatic));
    result.choice = job.graph().name(collectives.front().choice);
    result.mode = mode_name(scenario.mode);
    result.members = collectives.front().members;
    result.groups = collectives.size();
    result.time = last_done(job);
    result.flows = built.experiment.flows.size();
    result.flow_bytes = built.estimate.bytes;
    result.network = describe_network(built.experiment.topology);
    return kExitDone;
}

}  // namespace sluice
