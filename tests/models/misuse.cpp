// SPDX-License-Identifier: Apache-2.0
/// What a testbench may do wrong: told by a report or an error, never by a crash or by silence.
#include <doctest/doctest.h>

#include <string>

#include "core/error.h"
#include "core/job/job_set.h"
#include "models/foreign/foreign_models.h"
#include "tests/models/page_star.h"

namespace sluice::test {

using namespace foreign;

TEST_CASE("models.misuse.a_packet_that_no_step_can_take_is_reported") {
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
    const auto refused = [&](const char* why, auto&& change) {
        step::Packet packet = data_packet(slot, 0, false);
        change(packet);
        try {
            host.port.send(packet, sc_now() + 50 * kMicrosecond);
            FAIL("taken");
        } catch (const sc_core::sc_report& report) {
            CHECK(std::string(report.get_msg()).find(why) != std::string::npos);
        }
    };
    refused("60000 bytes on the wire; allowed: 1 to 1048",
            [](step::Packet& packet) { packet.bytes = 60'000; });
    refused("0 bytes", [](step::Packet& packet) { packet.bytes = 0; });
    refused("no flow", [](step::Packet& packet) { packet.flow = 4'000'000; });
    refused("sequence 2 of a flow of 2", [](step::Packet& packet) { packet.sequence = 2; });
    refused("is of kind 6", [](step::Packet& packet) { packet.kind = 6; });
    refused("for class 8", [](step::Packet& packet) {
        packet.kind = static_cast<std::uint16_t>(step::PacketKind::pause);
        packet.sequence = 8;
    });
    refused("sequence 3 of a flow of 2", [](step::Packet& packet) {
        packet.kind = static_cast<std::uint16_t>(step::PacketKind::ack);
        packet.sequence = 3;
    });
}

TEST_CASE("models.misuse.a_packet_of_a_flow_that_is_over_is_dropped") {
    PlainStar star;
    star.flows.clear();
    NetworkOptions options;
    options.foreign = {0};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    ForeignHost host("host", star.topology, 0, network);
    FlowSlot slot = kNone;
    host.on_packet = [&](const step::Packet&, Tick) { network.close_foreign_flow(slot); };
    sc_core::sc_start(1, sc_core::SC_US);
    slot = network.open_foreign_flow(message(0, 3, 1000));
    host.transmit(data_packet(slot, 0, true), sc_now());
    sc_core::sc_start(1, sc_core::SC_MS);
    REQUIRE(network.store().living_count() == 0);
    host.transmit(data_packet(slot, 0, true), sc_now());
    sc_core::sc_start();
    CHECK(network.counters().drops == 1);
    CHECK(host.heard.size() == 1);
}

TEST_CASE("models.misuse.what_does_not_exist_is_refused") {
    PlainStar star;
    NetworkOptions options;
    options.foreign = {44};
    const auto build = [&] {
        Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                        nullptr, options);
    };
    CHECK_THROWS_WITH_AS(build(), "NetworkOptions::foreign names node 44; allowed: 0 to 4",
                         ConfigError);
    options.foreign = {4};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    FifoSwitch mine("mine", star.topology, 4, network);
    CHECK_THROWS_AS(network.port(star.topology.first_port(4)), ConfigError);
    CHECK_THROWS_AS(network.port(1000), ConfigError);
    CHECK_THROWS_AS(network.node(5), ConfigError);
    CHECK(network.node(4) == nullptr);
}

TEST_CASE("models.misuse.a_start_at_a_foreign_host_is_refused") {
    PlainStar star;
    NetworkOptions options;
    options.foreign = {1};
    const auto build = [&] {
        Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                        nullptr, options);
    };
    CHECK_THROWS_WITH_AS(build(),
                         "flow 1 is to start at 1000000 ps at host 1, which is a foreign model and "
                         "starts its own; allowed: kNever",
                         ConfigError);
}

namespace {

/// Opens a flow at every host when it begins, or sets a timer of host 1 when host 3 has received.
class Careless : public Application {
  public:
    explicit Careless(bool at_once) : at_once_(at_once) {}
    void on_begin(NodeId host, HostServices& services) override {
        if (at_once_ && host < 3) {
            services.open_flow(message(host, 3, 1000), kMicrosecond);
        }
    }
    void on_received(NodeId, FlowId, Tick now, HostServices& services) override {
        services.set_timer(1, now + services.lookahead(), 0);
    }
    void on_sent(NodeId, FlowId, Tick, HostServices&) override {}
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}

