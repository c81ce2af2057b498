// SPDX-License-Identifier: Apache-2.0
#include "report/paths.h"

#include "core/routing/routing.h"

namespace sluice::report {

namespace {

/// Networks whose paths are not worth the time: routing computes a table for each group of hosts.
constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kMostFlows = 2'000'000;

/// What the configuration says against paths by ECMP; empty if nothing.
std::string ruled_out(const RunFiles& run) {
    const std::string balance = run.config_text("network.load_balance");
    if (!balance.empty() && balance != "ecmp") return "packets of a flow take several paths";
    const std::string groups = run.config_text("topology.routing");
    if (!groups.empty() && groups != "shortest") return "routing by groups is not followed here";
    for (const char* key : {"link_event", "link_events"}) {
        const Json* const events = run.config(key);
        if (events != nullptr && !events->empty()) return "links failed during the run";
    }
    if (run.topology.node_count() > kMostNodes || run.flows.size() > kMostFlows) {
        return "the network is too large to follow them";
    }
    return {};
}

}  // namespace

FlowPaths paths_of(const RunFiles& run) {
    FlowPaths paths;
    paths.flows.assign(run.topology.port_count(), 0);
    paths.unknown = ruled_out(run);
    if (!paths.unknown.empty()) return paths;
    const bool ns3 = run.config_text("network.arithmetic") == "ns3";
    const Routing routing(run.topology, next_hop_order(ns3 ? Arithmetic::ns3 : Arithmetic::exact));
    std::vector<std::int64_t> payload(run.topology.port_count(), 0);
    for (const FinishedFlow& flow : run.flows) {
        const FlowKey& key = flow.key;
        paths.ports.push_back(routing.path(key));
        paths.ack_ports.push_back(
            routing.path({key.dst, key.src, key.dport, key.sport, key.nic_port}));
        for (const PortId port : paths.ports.back()) {
            payload[port] += flow.size;
            ++paths.flows[port];
        }
    }
    for (PortId port = 0; port < payload.size(); ++port) {
        if (payload[port] <= run.ports[port].tx_bytes) continue;
        paths.unknown = "flows did not go by ECMP alone";
        paths.ports.clear();
        paths.ack_ports.clear();
        paths.flows.assign(paths.flows.size(), 0);
        break;
    }
    return paths;
}

}  // namespace sluice::report
