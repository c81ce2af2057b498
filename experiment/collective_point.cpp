// SPDX-License-Identifier: Apache-2.0
#include "experiment/collective_point.h"

#include <algorithm>
#include <fstream>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "experiment/build_experiment.h"
#include "experiment/exit_codes.h"
#include "experiment/interrupt.h"
#include "experiment/modes/mode_run.h"
#include "experiment/run_report.h"
#include "experiment/stall_guard.h"
#include "core/text/config_value.h"
#include "core/error.h"

namespace sluice {

namespace {

/// Whether the scenario's one workload is a collective, whose keys then are the defaults.
bool has_collective(const CollectivePoint& point) {
    ConfigValue root = load_config(point.scenario);
    for (const std::string& set : point.sets) override_config(root, set);
    const auto find = [](const ConfigValue& table, const char* key) -> const ConfigValue* {
        for (const ConfigMember& member : table.table) {
            if (member.key == key) return &member.value;
        }
        return nullptr;
    };
    const ConfigValue* workload = find(root, "workload");
    const ConfigValue* type = workload != nullptr ? find(*workload, "type") : nullptr;
    return type != nullptr && type->text == "collective";
}

Scenario load_point(const CollectivePoint& point, std::int64_t bytes) {
    std::vector<std::string> sets = point.sets;
    if (!has_collective(point)) {
        sets.emplace_back("workload={}");
        sets.emplace_back("workload.type=collective");
    }
    for (const auto& [key, value] : point.keys) {
        sets.push_back(fmt::format("workload.{}={}", key, value));
    }
    sets.push_back(fmt::format("workload.size=\"{}B\"", bytes));
    if (!point.mode.empty()) sets.push_back("mode=" + point.mode);
    Scenario scenario = load_scenario(point.scenario, sets);
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

int run_collective_point(const CollectivePoint& point, std::int64_t bytes,
                         CollectiveResult& result) {
    Scenario scenario = load_point(point, bytes);
    BuiltExperiment built = build_experiment(scenario);
    const std::unique_ptr<ModeRun> run = make_run(built.experiment, scenario.mode);
    const InterruptGuard guard;
    StallGuard stall(built.experiment);
    RunHooks hooks;
    hooks.on_finish = [&](const FlowRecord& flow) { stall.finished(flow.result.finish); };
    hooks.on_progress = [&](Tick now) {
        return !InterruptGuard::requested() && !stall.stalled(now, run->results());
    };
    run->run(hooks);
    if (InterruptGuard::requested()) return kExitInterrupted;
    const JobApplication& job = *built.jobs.front().application;
    if (!job.complete()) {
        for (const std::string& line : work_left(built, run->results())) {
            fmt::print(stderr, "sluice: {}\n", line);
        }
        return kExitWorkLeft;
    }
    const std::vector<Collective>& collectives = job.graph().collectives();
    result.kind = job.graph().name(collectives.front().name);
    const nlohmann::json config = nlohmann::json::parse(scenario.effective->json());
    result.algorithm = config.at("workload").at("algorithm");
    result.mode = mode_name(scenario.mode);
    result.members = collectives.front().members;
    result.groups = collectives.size();
    result.time = last_done(job);
    result.flows = built.experiment.flows.size();
    result.flow_bytes = built.estimate.bytes;
    result.network = describe_network(built.experiment.topology);
    return kExitDone;
}

std::string to_json(const CollectiveResult& result) {
    return nlohmann::json{
        {"kind", result.kind},    {"algorithm", result.algorithm},   {"mode", result.mode},
        {"time_ps", result.time}, {"members", result.members},       {"groups", result.groups},
        {"flows", result.flows},  {"flow_bytes", result.flow_bytes}, {"network", result.network}}
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

CollectiveResult read_collective_result(const std::string& path) {
    std::ifstream file(path);
    const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded()) throw InternalError(path + ": a run left no result there");
    CollectiveResult result;
    result.kind = json.at("kind");
    result.algorithm = json.at("algorithm");
    result.mode = json.at("mode");
    result.time = json.at("time_ps");
    result.members = json.at("members");
    result.groups = json.at("groups");
    result.flows = json.at("flows");
    result.flow_bytes = json.at("flow_bytes");
    result.network = json.at("network");
    return result;
}

}  // namespace sluice
