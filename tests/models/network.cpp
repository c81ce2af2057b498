// SPDX-License-Identifier: Apache-2.0
/// The network as a SystemC module: the same answers as the plain loop, with a node's step
/// overridden, with models of a user's own in it, and whatever the TLM quantum.
#include "models/network.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "core/random.h"
#include "core/topology/builders.h"
#include "models/foreign/foreign_models.h"
#include "tests/support/clock_support.h"

namespace sluice::test {

using namespace foreign;
namespace {

/// Five hosts on one switch, node 5; no mark and no pause, so that a FIFO switch can take its place.
struct Star {
    explicit Star(congestion::Law law = congestion::Law::none) {
        StarParams params;
        params.hosts = 5;
        topology = build_star(params);
        config.pfc = false;
        config.buffer.egress_alpha = 0;
        config.ecn.enabled = false;
        config.format.extra_header = law == congestion::Law::timely ? 8 : 0;
        config.format.ack = 60;
        config.congestion = congestion::default_parameters(law, 100'000'000'000);
        for (std::uint32_t i = 0; i < 12; ++i) {
            FlowSpec flow;
            flow.src = i % 4;
            flow.dst = i % 3 == 0 ? 4 : (flow.src + 1) % 4;
            flow.size = 1 + static_cast<std::int64_t>(uniform_below(7, 1, i, 300'000));
            flow.start = static_cast<Tick>(uniform_below(7, 2, i, 20'000'000));
            flows.push_back(flow);
        }
        assign_source_ports(flows);
    }

    /// Hops and completion times of the step functions in a plain loop.
    std::uint64_t plain_checksum() {
        Outcome outcome = run_windows(Case{"star", topology, config, flows, paths, {}, kNever});
        finish = std::move(outcome.flows);
        return outcome.checksum;
    }

    static constexpr NodeId kMiddle = 5;
    Topology topology;
    NetworkConfig config;
    std::vector<FlowSpec> flows;
    std::vector<FlowPath> paths;
    std::vector<FlowResult> finish;
};

void check_same_results(const Network& network, const std::vector<FlowResult>& expected) {
    const std::vector<FlowResult>& results = network.store().results();
    REQUIRE(results.size() == expected.size());
    for (std::size_t f = 0; f < results.size(); ++f) {
        CHECK(results[f].finish == expected[f].finish);
        CHECK(results[f].finish != kNever);
    }
}

/// A switch that works as the default one, and counts its windows.
class CountingSwitch : public Switch {
  public:
    using Switch::Switch;
    void step(const step::Cell& cell, Tick begin, Tick end) override {
        ++windows;
        Switch::step(cell, begin, end);
    }
    std::uint64_t windows = 0;
};

/// A rule of one's own: a class may take no more than three packets of the shared buffer.
struct ThreePackets : step::ScenarioPolicies {
    static std::int64_t ingress_limit(const step::World&, const step::Ingress&, std::int64_t left) {
        return std::min<std::int64_t>(std::max<std::int64_t>(left, 0), 3 * 1048);
    }
};

/// Another one: the highest class first.
struct HighestFirst : step::ScenarioPolicies {
    static std::uint32_t pick(const step::World&, step::Egress&, std::uint32_t mask) {
        return 31U - static_cast<std::uint32_t>(__builtin_clz(mask));
    }
};

template <class Policies>
NetworkOptions with_switches_of() {
    NetworkOptions options;
    options.make_node = [](const char* name, NodeId id, const Node::Context& context,
                           step::SwitchScratch& scratch) -> std::unique_ptr<Node> {
        if (id != Star::kMiddle) {
            return nullptr;
        }
        return std::make_unique<PolicySwitch<Policies>>(name, id, context, scratch);
    };
    return options;
}

/// Runs the star with its switch under other policies.
template <class Policies>
RunCounters run_with(Star& star, std::vector<FlowResult>& results) {
    Routing routing(star.topology);
    Network network("network", star.topology, routing, star.config, star.flows, star.paths, nullptr,
                    with_switches_of<Policies>());
    network.store().world().digest_hops = true;
    sc_core::sc_start();
    results = network.store().results();
    return network.counters();
}

/// Runs the star with the switch replaced by a FIFO switch behind transactions.
void check_foreign_switch(congestion::Law law, const sc_core::sc_time& quantum,
                          bool clocks = false) {
    Star star(law);
    const std::uint64_t expected = star.plain_checksum();
    Routing routing(star.topology);
    NetworkOptions options;
    options.foreign = {Star::kMiddle};
    Network network("network", star.topology, routing, star.config, star.flows, star.paths, nullptr,
                    options);
    network.store().world().digest_hops = true;
    FifoSwitch fifo("fifo", star.topology, Star::kMiddle, network);
    step::FlowPartitions partitions(network.store());
    if (clocks) {
        network.clock().engine().keep_partitions(engine::Clocks::many, partitions, nullptr);
    }
    tlm::tlm_global_quantum::instance().set(quantum);
    sc_core::sc_start();
    CHECK(network.counters().hop_checksum == expected);
    check_same_results(network, star.finish);
    CHECK(network.clock().engine().driver()->statistics().windows_solo == 0);  // in lock-step
}

/// Host 0 is a foreign model that sends when it likes.
void check_foreign_host(bool clocks) {
    // The same traffic known in advance: host 0's one-packet flows start at the same instants.
    Star star;
    std::vector<MessageSource::Message> messages;
    star.flows.erase(std::remove_if(star.flows.begin(), star.flows.end(),
                                    [](const FlowSpec& f) { return f.src == 0 || f.dst == 0; }),
                     star.flows.end());
    const auto known = static_cast<FlowId>(star.flows.size());
    Tick at = 0;
    for (FlowId i = 0; i < 50; ++i) {
        at += 1 + static_cast<Tick>(uniform_below(7, 3, i, 900'000));
        FlowSpec flow;
        flow.src = 0;
        flow.dst = 1 + i % 4;
        flow.size = 700;
        flow.start = at;
        star.flows.push_back(flow);
        messages.push_back({known + i, at});
    }
    assign_source_ports(star.flows);
    const std::uint64_t expected = star.plain_checksum();
    for (FlowId i = 0; i < 50; ++i) {
        star.flows[known + i].start = kNever;  // only the foreign host knows
    }
    Routing routing(star.topology);
    NetworkOptions options;
    options.foreign = {0};
    Network network("network", star.topology, routing, star.config, star.flows, star.paths, nullptr,
                    options);
    network.store().world().digest_hops = true;
    const auto frame = static_cast<std::uint16_t>(700 + star.config.format.header);
    MessageSource source("source", star.topology, 0, frame, messages, network);
    step::FlowPartitions partitions(network.store());
    if (clocks) {
        network.clock().engine().keep_partitions(engine::Clocks::many, partitions, nullptr);
    }
    tlm::tlm_global_quantum::instance().set(sc_core::SC_ZERO_TIME);
    sc_core::sc_start();
    REQUIRE(source.acks.size() == 50);
    for (const auto& [flow, arrival] : source.acks) {
        CHECK(arrival == star.finish[flow].finish);
    }
    for (FlowId f = 0; f < known; ++f) {
        CHECK(network.store().results()[f].finish == star.finish[f].finish);
    }
    CHECK(network.counters().hop_checksum == expected);
    CHECK(network.clock().engine().driver()->statistics().windows_solo == 0);  // in lock-step
}

}  // namespace

TEST_CASE("models.network.equals_the_plain_loop") {
    Star star;
    const std::uint64_t expected = star.plain_checksum();
    Routing routing(star.topology);
    Network network("network", star.topology, routing, star.config, star.flows, star.paths,
                    nullptr);
    network.store().world().digest_hops = true;
    sc_core::sc_start();
    CHECK(network.counters().hop_checksum == expected);
    CHECK(network.clock().finished());
    check_same_results(network, star.finish);
}

TEST_CASE("models.network.own_policies_that_say_the_same_change_nothing") {
    Star star;
    star.config.pfc = true;
    const std::uint64_t expected = star.plain_checksum();
    std::vector<FlowResult> results;
    CHECK(run_with<OrderedPolicies>(star, results).hop_checksum == expected);
}

TEST_CASE("models.network.own_admission_rule") {
    Star star;
    star.config.pfc = true;
    REQUIRE(
        run_windows(Case{"star", star.topology, star.config, star.flows, star.paths, {}, kNever})
            .counters.pfc_pauses == 0);
    std::vector<FlowResult> results;
    const RunCounters counters = run_with<ThreePackets>(star, results);
    CHECK(counters.pfc_pauses > 0);
    CHECK(counters.drops == 0);
    for (const FlowResult& result : results) {
        CHECK(result.finish != kNever);
    }
}

TEST_CASE("models.network.own_scheduler") {
    Star star;
    star.config.congestion.window = false;
    star.config.buffer.size = mebibytes(64);
    star.flows.clear();
    for (NodeId src = 0; src < 2; ++src) {
        FlowSpec flow;
        flow.src = src;
        flow.dst = 4;
        flow.size = 1'000'000;
        flow.start = 0;
        flow.priority = static_cast<std::uint8_t>(1 + src);
        star.flows.push_back(flow);
    }
    assign_source_ports(star.flows);
    std::vector<FlowResult> results;
    run_with<HighestFirst>(star, results);
    // Class 2 as if it were alone, class 1 afterwards: 1000 packets of 1048 bytes at 80 ps.
    CHECK(results[0].received - results[1].received > 990 * 1048 * 80);
}

TEST_CASE("models.network.partition_clocks_refuse_an_admission_rule_that_they_cannot_ask") {
    Star star;
    Routing routing(star.topology);
    NetworkOptions options = with_switches_of<ThreePackets>();
    options.partition_clocks = true;
    CHECK_THROWS_WITH_AS(Network("network", star.topology, routing, star.config, star.flows,
                                 star.paths, nullptr, options),
                         doctest::Contains("admission rule of its own"), ConfigError);
}

TEST_CASE("models.network.partition_clocks_allow_another_scheduler") {
    Star star;
    Routing routing(star.topology);
    NetworkOptions options = with_switches_of<HighestFirst>();
    options.partition_clocks = true;
    Network network("network", star.topology, routing, star.config, star.flows, star.paths, nullptr,
                    options);
    sc_core::sc_start();
    CHECK(network.clock().finished());
}

TEST_CASE("models.network.partition_clocks_change_nothing") {
    Star star;
    const std::uint64_t expected = star.plain_checksum();
    Routing routing(star.topology);
    NetworkOptions options;
    options.free_running = true;
    options.partition_clocks = true;
    Network network("network", star.topology, routing, star.config, star.flows, star.paths, nullptr,
                    options);
    network.store().world().digest_hops = true;
    sc_core::sc_start();
    CHECK(network.counters().hop_checksum == expected);
    CHECK(network.clock().finished());
    CHECK(network.clock().engine().driver()->statistics().windows_solo > 0);
    check_same_results(network, star.finish);
}

TEST_CASE("models.network.runs_in_pieces") {
    Star star;
    const std::uint64_t expected = star.plain_checksum();
    Routing routing(star.topology);
    Network network("network", star.topology, routing, star.config, star.flows, star.paths,
                    nullptr);
    network.store().world().digest_hops = true;
    for (int piece = 0; piece < 40; ++piece) {
        sc_core::sc_start(7, sc_core::SC_US);
    }
    CHECK(network.counters().hop_checksum == expected);
    check_same_results(network, star.finish);
}

TEST_CASE("models.switch.subclass_overrides_its_step") {
    Star star;
    const std::uint64_t expected = star.plain_checksum();
    Routing routing(star.topology);
    NetworkOptions options;
    options.make_node = [](const char* name, NodeId id, const Node::Context& context,
                           step::SwitchScratch& scratch) -> std::unique_ptr<Node> {
        if (id != Star::kMiddle) {
            return nullptr;
        }
        return std::make_unique<CountingSwitch>(name, id, context, scratch);
    };
    Network network("network", star.topology, routing, star.config, star.flows, star.paths, nullptr,
                    options);
    network.store().world().digest_hops = true;
    sc_core::sc_start();
    CHECK(network.counters().hop_checksum == expected);
    CHECK(dynamic_cast<CountingSwitch*>(network.node(Star::kMiddle))->windows > 10);
}

TEST_CASE("models.switch.foreign_one_in_lock_step") {
    check_foreign_switch(congestion::Law::none, sc_core::SC_ZERO_TIME);
}

TEST_CASE("models.switch.foreign_one_under_partition_clocks") {
    check_foreign_switch(congestion::Law::timely, sc_core::SC_ZERO_TIME, true);
}

TEST_CASE("models.switch.foreign_one_with_a_law") {
    check_foreign_switch(congestion::Law::timely, sc_core::SC_ZERO_TIME);
}

TEST_CASE("models.nic.foreign_host_sends_at_unannounced_times") { check_foreign_host(false); }

TEST_CASE("models.nic.foreign_host_under_partition_clocks") { check_foreign_host(true); }

TEST_CASE("models.clock.packet_from_the_past_is_reported") {
    Star star;
    Routing routing(star.topology);
    for (FlowSpec& flow : star.flows) {
        flow.start = flow.src == 0 ? kNever : flow.start;
    }
    NetworkOptions options;
    options.foreign = {0};
    Network network("network", star.topology, routing, star.config, star.flows, star.paths, nullptr,
                    options);
    MessageSource source("source", star.topology, 0, 748, {}, network);
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    sc_core::sc_start(5, sc_core::SC_US);
    step::Packet packet;
    packet.bytes = 748;
    // The clock has run to 5 us and on; a packet that claims to arrive at 1 us breaks causality.
    CHECK_THROWS_AS(
        network.clock().receive(star.topology.first_port(Star::kMiddle), packet, kMicrosecond),
        sc_core::sc_report);
    packet.flow = 1'000'000;
    CHECK_THROWS_AS(
        network.clock().receive(star.topology.first_port(Star::kMiddle), packet, kMillisecond),
        sc_core::sc_report);
}

}  // namespace sluice::test