  private:
    bool at_once_;
};

std::string report_of_run() {
    throw_reports();
    try {
        sc_core::sc_start();
    } catch (const sc_core::sc_report& report) {
        return report.get_msg();
    }
    return "";
}

}  // namespace

TEST_CASE("models.misuse.an_application_that_begins_at_a_foreign_host_is_reported") {
    PlainStar star;
    star.flows.clear();
    NetworkOptions options;
    options.foreign = {1};
    Careless careless(true);
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    &careless, options);
    ForeignHost host("host", star.topology, 1, network);
    CHECK(report_of_run().find("is to start at host 1") != std::string::npos);
}

TEST_CASE("models.misuse.a_rank_at_a_foreign_host_is_refused") {
    PlainStar star;
    star.flows.clear();
    star.add_flow(0, 2, 1000, kNever);
    NetworkOptions options;
    options.foreign = {1};
    // Rank 1 only receives: nothing that it does could be told.
    const auto one_message = [] {
        JobGraph graph(2);
        graph.add_message(0, 1, 1000, {});
        graph.finish();
        return graph;
    };
    const auto refuses = [&](Application& application) {
        CHECK_THROWS_WITH_AS(
            Network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    &application, options),
            "the application has something at host 1, which is a foreign model: nobody would tell "
            "it there what arrives; allowed: an application at the network's own hosts",
            ConfigError);
    };
    JobApplication job(one_message(), {0, 1});
    refuses(job);
    JobSet set;
    set.add(std::make_unique<JobApplication>(one_message(), std::vector<NodeId>{0, 1}), 0);
    refuses(set);
    JobApplication beside(one_message(), {0, 2});
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    &beside, options);
    ForeignHost host("host", star.topology, 1, network);
    sc_core::sc_start();
    CHECK(beside.complete());
}

TEST_CASE("models.misuse.an_applications_timer_at_a_foreign_host_is_reported") {
    PlainStar star;
    star.flows = {star.flows[0]};
    NetworkOptions options;
    options.foreign = {1};
    Careless careless(false);
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    &careless, options);
    ForeignHost host("host", star.topology, 1, network);
    CHECK(report_of_run().find("the application has a timer at host 1") != std::string::npos);
}

TEST_CASE("models.misuse.a_switch_without_int_is_told") {
    Star star(congestion::Law::hpcc);
    NetworkOptions options;
    options.foreign = {4};
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
    const auto warnings = [] {
        return sc_core::sc_report_handler::get_count("sluice/network", sc_core::SC_WARNING);
    };
    PlainStar plain;
    Network silent("silent", plain.topology, plain.routing, plain.config, plain.flows, plain.paths,
                   nullptr, options);
    FifoSwitch one("one", plain.topology, 4, silent);
    CHECK(warnings() == 0);
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    FifoSwitch other("other", star.topology, 4, network);
    CHECK(warnings() == 1);
}

namespace {

/// Moves packets as a Switch does, and writes no INT records.
class BlindSwitch : public Switch {
  public:
    using Switch::Switch;
    void step(const step::Cell& cell, Tick begin, Tick end) override {
        const std::uint32_t block = world().int_block;
        world().int_block = 0;
        Switch::step(cell, begin, end);
        world().int_block = block;
    }
};

/// Warnings of a run of `star` with the modules of `options`.
int warnings_of(Star& star, NetworkOptions options) {
    using sc_core::sc_report_handler;
    sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
    const int before = sc_report_handler::get_count("sluice/network", sc_core::SC_WARNING);
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, std::move(options));
    sc_core::sc_start();
    CHECK(network.store().living_count() == 0);
    return sc_report_handler::get_count("sluice/network", sc_core::SC_WARNING) - before;
}

}  // namespace

