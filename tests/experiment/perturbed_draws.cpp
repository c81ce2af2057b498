// SPDX-License-Identifier: Apache-2.0
/// What a perturbation draws anew, the network's marks, ways and losses, and what it must not: the
/// workload's traffic, jitter and placement.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "experiment/build_experiment.h"
#include "experiment/run.h"

using namespace sluice;

namespace {

BuiltExperiment built(const std::string& text, int perturbation) {
    Scenario scenario = parse_scenario(
        fmt::format("mode = \"packet\"\nperturbation = {}\n", perturbation) + text, "test.toml");
    return build_experiment(scenario);
}

std::vector<Tick> finishes(const std::string& text, int perturbation) {
    const BuiltExperiment made = built(text, perturbation);
    RunPlan plan;
    plan.caller = Caller::loop;
    const FinishedRun done = run_experiment(made.experiment, plan);
    std::vector<Tick> all;
    for (const FlowResult& result : done.run->results()) {
        CHECK(result.finish != kNever);
        all.push_back(result.finish);
    }
    return all;
}

/// Cables without delay stay as they are: what differs was drawn.
std::string network(const std::string& topology, const std::string& rest) {
    return "[topology]\n" + topology + "delay = 0\n" + rest;
}

void check_drawn(const std::string& text) {
    const std::vector<Tick> plain = finishes(text, 0);
    const std::vector<Tick> first = finishes(text, 1);
    CHECK(plain != first);
    CHECK(first != finishes(text, 2));
    CHECK(first == finishes(text, 1));
}

}  // namespace

TEST_CASE("unit.experiment.a_perturbation_draws_marks_anew") {
    const std::string text = network("type = \"star\"\nhosts = 4\n",
                                     "[congestion]\nlaw = \"dcqcn\"\n"
                                     "[workload]\ntype = \"flows\"\n"
                                     "list = [[1, 0, \"20MB\", 0], [2, 0, \"20MB\", \"50us\"]]\n");
    check_drawn(text);
    const double plain = static_cast<double>(finishes(text, 0).front());
    double most = 0;
    for (int number = 1; number <= 4; ++number) {
        const double moved = static_cast<double>(finishes(text, number).front()) / plain - 1;
        most = std::max(most, std::abs(moved));
    }
    CHECK(most > 0.002);  // what cables alone do is a hundred thousandth
}

TEST_CASE("unit.experiment.a_perturbation_draws_ways_anew") {
    check_drawn(network("type = \"leaf-spine\"\nleaves = 2\nspines = 4\nhosts_per_leaf = 4\n",
                        "[network]\nload_balance = \"spray\"\n"
                        "[workload]\ntype = \"permutation\"\nsize = \"100KB\"\n"));
}

TEST_CASE("unit.experiment.a_perturbation_draws_losses_anew") {
    check_drawn(network("type = \"star\"\nhosts = 4\nloss = 0.01\n",
                        "[workload]\ntype = \"ring\"\nsize = \"200KB\"\n"));
}

TEST_CASE("unit.experiment.a_perturbation_leaves_what_workloads_draw") {
    const std::vector<std::string> workloads = {
        "[workload]\ntype = \"poisson\"\ncdf = \"WebSearch\"\nduration = \"1ms\"\n",
        "[workload]\ntype = \"permutation\"\njitter = \"10us\"\n",
        "[workload]\ntype = \"incast\"\nsenders = 5\njitter = \"10us\"\n",
        "[workload]\ntype = \"ring-all-reduce\"\nranks = 8\nplacement = \"random\"\n",
        "[workload]\ntype = \"training\"\nmodel = \"gpt-6.7b\"\nallow_oom = true\n"
        "compute_jitter = 0.05\n",
    };
    for (const std::string& workload : workloads) {
        CAPTURE(workload);
        const std::string text = "[topology]\ntype = \"fat-tree\"\nk = 4\n" + workload;
        const BuiltExperiment plain = built(text, 0);
        const BuiltExperiment other = built(text, 3);
        CHECK(other.experiment.network.seed != plain.experiment.network.seed);
        REQUIRE(other.experiment.flows.size() == plain.experiment.flows.size());
        REQUIRE_FALSE(plain.experiment.flows.empty());
        for (std::size_t i = 0; i < plain.experiment.flows.size(); ++i) {
            const FlowSpec& before = plain.experiment.flows[i];
            const FlowSpec& after = other.experiment.flows[i];
            CHECK(after.src == before.src);
            CHECK(after.dst == before.dst);
            CHECK(after.size == before.size);
            CHECK(after.start == before.start);
        }
        for (std::size_t j = 0; j < plain.jobs.size(); ++j) {
            const JobGraph& before = plain.jobs[j].application->graph();
            const JobGraph& after = other.jobs[j].application->graph();
            REQUIRE(after.op_count() == before.op_count());
            for (OpId op = 0; op < before.op_count(); ++op) {
                if (before.kind(op) == OpKind::compute) {
                    CHECK(after.duration(op) == before.duration(op));
                }
            }
        }
    }
}
