// SPDX-License-Identifier: Apache-2.0
#include "experiment/wake_choice.h"

#include <map>

#include "experiment/expected_time.h"
#include "experiment/modes/hybrid_run.h"

namespace sluice {

namespace {

/// Links of a way through one switch.
constexpr std::int64_t kOneSwitch = 2;
/// So many of the packets are those of long messages. Short ones leave little to skip, and lose most where their ACKs are no
/// packets: a stream is not known until it has been measured, for a base round trip, and is then too much at once.
constexpr double kLong = 0.75;
/// What packets do sooner, seconds, partitions do soon enough, and their audit knows their error better: less is executed that
/// it could have a share of, and more is added for shares that are held (docs/audit.md).
constexpr double kSoon = 20;
/// Ranks differ if more than this part of them computes for as long as no other one does.
constexpr double kOfTheirOwn = 0.5;

/// Under other laws flows that share ports are off by more where ACKs are no packets (docs/wormhole.md, figure 13); so are jobs
/// beside flows of other kinds, and where links fail.
bool is_known(const BuiltExperiment& built) {
    std::size_t messages = 0;
    for (const BuiltJob& job : built.jobs) {
        messages += job.application->graph().messages().size();
    }
    const Experiment& experiment = built.experiment;
    return !built.jobs.empty() && messages == experiment.flows.size() &&
           experiment.link_events.empty() &&
           experiment.network.congestion.law == congestion::Law::hpcc;
}

/// Something that is asked for goes by partitions, though it would not be refused without them.
bool asks_for_partitions(const Experiment& experiment) {
    const PhaseConfig& phases = experiment.phases;
    return !phases.skip || phases.episodes || experiment.on_ack != nullptr;
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
    const double seconds =
        traffic.packet_hops / packet_hops_per_second(experiment.topology.host_count());
    if (!is_known(built) || asks_for_partitions(experiment) || seconds < kSoon ||
        traffic.long_hops < kLong * traffic.packet_hops ||
        !local_phases_fault(experiment).empty()) {
        return {};
    }
    if (traffic.longest_path > kOneSwitch) {
        return {Wake::data, "messages cross several switches"};
    }
    for (const BuiltJob& job : built.jobs) {
        if (ranks_differ(job.application->graph())) {
            return {Wake::data, "ranks compute for different times"};
        }
    }
    return {};
}

}  // namespace sluice
