// SPDX-License-Identifier: Apache-2.0
#include "experiment/wake_choice.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

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

/// A message of an exchange is long if its sender's messages of the exchange, which share a NIC, take as long as a long
/// message together; shorter ones than this, in base round trips, nevertheless end one by one.
constexpr Tick kLongExchanged = 25;

/// The part of all bytes that are of messages of exchanges that are long, without those that are long anyway. An exchange is
/// what a rank sends to several others within one collective.
double part_of_long_exchanges(const BuiltExperiment& built) {
    const TrafficEstimate& traffic = built.estimate;
    const Tick least = kLongExchanged * traffic.longest_round_trip;
    std::int64_t bytes = 0;
    std::size_t flow = 0;  // jobs are in the order of their flows
    for (const BuiltJob& job : built.jobs) {
        const JobGraph& graph = job.application->graph();
        struct Sent {
            CollectiveId collective;
            RankId from;
            RankId to;
            std::int64_t bytes;
            Tick ideal;
        };
        std::vector<Sent> sent;
        for (std::size_t i = 0; i < graph.messages().size(); ++i, ++flow) {
            const JobMessage& message = graph.messages()[i];
            const CollectiveId collective = graph.label(message.send).collective;
            if (collective != kNone && traffic.ideal[flow] >= least) {
                sent.push_back({collective, graph.rank(message.send), graph.rank(message.recv),
                                message.bytes, traffic.ideal[flow]});
            }
        }
        const auto exchange = [](const Sent& one) { return std::tie(one.collective, one.from); };
        std::sort(sent.begin(), sent.end(), [&](const Sent& a, const Sent& b) {
            return std::tie(a.collective, a.from, a.to) < std::tie(b.collective, b.from, b.to);
        });
        for (std::size_t begin = 0, end = 0; begin < sent.size(); begin = end) {
            Tick receivers = 0;
            for (; end < sent.size() && exchange(sent[end]) == exchange(sent[begin]); ++end) {
                receivers += end == begin || sent[end].to != sent[end - 1].to ? 1 : 0;
            }
            for (std::size_t i = begin; receivers > 1 && i < end; ++i) {
                const Tick whole = kLongMessage * traffic.longest_round_trip;
                const bool is_long = sent[i].ideal < whole && sent[i].ideal * receivers >= whole;
                bytes += is_long ? sent[i].bytes : 0;
            }
        }
    }
    return static_cast<double>(bytes) /
           static_cast<double>(std::max<std::int64_t>(traffic.bytes, 1));
}

}  // namespace

WakeChoice choose_wake(const BuiltExperiment& built, HostPorts ports) {
    const Experiment& experiment = built.experiment;
    const TrafficEstimate& traffic = built.estimate;
    WorkloadFacts facts;
    facts.only_jobs = only_jobs(built);
    facts.has_host_ports = ports == HostPorts::attached;
    facts.packet_hops = traffic.packet_hops;
    facts.long_hops = traffic.long_hops;
    facts.packet_seconds =
        traffic.packet_hops / packet_hops_per_second(experiment.topology.host_count());
    if (facts.only_jobs && traffic.ideal.size() == experiment.flows.size()) {
        facts.long_hops += part_of_long_exchanges(built) * traffic.packet_hops;
    }
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