TEST_CASE("models.misuse.a_subclass_without_int_is_told") {
    Star star(congestion::Law::hpcc);
    CHECK(warnings_of(star, with_switch<BlindSwitch>()) == 1);
}

TEST_CASE("models.misuse.a_subclass_without_int_that_nobody_needs_is_not_told") {
    PlainStar star;
    CHECK(warnings_of(star, with_switch<BlindSwitch>()) == 0);
}

TEST_CASE("models.misuse.a_subclass_with_int_is_not_told") {
    Star star(congestion::Law::hpcc);
    CHECK(warnings_of(star, with_switch<PolicySwitch<ThreePackets>>()) == 0);
}

TEST_CASE("models.misuse.a_finer_resolution_gives_the_same_times") {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    PlainStar star;
    NetworkOptions options;
    options.foreign = {4};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    FifoSwitch mine("mine", star.topology, 4, network);
    Routing own_routing(star.topology);
    Network ours("ours", star.topology, own_routing, star.config, star.flows, star.paths, nullptr);
    network.store().world().digest_hops = true;
    ours.store().world().digest_hops = true;
    sc_core::sc_start(1, sc_core::SC_MS);
    // One flow at 1048 bytes a packet of 83.84 ns is the first to end, after 1000 of them at least.
    CHECK(finishes(ours)[0] > 83'840 * 1000);
    CHECK(finishes(ours)[0] < 400 * kMicrosecond);
    CHECK(finishes(network) == finishes(ours));
    CHECK(network.counters().hop_checksum == ours.counters().hop_checksum);
    // Between two ticks: what is ordered now is for the later one.
    sc_core::sc_start(1500, sc_core::SC_FS);
    CHECK(network.clock().earliest() == kMillisecond + 2);
    CHECK(to_ticks(sc_core::sc_time_stamp()) == kMillisecond + 1);
    network.open_flow(message(0, 1, 1000), network.clock().earliest());
    sc_core::sc_start();
    CHECK(network.clock().at_rest());
    CHECK(network.store().living_count() == 0);
}

TEST_CASE("models.misuse.a_time_past_systemcs_last_is_reported") {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    PlainStar star;
    star.flows = {star.flows[0]};
    star.flows[0].start = 20'000 * kSecond;  // SystemC's ends after 18,446 s
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    throw_reports();
    CHECK_THROWS_AS(sc_core::sc_start(), sc_core::sc_report);
}

TEST_CASE("models.misuse.a_coarser_resolution_is_refused") {
    PlainStar star;
    // The network has not fixed the resolution: it can still be set.
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    REQUIRE_NOTHROW(sc_core::sc_set_time_resolution(1, sc_core::SC_NS));
    CHECK_THROWS_WITH_AS(sc_core::sc_start(),
                         "SystemC's time resolution is 1 ns, the network counts picoseconds; "
                         "allowed: 1 ps, SystemC's default, or finer (sc_set_time_resolution)",
                         ConfigError);
}

TEST_CASE("models.misuse.what_is_set_for_the_past_is_reported") {
    Star star;
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    network.open_flow(message(0, 1, 1'000'000), 0);
    sc_core::sc_start(1, sc_core::SC_MS);
    REQUIRE(network.clock().now() > kMicrosecond);
    step::WorldStore& store = network.store();
    store.open_flow(store.world(), message(2, 1, 1000), kMicrosecond);
    throw_reports();
    CHECK_THROWS_AS(network.clock().wake(), sc_core::sc_report);
}

}  // namespace sluice::test
