// SPDX-License-Identifier: Apache-2.0
/// What a user of the installed package does first: two hosts, a switch, and one packet, in a
/// SystemC simulation of the user's own. Then the same hosts with a slower cable to the right and a
/// switch that decides by a rule of the user's own.
#include <cstdio>
#include <systemc>
#include <vector>

#include "core/topology/topology.h"
#include "models/network.h"
#include "three_packets.h"

int sc_main(int, char**) {
    using sluice::kMicrosecond;

    sluice::Topology topology;
    const sluice::NodeId left = topology.add_node(sluice::NodeKind::host);
    const sluice::NodeId right = topology.add_node(sluice::NodeKind::host);
    const sluice::NodeId middle = topology.add_node(sluice::NodeKind::ethernet);
    for (const sluice::NodeId host : {left, right}) {
        sluice::Link link;
        link.a = host;
        link.b = middle;
        link.rate = sluice::gigabits_per_second(100);
        link.delay = kMicrosecond;
        topology.add_link(link);
    }
    topology.finish();
    sluice::Routing routing(topology);

    sluice::NetworkConfig config;
    config.congestion =
        sluice::congestion::default_parameters(sluice::congestion::Law::hpcc, 100'000'000'000);
    std::vector<sluice::FlowSpec> flows(1);
    flows[0].src = left;
    flows[0].dst = right;
    flows[0].size = 1000;
    flows[0].start = 0;

    const std::vector<sluice::FlowPath> paths;
    sluice::Network network("network", topology, routing, config, flows, paths, nullptr);

    sluice::Topology narrow;
    for (sluice::NodeId node = 0; node < topology.node_count(); ++node) {
        narrow.add_node(topology.kind(node));
    }
    for (sluice::Link link : topology.links()) {
        link.rate = sluice::gigabits_per_second(link.a == right ? 10 : 100);
        narrow.add_link(link);
    }
    narrow.finish();
    sluice::Routing narrow_routing(narrow);
    std::vector<sluice::FlowSpec> longer = flows;
    longer[0].size = 100'000;
    sluice::NetworkConfig unbounded = config;
    unbounded.congestion.window = false;
    sluice::NetworkOptions options;
    options.make_node = make_node;
    sluice::Network own("own", narrow, narrow_routing, unbounded, longer, paths, nullptr, options);
    sc_core::sc_start();

    // Store and forward over two cables: 1000 bytes of payload, 48 of headers and 42 of INT last
    // 1090 x 80 ps on each, and each adds 1 us.
    const sluice::Tick expected = 2 * (1090 * 80 + kMicrosecond);
    const sluice::FlowResult& result = network.store().results()[0];
    std::printf("received after %lld ps, expected %lld ps\n",
                static_cast<long long>(result.received), static_cast<long long>(expected));
    std::printf("pauses under a threshold of three packets: %llu\n",
                static_cast<unsigned long long>(own.counters().pfc_pauses));
    const bool paused = own.counters().pfc_pauses > 0 && own.counters().drops == 0;
    return result.received == expected && paused ? 0 : 1;
}
