// SPDX-License-Identifier: Apache-2.0
#include "eval/model_based/poisson_lanes.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "experiment/build_experiment.h"
#include "experiment/run.h"
#include "scenario/combinations/combinations.h"
#include "scenario/workload/traffic_workload.h"

namespace sluice::eval {

namespace {

enum Purpose : std::uint64_t { source = 0x69730001, peer };

Scenario scenario_of(const Batch& scenarios, std::size_t candidate) {
    std::string path;
    ConfigValue values = scenarios.scenario(candidate, &path);
    return make_scenario(std::move(values), path);
}

/// The flow-size points as shares.
SizeCdf cdf_of(const FlowSizeCdf& sizes) {
    std::vector<SizeCdf::Point> points;
    for (const auto& [size, percent] : sizes.points()) points.push_back({size, percent / 100});
    return SizeCdf(std::move(points));
}

}  // namespace

PoissonLanes::PoissonLanes(const Batch& scenarios, std::size_t candidate, const Metric& metric,
                           SizeKind sizes, std::uint64_t seed)
    : scenarios_(scenarios),
      candidate_(candidate),
      slowdown_(metric.quantity == "slowdown"),
      seed_(seed) {
    Scenario scenario = scenario_of(scenarios, candidate);
    refuse(Configuration(scenario), Effect::not_importance_sampled, scenario.path);
    const PoissonWorkload workload = read_poisson_workload(scenario.workloads[0], scenario);
    const FlowSizeCdf known = sizes_of(workload, scenario);
    const PoissonTraffic& poisson = workload.traffic;
    const double hosts = static_cast<double>(scenario.topology.host_count());
    const double rate = hosts * static_cast<double>(poisson.rate.bits_per_second) * poisson.load /
                        (8 * known.mean());
    traffic_ = std::make_unique<Traffic>(
        Traffic{rate, to_seconds(poisson.duration), SizeModel(sizes, cdf_of(known))});
}

std::vector<Finish> PoissonLanes::run(const std::vector<Arrival>& flows, std::uint64_t trial,
                                      const std::function<bool()>& go_on) const {
    std::vector<Finish> finishes;
    if (flows.empty()) return finishes;
    Scenario scenario = scenario_of(scenarios_, candidate_);
    const std::uint64_t key = random_bits(seed_, 0x6973747269616cULL, trial);
    scenario.network.seed = key;
    WorkloadPart part;
    part.flow_class = "poisson";
    const std::vector<NodeId>& hosts = scenario.topology.hosts();
    const auto count = static_cast<std::uint32_t>(hosts.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const std::uint32_t from = uniform_below(key, random_stream(source, 0), i, count);
        const std::uint32_t to = uniform_below(key, random_stream(peer, 0), i, count - 1);
        FlowSpec flow;
        flow.src = hosts[from];
        flow.dst = hosts[to < from ? to : to + 1];
        flow.size = std::max<std::int64_t>(1, static_cast<std::int64_t>(flows[i].size));
        flow.start = static_cast<Tick>(flows[i].time * static_cast<double>(kSecond));
        part.flows.push_back(flow);
    }
    std::vector<WorkloadPart> parts;
    parts.push_back(std::move(part));
    const std::string path = scenario.path;
    const BuiltExperiment built = build_experiment(take_network(scenario), std::move(parts), path);
    RunPlan plan;
    plan.mode = Mode::packet;
    plan.caller = Caller::loop;
    plan.go_on = [&](const RunPosition&) { return go_on(); };
    RunHooks hooks;
    hooks.on_finish = [&](const FlowRecord& flow) {
        const double time = to_seconds(flow.result.finish - flow.result.start);
        const double ideal = to_seconds(built.estimate.ideal[flow.id]);
        finishes.push_back({to_seconds(flow.result.finish), slowdown_ ? time / ideal : time});
    };
    plan.watchers.push_back(std::move(hooks));
    const FinishedRun done = run_experiment(built.experiment, plan);
    if (done.outcome.interrupted) throw Stopped();
    if (finishes.size() < flows.size()) {
        throw ConfigError(path, 0,
                          "flows of a trial never finish: nothing can be said of its tail");
    }
    return finishes;
}

}  // namespace sluice::eval
