// SPDX-License-Identifier: Apache-2.0
#include "experiment/queue_facts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/congestion/congestion.h"
#include "core/routing/base_rtt.h"
#include "core/routing/routing.h"
#include "core/routing/valiant.h"
#include "core/steady/detector.h"
#include "core/world/ecn_point.h"
#include "experiment/configuration_of.h"

namespace sluice {

namespace {

Tick largest_base_rtt(const Experiment& experiment) {
    const BaseRttConfig config{experiment.network.format.payload, experiment.network.arithmetic};
    if (experiment.network.nic.global_base_rtt || experiment.flows.empty()) {
        BaseRtt base = network_base_rtt(experiment.topology, config);
        for (const FlowPath& path : experiment.paths) {
            widen_to_path(base, experiment.topology, config, path.forward);
        }
        return base.rtt;
    }
    std::vector<std::pair<NodeId, NodeId>> pairs;
    for (const FlowSpec& flow : experiment.flows) pairs.emplace_back(flow.src, flow.dst);
    Tick largest = 0;
    std::vector<BaseRtt> bases = pair_base_rtts(experiment.topology, config, pairs);
    for (std::size_t i = 0; i < bases.size(); ++i) {
        if (i < experiment.paths.size()) {
            widen_to_path(bases[i], experiment.topology, config, experiment.paths[i].forward);
        }
        largest = std::max(largest, bases[i].rtt);
    }
    return largest;
}

/// Where ports of a rate begin to mark; 0: nowhere.
std::int64_t mark_bytes(const EcnConfig& config, Rate rate) {
    return config.enabled && !config.points.empty() ? step::ecn_point(config, rate).kmin.count : 0;
}

}  // namespace

std::shared_ptr<const QueueFacts> queue_facts(const Experiment& experiment) {
    Configuration configuration = configuration_of(experiment, Mode::packet);
    configuration.records_queues = true;
    refuse(configuration, "output.record_queues");
    const Topology& topology = experiment.topology;
    const congestion::Parameters& law = experiment.network.congestion;
    auto facts = std::make_shared<QueueFacts>();
    steady::GroupFacts group;
    group.congestion = law;
    group.payload = experiment.network.format.payload;
    group.base_rtt = largest_base_rtt(experiment);
    const bool reacts = congestion::traits(law.law).reacts_to_marks;
    for (PortId port = 0; port < topology.port_count(); ++port) {
        if (topology.is_host(topology.node_of(port))) {
            group.line_rate = std::max(group.line_rate, topology.rate(port).bits_per_second);
        }
        const bool nvswitch = topology.kind(topology.node_of(port)) == NodeKind::nvswitch;
        const bool marks = reacts && (experiment.network.ecn.nvswitches || !nvswitch);
        facts->mark_bytes.push_back(marks ? mark_bytes(experiment.network.ecn, topology.rate(port))
                                          : 0);
    }
    facts->base_rtt = std::max<Tick>(group.base_rtt, 1);
    facts->step = steady::sampling_period(group);
    facts->law = congestion::law_name(law.law);
    const auto routing =
        std::make_shared<Routing>(topology, next_hop_order(experiment.network.arithmetic));
    facts->path = [routing, &experiment](const FlowRecord& flow) {
        const FlowSpec& spec = flow.spec;
        if (flow.id < experiment.paths.size() && !experiment.paths[flow.id].forward.empty()) {
            return experiment.paths[flow.id].forward;
        }
        return routing->path(data_key(spec));
    };
    return facts;
}

}  // namespace sluice
