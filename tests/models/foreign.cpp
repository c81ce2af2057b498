// SPDX-License-Identifier: Apache-2.0
/// What docs/embedding.md promises of foreign models, and its code.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "models/foreign/foreign_models.h"
#include "tests/models/page_star.h"

namespace sluice::test {

using namespace foreign;

TEST_CASE("models.foreign.the_pages_foreign_switch") {
    PlainStar star;
    const auto& [topology, routing_, config, flows, paths] = star;
    Routing& routing = star.routing;
    sluice::NetworkOptions options;
    options.foreign.push_back(4);
    sluice::Network network("network", topology, routing, config, flows, paths, nullptr, options);
    FifoSwitch mine("mine", topology, 4, network);
    network.declare_steady(4, mine);
    Routing own_routing(topology);
    Network ours("ours", topology, own_routing, config, flows, paths, nullptr);
    network.store().world().digest_hops = true;
    ours.store().world().digest_hops = true;
    sc_core::sc_start();
    CHECK(network.counters().hop_checksum == ours.counters().hop_checksum);
    CHECK(finishes(network) == finishes(ours));
    CHECK(network.clock().at_rest());
}

TEST_CASE("models.foreign.a_foreign_switch_forwards_flows_that_were_opened") {
    PlainStar star;
    NetworkOptions options;
    options.foreign = {4};
    std::vector<FlowId> finished;
    options.hooks.on_finish = [&](const FlowRecord& flow) { finished.push_back(flow.id); };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    FifoSwitch mine("mine", star.topology, 4, network);
    const FlowId before = network.open_flow(message(3, 1, 5000), 0);
    sc_core::sc_start(1, sc_core::SC_MS);
    const FlowId during = network.open_flow(message(2, 0, 5000), network.clock().earliest());
    sc_core::sc_start();
    CHECK(finished.size() == 5);
    CHECK(std::count(finished.begin(), finished.end(), before) == 1);
    CHECK(std::count(finished.begin(), finished.end(), during) == 1);
}

TEST_CASE("models.foreign.a_foreign_switch_may_mark") {
    Star star(congestion::Law::dctcp);
    star.without_limits();
    NetworkOptions options;
    options.foreign = {4};
    Network plain("plain", star.topology, star.routing, star.config, star.flows, star.paths,
                  nullptr, options);
    FifoSwitch silent("silent", star.topology, 4, plain);
    Routing routing(star.topology);
    Network marked("marked", star.topology, routing, star.config, star.flows, star.paths, nullptr,
                   options);
    FifoSwitch marking("marking", star.topology, 4, marked, true);
    sc_core::sc_start();
    for (FlowId flow = 0; flow < 3; ++flow) {
        CHECK(marked.store().results()[flow].finish != kNever);
        CHECK(marked.store().results()[flow].finish > plain.store().results()[flow].finish);
    }
}

TEST_CASE("models.foreign.hpcc_learns_nothing_of_a_foreign_switch") {
    Star star(congestion::Law::hpcc);
    star.without_limits();
    star.config.congestion.window = false;
    PlainStar other;
    other.config.congestion.window = false;
    other.config.format = star.config.format;
    NetworkOptions options;
    options.foreign = {4};
    Network hpcc("hpcc", star.topology, star.routing, star.config, star.flows, star.paths, nullptr,
                 options);
    FifoSwitch first("first", star.topology, 4, hpcc);
    Network none("none", other.topology, other.routing, other.config, other.flows, other.paths,
                 nullptr, options);
    FifoSwitch second("second", other.topology, 4, none);
    sc_core::sc_start();
    CHECK(finishes(hpcc) == finishes(none));
    CHECK(finishes(hpcc)[0] != kNever);
}

TEST_CASE("models.foreign.a_listed_flow_has_the_slot_of_its_number") {
    PlainStar star;
    star.flows.clear();
    star.add_flow(1, 3, 100'000, 5 * kMicrosecond);
    star.add_flow(0, 3, 2000, kNever);
    NetworkOptions options;
    options.foreign = {0};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    ForeignHost host("host", star.topology, 0, network);
    sc_core::sc_start(1, sc_core::SC_US);
    const FlowSpec& spec = network.store().world().spec[1];
    CHECK((spec.src == 0 && spec.dst == 3 && spec.size == 2000));
    host.transmit(data_packet(1, 0, false), sc_now());
    host.transmit(data_packet(1, 1, true), sc_now());
    sc_core::sc_start();
    const std::vector<FlowResult>& results = network.store().results();
    CHECK(results[0].finish != kNever);
    CHECK(results[1].received != kNever);
    CHECK(results[1].finish == kNever);
    REQUIRE(host.heard.size() == 2);
    CHECK(host.heard[1].packet_kind() == step::PacketKind::ack);
    CHECK(host.heard[1].flow == 1);
    CHECK(host.heard[1].sequence == 2);
}

TEST_CASE("models.foreign.a_flow_of_a_foreign_host_is_opened_and_closed") {
    PlainStar star;
    std::vector<FlowRecord> finished;
    NetworkOptions options;
    options.foreign = {0};
    options.hooks.on_finish = [&](const FlowRecord& flow) { finished.push_back(flow); };
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    ForeignHost host("host", star.topology, 0, network);
    FlowSlot slot = kNone;
    host.on_packet = [&](const step::Packet& packet, Tick) {
        if (packet.flow == slot && packet.sequence == 2) {
            network.close_foreign_flow(slot, 1000);
        }
    };
    sc_core::sc_start(1, sc_core::SC_US);
    slot = network.open_foreign_flow(message(0, 3, 2000));
    CHECK(network.store().world().spec[slot].dst == 3);
    host.transmit(data_packet(slot, 0, false), sc_now());
    host.transmit(data_packet(slot, 1, true), sc_now());
    sc_core::sc_start();
    REQUIRE(finished.size() == 1);
    CHECK(finished[0].result.start == kMicrosecond);
    CHECK(finished[0].result.received > kMicrosecond);
    CHECK(finished[0].result.finish != kNever);
    CHECK(finished[0].result.retransmitted == 1000);
}

TEST_CASE("models.foreign.a_foreign_host_answers_what_it_receives") {
    PlainStar star;
    star.flows.clear();
    star.add_flow(1, 0, 20'500, 0);
    NetworkOptions options;
    options.foreign = {0};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    ForeignHost host("host", star.topology, 0, network);
    host.on_packet = [&](const step::Packet& packet, Tick at) {
        step::Packet ack;
        ack.kind = static_cast<std::uint16_t>(step::PacketKind::ack);
        ack.flow = packet.flow;
        ack.sequence = packet.sequence + 1;
        ack.bytes = static_cast<std::uint16_t>(star.config.format.ack);
        ack.traffic_class = packet.traffic_class;
        ack.stamp = packet.stamp;
        host.transmit(ack, at);
    };
    sc_core::sc_start();
    CHECK(host.heard.size() == 21);
    CHECK(network.store().results()[0].finish != kNever);
    CHECK(network.store().results()[0].received == kNever);
}

TEST_CASE("models.foreign.a_foreign_host_is_paused") {
    Star star(congestion::Law::none);
    star.config.congestion.window = false;
    star.flows.clear();
    star.add_flow(1, 3, 1'000'000, 0);
    NetworkOptions options = with_switch<PolicySwitch<ThreePackets>>();
    options.foreign = {0};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    ForeignHost host("host", star.topology, 0, network);
    const FlowSlot slot = network.open_foreign_flow(message(0, 3, 200'000));
    sc_core::sc_start(1, sc_core::SC_NS);
    for (std::uint32_t i = 0; i < 200; ++i) {
        host.transmit(data_packet(slot, i, i == 199), sc_now());
    }
    sc_core::sc_start();
    const auto paused = std::find_if(host.heard.begin(), host.heard.end(), [](const auto& packet) {
        return packet.packet_kind() == step::PacketKind::pause;
    });
    REQUIRE(paused != host.heard.end());
    CHECK(paused->sequence == 3);  // the class
}

TEST_CASE("models.foreign.a_socket_of_ours_answers_at_once") {
    PlainStar star;
    NetworkOptions options;
    options.foreign = {0};
    star.flows = {star.flows[1]};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    ForeignHost host("host", star.topology, 0, network);
    const FlowSlot slot = network.open_foreign_flow(message(0, 3, 1000));
    sc_core::sc_start(1, sc_core::SC_US);
    step::Packet packet = data_packet(slot, 0, true);
    packet.hop = 1;
    sc_core::sc_time delay(50, sc_core::SC_US);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    CHECK(host.port.out->nb_transport_fw(packet, phase, delay) == tlm::TLM_COMPLETED);
    packet.bytes = 0;  // has been copied
    throw_reports();
    phase = tlm::END_REQ;
    CHECK_THROWS_AS(host.port.out->nb_transport_fw(packet, phase, delay), sc_core::sc_report);
    sc_core::sc_start();
    CHECK(network.store().network_flows().record(slot).result.received != kNever);
}

TEST_CASE("models.foreign.what_comes_out_of_order_is_reported") {
    PlainStar star;
    NetworkOptions options;
    options.foreign = {0};
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    ForeignHost host("host", star.topology, 0, network);
    const FlowSlot slot = network.open_foreign_flow(message(0, 3, 2000));
    sc_core::sc_start(1, sc_core::SC_US);
    throw_reports();
    host.port.send(data_packet(slot, 0, false), sc_now() + 50 * kMicrosecond);
    CHECK_THROWS_AS(host.port.send(data_packet(slot, 1, true), sc_now() + 40 * kMicrosecond),
                    sc_core::sc_report);
}

TEST_CASE("models.foreign.a_flow_for_a_time_that_a_foreign_model_has_passed_is_reported") {
    PlainStar star;
    star.flows.clear();
    NetworkOptions options;
    options.foreign = {4};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    FifoSwitch mine("mine", star.topology, 4, network);
    sc_core::sc_start(1, sc_core::SC_MS);
    // The network had nothing to do and stands at 0, but what its hosts send goes to the switch now.
    REQUIRE(network.clock().now() < kMillisecond);
    CHECK(network.clock().earliest() == kMillisecond);
    throw_reports();
    CHECK_THROWS_AS(network.open_flow(message(0, 1, 1000), kMillisecond - 1), sc_core::sc_report);
}

TEST_CASE("models.foreign.a_large_quantum_suits_a_model_that_announces_early") {
    PlainStar star;
    star.flows = {star.flows[1]};
    NetworkOptions options;
    options.foreign = {0};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    ForeignHost host("host", star.topology, 0, network);
    const FlowSlot slot = network.open_foreign_flow(message(0, 2, 20'000));
    tlm::tlm_global_quantum::instance().set(sc_core::sc_time(20, sc_core::SC_US));
    throw_reports();
    for (std::uint32_t i = 0; i < 20; ++i) {
        sc_core::sc_start(10, sc_core::SC_US);
        host.transmit(data_packet(slot, i, i == 19), sc_now() + 20 * kMicrosecond);
    }
    sc_core::sc_start();
    CHECK(network.store().network_flows().record(slot).result.received > 200 * kMicrosecond);
    CHECK(network.store().network_flows().record(slot).result.received != kNever);
}

}  // namespace sluice::test
