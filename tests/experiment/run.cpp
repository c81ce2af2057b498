// SPDX-License-Identifier: Apache-2.0
/// The loop of every run: who watches hears everything, and anyone can end it.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/topology/builders.h"
#include "experiment/run.h"
#include "scenario/workload/workload_part.h"

using namespace sluice;

namespace {

/// Host i of `hosts` at a star sends to the next, the later ones later.
Experiment star(std::int64_t hosts) {
    Experiment experiment;
    StarParams params;
    params.hosts = hosts;
    experiment.topology = build_star(params);
    for (NodeId host = 0; host < static_cast<NodeId>(hosts); ++host) {
        FlowSpec flow;
        flow.src = host;
        flow.dst = (host + 1) % static_cast<NodeId>(hosts);
        flow.size = 100'000;
        flow.start = host * kMillisecond;
        experiment.flows.push_back(flow);
    }
    return experiment;
}

RunPlan in_flow_mode() {
    RunPlan plan;
    plan.mode = Mode::flow;
    return plan;
}

}  // namespace

TEST_CASE("unit.experiment.every_watcher_hears_of_every_flow") {
    const Experiment experiment = star(4);
    RunPlan plan = in_flow_mode();
    std::vector<FlowId> heard[2];
    for (auto& flows : heard) {
        RunHooks hooks;
        hooks.on_finish = [&](const FlowRecord& flow) { flows.push_back(flow.id); };
        plan.watchers.push_back(hooks);
    }
    const FinishedRun done = run_experiment(experiment, plan);
    CHECK(heard[0] == std::vector<FlowId>{0, 1, 2, 3});
    CHECK(heard[1] == heard[0]);
    CHECK_FALSE(done.outcome.interrupted);
    CHECK(done.outcome.ports.size() == experiment.topology.port_count());
    CHECK(done.outcome.simulated == done.run->now());
}

TEST_CASE("unit.experiment.a_run_that_is_not_to_go_on_is_interrupted") {
    const Experiment experiment = star(4);
    RunPlan plan = in_flow_mode();
    plan.go_on = [](const RunPosition& at) { return at.flows_finished < 2; };
    const FinishedRun done = run_experiment(experiment, plan);
    CHECK(done.outcome.interrupted);
    CHECK(done.run->results()[1].finish != kNever);
    CHECK(done.run->results()[3].finish == kNever);
}

TEST_CASE("unit.experiment.a_watcher_ends_a_run_without_interrupting_it") {
    const Experiment experiment = star(4);
    RunPlan plan = in_flow_mode();
    RunHooks hooks;
    hooks.on_progress = [](Tick now) { return now < kMillisecond; };
    plan.watchers.push_back(hooks);
    const FinishedRun done = run_experiment(experiment, plan);
    CHECK_FALSE(done.outcome.interrupted);
    CHECK(done.run->results()[0].finish != kNever);
    CHECK(done.run->results()[3].finish == kNever);
}

TEST_CASE("unit.experiment.a_flow_that_is_cut_off_ends_the_run_unless_it_is_to_wait") {
    Experiment experiment = star(2);
    experiment.link_events.push_back({kMicrosecond, 0, false});
    const FinishedRun done = run_experiment(experiment, RunPlan());
    CHECK_FALSE(done.outcome.interrupted);
    CHECK(done.run->results()[0].finish == kNever);
    CHECK(done.outcome.simulated > kSecond);
    CHECK(done.outcome.simulated < 2 * kSecond);
}

namespace {

/// Host 0 opens one flow to host 1 at once.
class OpensOne : public Application {
  public:
    void on_begin(NodeId host, HostServices& services) override {
        FlowSpec flow;
        flow.src = 0;
        flow.dst = 1;
        flow.size = 100'000;
        if (host == 0) services.open_flow(flow, 0);
    }
    void on_received(NodeId, FlowId, Tick, HostServices&) override {}
    void on_sent(NodeId, FlowId, Tick, HostServices&) override {}
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}
};

}  // namespace

TEST_CASE("unit.experiment.an_opened_flow_that_is_cut_off_ends_the_run") {
    Experiment experiment = star(2);
    experiment.flows.clear();
    experiment.application = std::make_unique<OpensOne>();
    experiment.link_events.push_back({kMicrosecond, 1, false});
    // Not noticed, it would retransmit for ever.
    experiment.stop = 5 * kSecond;
    const FinishedRun done = run_experiment(experiment, RunPlan());
    CHECK_FALSE(done.run->cut_off());
    CHECK(done.run->under_way().size() == 1);
    CHECK(done.outcome.simulated > kSecond);
    CHECK(done.outcome.simulated < 2 * kSecond);
}

TEST_CASE("unit.experiment.two_samplers_are_refused") {
    const Experiment experiment = star(2);
    RunPlan plan = in_flow_mode();
    RunHooks hooks;
    hooks.sample_every = kMicrosecond;
    hooks.on_sample = [](Tick, const std::vector<std::int64_t>&) {};
    plan.watchers = {hooks, hooks};
    CHECK_THROWS_AS(run_experiment(experiment, plan), InternalError);
}

TEST_CASE("unit.experiment.types_of_workloads_have_names_of_their_own") {
    std::vector<std::string> names;
    for (const WorkloadType* type : workload_types()) names.emplace_back(type->name);
    std::sort(names.begin(), names.end());
    CHECK(names.size() == 16);
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}
