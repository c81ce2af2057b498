// SPDX-License-Identifier: Apache-2.0
/// A law of the user's own (models/nic/law_nic.h) acts at the same picoseconds as one of the simulator's: the
/// simulator's laws, run as a user's, send the same packets.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/error.h"
#include "models/host_port/host_port.h"
#include "models/nic/law_nic.h"
#include "tests/models/page_star.h"

namespace sluice::test {
namespace {

/// Eight hosts, all of which send to host 0; messages of a connection among them, and a cable that loses packets.
struct Crowd {
    Crowd(congestion::Law law, double loss) : topology(build(loss)), routing(topology) {
        config.congestion = congestion::default_parameters(law, 100'000'000'000);
        config.format.extra_header = congestion::traits(law).extra_header;
        config.format.ack = congestion::traits(law).ack();
        config.ecn.points = {{gigabits_per_second(100), {20'000}, {80'000}, 0.2}};
        for (NodeId host = 1; host < 8; ++host) {
            for (int i = 0; i < 4; ++i) {
                FlowSpec flow = message(host, 0, 300'000 + 1'000 * host + 100 * i);
                flow.start = host * kMicrosecond + i * 20 * kMicrosecond;
                flow.connection = host < 4 ? host : kNone;
                flows.push_back(flow);
            }
        }
        for (FlowSpec& flow : flows) {
            flow.sport = static_cast<std::uint16_t>(10'000 + flow.src);
        }
    }
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;

    static Topology build(double loss) {
        StarParams star;
        star.hosts = 8;
        star.host_cable.loss = loss;
        return build_star(star);
    }

    Topology topology;
    Routing routing;
    NetworkConfig config;
    std::vector<FlowSpec> flows;
    std::vector<FlowPath> paths;
};

template <class Module, class Parameters>
NetworkOptions with_nics(const Parameters& parameters) {
    NetworkOptions options;
    options.make_node = [parameters](const char* name, NodeId id, const Node::Context& context,
                                     step::SwitchScratch&) -> std::unique_ptr<Node> {
        if (context.world.is_host[id] == 0) {
            return nullptr;
        }
        return std::make_unique<Module>(name, id, context, parameters);
    };
    return options;
}

/// The law as the simulator has it, and as a user would add it.
template <class Hooks, class State, class Parameters>
void compare(congestion::Law law, const Parameters& parameters, double loss) {
    Crowd crowd(law, loss);
    NetworkConfig plain = crowd.config;
    plain.congestion.law = congestion::Law::none;
    Network built_in("built_in", crowd.topology, crowd.routing, crowd.config, crowd.flows,
                     crowd.paths, nullptr);
    Network own("own", crowd.topology, crowd.routing, plain, crowd.flows, crowd.paths, nullptr,
                with_nics<LawNic<Hooks, State, Parameters>>(parameters));
    Network none("none", crowd.topology, crowd.routing, plain, crowd.flows, crowd.paths, nullptr);
    for (Network* network : {&built_in, &own, &none}) {
        network->store().world().digest_hops = true;
    }
    sc_core::sc_start();
    CHECK(finishes(own) == finishes(built_in));
    CHECK(own.counters().hop_checksum == built_in.counters().hop_checksum);
    CHECK(own.counters().hop_checksum != none.counters().hop_checksum);
    CHECK((loss > 0) == (built_in.counters().drops > 0));
    CHECK(own.clock().at_rest());
}

TEST_CASE("models.law_nic.dcqcn_is_that_of_the_network") {
    namespace law = congestion::dcqcn;
    compare<law::Hooks, law::State>(congestion::Law::dcqcn, law::Parameters{}, 0);
}

TEST_CASE("models.law_nic.dcqcn_is_that_of_the_network_where_packets_are_lost") {
    namespace law = congestion::dcqcn;
    compare<law::Hooks, law::State>(congestion::Law::dcqcn, law::Parameters{}, 0.001);
}

TEST_CASE("models.law_nic.dctcp_is_that_of_the_network_where_packets_are_lost") {
    namespace law = congestion::dctcp;
    compare<law::Hooks, law::State>(congestion::Law::dctcp, law::Parameters{}, 0.001);
}

TEST_CASE("models.law_nic.timely_is_that_of_the_network_where_packets_are_lost") {
    namespace law = congestion::timely;
    compare<law::Hooks, law::State>(congestion::Law::timely, law::Parameters{}, 0.001);
}

/// Starts at a tenth of the line rate, and stays there.
struct Tenth : congestion::LawHooks {
    struct Parameters {};
    struct State {};
    static void start(congestion::FlowControl& flow, State&, const Parameters&) {
        flow.rate = flow.line_rate / 10;
    }
};

TEST_CASE("models.law_nic.a_first_rate_paces_from_the_first_packet_on") {
    Crowd crowd(congestion::Law::none, 0);
    std::vector<FlowSpec> one{message(1, 0, 1'000'000)};
    one[0].start = 0;
    Network network("network", crowd.topology, crowd.routing, crowd.config, one, crowd.paths,
                    nullptr, with_nics<LawNic<Tenth>>(Tenth::Parameters{}));
    sc_core::sc_start();
    // 1000 packets of 1048 bytes, the first of which leave 10 x 83.84 ns apart; the last one and its ACK of 60 bytes
    // are serialized twice and travel over two cables of 1 us each.
    const Tick frame = 1048 * 80;
    const Tick expected = 999 * 10 * frame + 2 * frame + 2 * 60 * 80 + 4 * kMicrosecond;
    CHECK(network.store().results()[0].finish == expected);
}

TEST_CASE("models.law_nic.a_law_beside_the_networks_is_refused") {
    Crowd crowd(congestion::Law::dcqcn, 0);
    CHECK_THROWS_WITH_AS(
        Network("network", crowd.topology, crowd.routing, crowd.config, crowd.flows, crowd.paths,
                nullptr, with_nics<LawNic<Tenth>>(Tenth::Parameters{})),
        doctest::Contains(
            "a law of its own beside the network's; allowed: congestion.law = \"none\""),
        ConfigError);
}

}  // namespace
}  // namespace sluice::test
