// SPDX-License-Identifier: Apache-2.0
/// A congestion law of one's own, with a state and a timer, against none at all, in an incast of eight hosts.
#include <algorithm>
#include <cstdio>
#include <systemc>
#include <vector>

#include "core/topology/builders.h"
#include "models/network.h"
#include "models/nic/law_nic.h"

/// An echoed mark halves the rate, once a period at most; then it grows by a step every period.
struct Halving : sluice::congestion::LawHooks {
    struct Parameters {
        sluice::Tick period = 20 * sluice::kMicrosecond;
        std::int64_t step = 500'000'000;  // bits/s
    };
    struct State {
        sluice::Tick due = sluice::kNever;  // the next step
        sluice::Tick deaf = 0;              // to marks, until then
    };
    static bool on_ack(sluice::congestion::FlowControl& flow, State& own,
                       const sluice::congestion::CommonParameters& common, const Parameters& p,
                       const sluice::congestion::IntRates&, const sluice::congestion::Ack& ack) {
        if (ack.echo && ack.now >= own.deaf) {
            flow.rate = std::max(common.min_rate, flow.rate / 2);
            own.due = own.deaf = ack.now + p.period;
        }
        return false;
    }
    static sluice::Tick next_timer(const State& own) { return own.due; }
    static void on_timer(sluice::congestion::FlowControl& flow, State& own,
                         const sluice::congestion::CommonParameters&, const Parameters& p,
                         sluice::Tick now) {
        flow.rate = std::min(flow.rate + p.step, flow.line_rate);
        own.due = flow.rate < flow.line_rate ? now + p.period : sluice::kNever;
    }
};

int sc_main(int, char**) {
    const sluice::Topology topology = sluice::build_star({9, {}});
    sluice::Routing routing(topology);
    sluice::NetworkConfig config;
    config.congestion =
        sluice::congestion::default_parameters(sluice::congestion::Law::none, 100'000'000'000);
    config.congestion.window = false;  // the rate alone
    config.ecn.points = {{sluice::gigabits_per_second(100), {50'000}, {200'000}, 1.0}};
    std::vector<sluice::FlowSpec> flows(8);
    for (sluice::NodeId host = 0; host < 8; ++host) {
        flows[host].src = host;
        flows[host].dst = 8;
        flows[host].size = 2'000'000;
        flows[host].start = 0;
    }
    const std::vector<sluice::FlowPath> paths;
    sluice::NetworkOptions options;
    options.make_node = [](const char* name, sluice::NodeId id,
                           const sluice::Node::Context& context,
                           sluice::step::SwitchScratch&) -> std::unique_ptr<sluice::Node> {
        if (id == 9) {
            return nullptr;  // the switch
        }
        return std::make_unique<sluice::LawNic<Halving>>(name, id, context);
    };
    sluice::Network none("none", topology, routing, config, flows, paths, nullptr);
    sluice::Network own("own", topology, routing, config, flows, paths, nullptr, options);
    sc_core::sc_start();
    for (sluice::Network* network : {&none, &own}) {
        sluice::Tick last = 0;
        for (const sluice::FlowResult& flow : network->store().results()) {
            last = std::max(last, flow.finish);
        }
        std::int64_t queue = 0;
        for (const sluice::PortStatistics& port : network->store().port_statistics(last)) {
            queue = std::max(queue, port.max_queue_bytes);
        }
        std::printf("%s: a queue of up to %lld bytes, complete after %.3f us\n", network->name(),
                    static_cast<long long>(queue), static_cast<double>(last) / 1e6);
    }
    return 0;
}
