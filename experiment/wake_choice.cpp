// SPDX-License-Identifier: Apache-2.0
#include "experiment/wake_choice.h"

#include <algorithm>
#include <map>
#include <string>

#include "experiment/configuration_of.h"
#include "experiment/expected_time.h"

namespace sluice {

namespace {

/// Ranks differ if more than this part of them computes for as long as no other one does.
constexpr double kOfTheirOwn = 0.5;

/// Every flow is a message of a job.
bool only_jobs(const BuiltExperiment& built) {
    std::size_t messages = 0;
    for (const BuiltJob& job : built.jobs) {
        messages += job.application->graph().messages().size();
    }
    return !built.jobs.empty() && messages == built.experiment.flows.size();
}

/// Ranks that do not do the same at the same time are no copies of each other.
bool ranks_differ(const JobGraph& graph) {
    std::map<RankId, Tick> busy;
    for (OpId op = 0; op < graph.op_count(); ++op) {
        if (graph.kind(op) == OpKind::compute || graph.kind(op) == OpKind::task) {
            busy[graph.rank(op)] += graph.duration(op);
        }
    }
    std::map<Tick, std::size_t> ranks;
    for (const auto& [rank, time] : busy) {
        ++ranks[time];
    }
    std::size_t alone = 0;
    for (const auto& [time, count] : ranks) {
        alone += count == 1 ? 1 : 0;
    }
    return static_cast<double>(alone) > kOfTheirOwn * static_cast<double>(busy.size()) && alone > 1;
}

}  // namespace

WakeChoice choose_wake(const BuiltExperiment& built) {
    const Experiment& experiment = built.experiment;
    const TrafficEstimate& traffic = built.estimate;
    WorkloadFacts facts;
    facts.only_jobs = only_jobs(built);
    facts.packet_hops = traffic.packet_hops;
    facts.long_hops = traffic.long_hops;
    facts.packet_seconds =
        traffic.packet_hops / packet_hops_per_second(experiment.topology.host_count());
    facts.longest_path = traffic.longest_path;
    facts.ranks_differ = [&built] {
        return std::any_of(built.jobs.begin(), built.jobs.end(), [](const BuiltJob& job) {
            return ranks_differ(job.application->graph());
        });
    };
    // Modes with phases choose alike.
    Configuration configuration = configuration_of(experiment, Mode::hybrid);
    configuration.workload = &facts;
    const CombinationRule* const rule = automatic_choice("phases.wake", configuration);
    if (rule == nullptr || rule->value != std::string("data")) return {};
    return {Wake::data, rule->text};
}

}  // namespace sluice
