// SPDX-License-Identifier: Apache-2.0
/// A switch that shares its buffer by a rule of one's own, in an incast of 16 hosts without PFC.
#include <algorithm>
#include <cstdio>
#include <systemc>
#include <vector>

#include "core/topology/builders.h"
#include "models/network.h"

/// Absorbs bursts: a queue may take eight times what is left free, where the default stops at as much as that.
struct Bursts : sluice::step::ScenarioPolicies {
    static double egress_limit(const sluice::step::World&, std::int64_t left) {
        return 8.0 * static_cast<double>(std::max<std::int64_t>(left, 0));
    }
};

std::unique_ptr<sluice::Node> make_switch(const char* name, sluice::NodeId id,
                                          const sluice::Node::Context& context,
                                          sluice::step::SwitchScratch& scratch) {
    if (context.world.is_host[id] != 0) {
        return nullptr;  // the default device
    }
    return std::make_unique<sluice::PolicySwitch<Bursts>>(name, id, context, scratch);
}

int sc_main(int, char**) {
    const sluice::Topology topology = sluice::build_star({17, {}});
    sluice::Routing routing(topology);
    sluice::NetworkConfig config;
    config.congestion =
        sluice::congestion::default_parameters(sluice::congestion::Law::dctcp, 100'000'000'000);
    config.ecn.points = {{sluice::gigabits_per_second(100), {100'000}, {100'000}, 1.0}};
    config.pfc = false;
    config.buffer.size = sluice::Bytes{1'000'000};
    std::vector<sluice::FlowSpec> flows(16);
    for (sluice::NodeId host = 0; host < 16; ++host) {
        flows[host].src = host;
        flows[host].dst = 16;
        flows[host].size = 500'000;
        flows[host].start = 0;
    }
    const std::vector<sluice::FlowPath> paths;
    sluice::NetworkOptions options;
    options.make_node = make_switch;
    sluice::Network plain("plain", topology, routing, config, flows, paths, nullptr);
    sluice::Network own("own", topology, routing, config, flows, paths, nullptr, options);
    sc_core::sc_start();
    for (sluice::Network* network : {&plain, &own}) {
        sluice::Tick last = 0;
        for (const sluice::FlowResult& flow : network->store().results()) {
            last = std::max(last, flow.finish);
        }
        std::printf("%s: %llu packets dropped, complete after %.3f us\n", network->name(),
                    static_cast<unsigned long long>(network->counters().drops), last / 1e6);
    }
    return 0;
}
