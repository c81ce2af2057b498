// SPDX-License-Identifier: Apache-2.0
/// Runs a small scenario in a plain loop and checks what holds of every run.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "core/error.h"
#include "experiment/build_experiment.h"
#include "experiment/run.h"
#include "scenario/scenario.h"
#include "tests/fuzz/choices.h"

namespace sluice::fuzz {

/// Work of one input; what takes more is interrupted.
constexpr std::int64_t kMostHops = 300'000;

/// `cut_off`: flows may be left.
inline void run_checked(const std::string& text, bool cut_off) {
    try {
        Scenario scenario = parse_scenario(text, "input");
        const BuiltExperiment built = build_experiment(scenario);
        const std::size_t flows = built.experiment.flows.size();
        std::unordered_set<FlowId> finished;
        RunHooks watcher;
        watcher.on_finish = [&](const FlowRecord& flow) {
            require(finished.insert(flow.id).second && flow.id < flows);
            const FlowSpec& asked = built.experiment.flows[flow.id];
            require(flow.result.start >= asked.start && flow.spec.size == asked.size);
            require(flow.result.received > flow.result.start);
            require(flow.result.finish > flow.result.received);
            require(flow.result.retransmitted >= flow.result.resent_late);
        };
        RunPlan plan;
        plan.mode = scenario.mode;
        plan.caller = Caller::loop;
        plan.watchers = {watcher};
        plan.go_on = [](const RunPosition& at) {
            return at.run.counters().packet_hops < kMostHops;
        };
        const FinishedRun run = run_experiment(built.experiment, plan);
        require(cut_off || run.outcome.interrupted || run.outcome.stalled ||
                finished.size() == flows);
        require(run.outcome.counters.packet_hops >= 0 && run.outcome.counters.drops >= 0);
    } catch (const ConfigError& error) {
        require_line(error.what());
    }
}

}  // namespace sluice::fuzz
