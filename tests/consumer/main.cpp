// SPDX-License-Identifier: Apache-2.0
/// What a user of the installed package does first: two hosts, a switch, and one packet, in a
/// SystemC simulation of the user's own.
#include <cstdio>
#include <systemc>
#include <vector>

#include "core/topology/topology.h"
#include "models/network.h"

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
    sc_core::sc_start();

    // Store and forward over two cables: 1000 bytes of payload, 48 of headers and 42 of INT last
    // 1090 x 80 ps on each, and each adds 1 us.
    const sluice::Tick expected = 2 * (1090 * 80 + kMicrosecond);
    const sluice::FlowResult& result = network.store().results()[0];
    std::printf("received after %lld ps, expected %lld ps\n",
                static_cast<long long>(result.received), static_cast<long long>(expected));
    return result.received == expected ? 0 : 1;
}
