// SPDX-License-Identifier: Apache-2.0
/// The first program of docs/embedding.md, as it stands there.
#include <cstdio>
#include <systemc>
#include <vector>

#include "core/topology/builders.h"
#include "models/network.h"

int sc_main(int, char**) {
    sluice::StarParams star;
    star.hosts = 4;  // nodes 0 to 3; the switch is node 4
    const sluice::Topology topology = sluice::build_star(star);
    sluice::Routing routing(topology);

    sluice::NetworkConfig config;
    config.congestion =
        sluice::congestion::default_parameters(sluice::congestion::Law::hpcc, 100'000'000'000);

    std::vector<sluice::FlowSpec> flows(3);
    for (sluice::NodeId host = 0; host < 3; ++host) {
        flows[host].src = host;
        flows[host].dst = 3;
        flows[host].size = 1'000'000;
        flows[host].start = host * sluice::kMicrosecond;
    }
    sluice::assign_source_ports(flows);

    const std::vector<sluice::FlowPath> paths;  // by routing
    sluice::Network network("network", topology, routing, config, flows, paths, nullptr);
    sc_core::sc_start();
    for (const sluice::FlowResult& result : network.store().results()) {
        std::printf("finished at %.3f us\n", static_cast<double>(result.finish) / 1e6);
    }
    return 0;
}
