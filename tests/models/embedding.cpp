// SPDX-License-Identifier: Apache-2.0
/// What docs/embedding.md promises, and its code: scripts/check_docs.py finds each of the page's blocks
/// here or in tests/consumer/.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/topology/builders.h"
#include "models/network.h"
#include "tests/models/foreign_models.h"

namespace sluice::test {
namespace {

/// The page's star: hosts 0 to 3, the switch is node 4.
struct Star {
    explicit Star(congestion::Law law = congestion::Law::hpcc)
        : topology(build_star(four_hosts())), routing(topology) {
        config.congestion = congestion::default_parameters(law, 100'000'000'000);
        if (law != congestion::Law::hpcc) {
            config.format.extra_header = 0;
            config.format.ack = 60;
        }
        for (NodeId host = 0; host < 3; ++host) {
            add_flow(host, 3, 1'000'000, host * kMicrosecond);
        }
        assign_source_ports(flows);
    }

    static StarParams four_hosts() {
        StarParams params;
        params.hosts = 4;
        return params;
    }

    void add_flow(NodeId src, NodeId dst, std::int64_t size, Tick start) {
        FlowSpec flow;
        flow.src = src;
        flow.dst = dst;
        flow.size = size;
        flow.start = start;
        flows.push_back(flow);
    }

    Star(const Star&) = delete;
    Star& operator=(const Star&) = delete;

    /// Nothing that a FIFO switch of infinite queues does not do, too.
    void without_limits() {
        config.pfc = false;
        config.buffer.egress_alpha = 0;
        config.ecn.enabled = false;
    }

    Topology topology;
    Routing routing;
    NetworkConfig config;
    std::vector<FlowSpec> flows;
    std::vector<FlowPath> paths;
};

/// The same, and no law slows a sender.
struct PlainStar : Star {
    PlainStar() : Star(congestion::Law::none) { without_limits(); }
};

FlowSpec message(NodeId src, NodeId dst, std::int64_t size) {
    FlowSpec spec;
    spec.src = src;
    spec.dst = dst;
    spec.size = size;
    return spec;
}

step::Packet data_packet(FlowSlot flow, std::uint32_t sequence, bool last) {
    step::Packet packet;
    packet.flow = flow;
    packet.sequence = sequence;
    packet.bytes = 1048;
    packet.traffic_class = 3;
    packet.echo = last ? 1 : 0;
    return packet;
}

void throw_reports() {
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
}

Tick sc_now() { return to_ticks(sc_core::sc_time_stamp()); }

class CountingSwitch : public sluice::Switch {
  public:
    using Switch::Switch;
    void step(const sluice::step::Cell& cell, sluice::Tick begin, sluice::Tick end) override {
        ++windows;
        Switch::step(cell, begin, end);
    }
    std::uint64_t windows = 0;
};

/// No class may take more than three packets of the shared buffer.
struct ThreePackets : sluice::step::ScenarioPolicies {
    static std::int64_t ingress_limit(const sluice::step::World&, const sluice::step::Ingress&,
                                      std::int64_t left) {
        return std::min<std::int64_t>(std::max<std::int64_t>(left, 0), 3 * 1090);
    }
};

/// A queue holds two packets.
struct ShortQueues : step::ScenarioPolicies {
    static double egress_limit(const step::World&, std::int64_t left) {
        return std::min(std::max(static_cast<double>(left), 0.0), 2.0 * 1090);
    }
};

struct MarksAll : step::ScenarioPolicies {
    static bool marks(const step::World&, PortId, step::Egress&, std::uint32_t) { return true; }
};

template <class Module>
NetworkOptions with_switch() {
    NetworkOptions options;
    options.make_node = [](const char* name, NodeId id, const Node::Context& context,
                           step::SwitchScratch& scratch) -> std::unique_ptr<Node> {
        if (id != 4) {
            return nullptr;
        }
        return std::make_unique<Module>(name, id, context, scratch);
    };
    return options;
}

/// Looks at what it is asked to step, and at what its step leaves behind.
class WatchedSwitch : public Switch {
  public:
    using Switch::Switch;
    void step(const step::Cell& cell, Tick begin, Tick end) override {
        whole += cell.ports == nullptr ? 1U : 0U;
        parts += cell.ports == nullptr ? 0U : 1U;
        Switch::step(cell, begin, end);
        wakes_later = wakes_later && world().wake[cell.id] >= end;
        in_lookahead = in_lookahead && end - begin <= world().lookahead;
    }
    std::uint64_t whole = 0;
    std::uint64_t parts = 0;
    bool wakes_later = true;
    bool in_lookahead = true;
};

/// Host 3 answers what it has received by a flow that it describes then.
class Answerer : public Application {
  public:
    void on_begin(NodeId, HostServices&) override {}
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override {
        if (host == 3) {
            answers.push_back(services.open_flow(message(3, static_cast<NodeId>(flow), 5000), now));
        }
    }
    void on_sent(NodeId, FlowId, Tick, HostServices&) override {}
    void on_timer(NodeId, std::uint64_t, Tick, HostServices&) override {}
    std::vector<FlowId> answers;
};

std::vector<Tick> finishes(const Network& network) {
    std::vector<Tick> times;
    for (const FlowResult& result : network.store().results()) {
        times.push_back(result.finish);
    }
    return times;
}

}  // namespace

TEST_CASE("models.embedding.the_simulation_stays_the_callers") {
    Star star;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    CHECK(sc_core::sc_get_status() == sc_core::SC_ELABORATION);
    sc_core::sc_start();
    CHECK(network.clock().at_rest());
    CHECK(sc_core::sc_get_status() == sc_core::SC_PAUSED);
    // Not stopped: it goes on with what comes.
    network.open_flow(message(0, 1, 1000), network.clock().now());
    sc_core::sc_start();
    CHECK(network.store().living_count() == 0);
    CHECK(network.clock().at_rest());
}

TEST_CASE("models.embedding.another_time_resolution_is_reported") {
    Star star;
    // The network has not fixed the resolution: it can still be set.
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    REQUIRE_NOTHROW(sc_core::sc_set_time_resolution(1, sc_core::SC_NS));
    throw_reports();
    CHECK_THROWS_AS(sc_core::sc_start(), sc_core::sc_report);
}

TEST_CASE("models.embedding.an_application_opens_flows") {
    Star star;
    Answerer application;
    std::vector<FlowId> finished;
    NetworkOptions options;
    options.hooks.on_finish = [&](const FlowRecord& flow) { finished.push_back(flow.id); };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    &application, options);
    sc_core::sc_start();
    REQUIRE(application.answers.size() == 3);
    CHECK(finished.size() == 6);
    for (const FlowId answer : application.answers) {
        CHECK(std::count(finished.begin(), finished.end(), answer) == 1);
    }
}

TEST_CASE("models.embedding.hooks") {
    Star star(congestion::Law::none);
    star.config.congestion.window = false;
    star.flows.clear();
    for (NodeId host = 0; host < 3; ++host) {
        star.add_flow(host, 3, 10'000'000, 0);
    }
    assign_source_ports(star.flows);
    std::vector<FlowRecord> finished;
    std::vector<PfcEvent> pauses;
    std::vector<Tick> samples;
    std::vector<Tick> progress;
    bool ahead = true;
    NetworkOptions options = with_switch<PolicySwitch<ThreePackets>>();
    options.hooks.on_finish = [&](const FlowRecord& flow) {
        finished.push_back(flow);
        ahead = ahead && flow.result.finish >= sc_now();
    };
    options.hooks.on_pfc = [&](const PfcEvent& event) { pauses.push_back(event); };
    options.hooks.on_sample = [&](Tick now) { samples.push_back(now); };
    options.hooks.sample_from = 10 * kMicrosecond;
    options.hooks.sample_every = 5 * kMicrosecond;
    options.hooks.sample_to = 20 * kMicrosecond;
    options.hooks.on_progress = [&](Tick now) {
        progress.push_back(now);
        return true;
    };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    REQUIRE(finished.size() == 3);
    CHECK(std::is_sorted(finished.begin(), finished.end(), [](const auto& a, const auto& b) {
        return std::make_pair(a.result.finish, a.id) < std::make_pair(b.result.finish, b.id);
    }));
    CHECK(ahead);
    // Each pause and each resume: one more or less than twice the pauses sent.
    CHECK(pauses.size() > network.counters().pfc_pauses);
    CHECK(std::is_sorted(pauses.begin(), pauses.end(), [](const auto& a, const auto& b) {
        return std::make_pair(a.at, a.port) < std::make_pair(b.at, b.port);
    }));
    CHECK(samples == std::vector<Tick>{10 * kMicrosecond, 15 * kMicrosecond, 20 * kMicrosecond});
    CHECK(progress.size() >= 2);
    CHECK(std::is_sorted(progress.begin(), progress.end()));
}

TEST_CASE("models.embedding.progress_may_end_a_run") {
    Star star;
    star.flows[2].size = 50'000'000;
    NetworkOptions options;
    options.hooks.on_progress = [](Tick now) { return now < kMillisecond; };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    CHECK(network.clock().finished());
    CHECK_FALSE(network.clock().at_rest());
    CHECK_FALSE(network.clock().cut_off());
    CHECK(network.store().results()[2].finish == kNever);
}

TEST_CASE("models.embedding.nothing_is_executed_at_or_after_the_stop") {
    Star star;
    NetworkOptions options;
    options.stop = 20 * kMicrosecond;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    CHECK(network.clock().finished());
    CHECK(network.clock().cut_off());
    CHECK(network.clock().now() <= options.stop);
    CHECK(finishes(network) == std::vector<Tick>(3, kNever));
}

TEST_CASE("models.embedding.links_fail_and_are_repaired") {
    PlainStar star;
    star.flows.clear();
    star.add_flow(0, 3, 10'000, 10 * kMicrosecond);
    star.add_flow(1, 3, 10'000, 10 * kMicrosecond);
    NetworkOptions options;
    const LinkId cable = star.topology.link_of(star.topology.first_port(0));
    options.link_events.push_back({kMicrosecond, cable, false});
    options.link_events.push_back({kMillisecond, cable, true});
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    const std::vector<Tick> finish = finishes(network);
    CHECK(finish[0] > kMillisecond);
    CHECK(finish[0] != kNever);
    CHECK(finish[1] < kMillisecond);
}

TEST_CASE("models.embedding.the_clock_runs_a_millisecond_ahead") {
    PlainStar star;
    star.flows.clear();
    star.add_flow(0, 3, 40'000'000, 0);  // 3.4 ms
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    sc_core::sc_start(1, sc_core::SC_NS);
    CHECK(network.clock().now() > 900 * kMicrosecond);
    CHECK(network.clock().now() <= kMillisecond + 1);
    sc_core::sc_start();
    CHECK(network.store().results()[0].finish > 3 * kMillisecond);
}

TEST_CASE("models.embedding.the_pages_subclass_counts") {
    Star star;
    const auto& [topology, routing_, config, flows, paths] = star;
    Routing& routing = star.routing;
    sluice::NetworkOptions options;
    options.make_node = [](const char* name, sluice::NodeId id,
                           const sluice::Node::Context& context,
                           sluice::step::SwitchScratch& scratch) -> std::unique_ptr<sluice::Node> {
        if (id != 4) {
            return nullptr;  // the default device
        }
        return std::make_unique<CountingSwitch>(name, id, context, scratch);
    };
    sluice::Network network("network", topology, routing, config, flows, paths, nullptr, options);
    sc_core::sc_start();
    CHECK(dynamic_cast<CountingSwitch*>(network.node(4))->windows > 10);
}

TEST_CASE("models.embedding.a_cell_is_a_node_or_a_part_of_a_switch") {
    PlainStar star;
    star.flows.clear();
    star.add_flow(0, 1, 1'000'000, 0);
    star.add_flow(2, 3, 1'000'000, 0);
    NetworkOptions options = with_switch<WatchedSwitch>();
    Network one("one", star.topology, star.routing, star.config, star.flows, star.paths, nullptr,
                options);
    options.partition_clocks = true;
    Network many("many", star.topology, star.routing, star.config, star.flows, star.paths, nullptr,
                 options);
    sc_core::sc_start();
    const auto& whole = dynamic_cast<WatchedSwitch&>(*one.node(4));
    const auto& parts = dynamic_cast<WatchedSwitch&>(*many.node(4));
    CHECK(whole.whole > 0);
    CHECK(whole.parts == 0);
    CHECK(parts.parts > 0);
    CHECK((whole.wakes_later && parts.wakes_later));
    CHECK((whole.in_lookahead && parts.in_lookahead));
    CHECK(finishes(one) == finishes(many));
}

TEST_CASE("models.embedding.the_pages_admission_rule_pauses") {
    Star star(congestion::Law::none);
    star.config.congestion.window = false;
    sluice::NetworkOptions options;
    options.make_node = [](const char* name, sluice::NodeId id,
                           const sluice::Node::Context& context,
                           sluice::step::SwitchScratch& scratch) -> std::unique_ptr<sluice::Node> {
        if (id != 4) {
            return nullptr;
        }
        return std::make_unique<sluice::PolicySwitch<ThreePackets>>(name, id, context, scratch);
    };
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    sc_core::sc_start();
    CHECK(network.counters().pfc_pauses > 0);
    CHECK(network.counters().drops == 0);
}

TEST_CASE("models.embedding.an_egress_limit_and_a_marking_rule_of_ones_own") {
    PlainStar star;
    star.config.congestion.window = false;
    Network plain("plain", star.topology, star.routing, star.config, star.flows, star.paths,
                  nullptr);
    Network shorter("shorter", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, with_switch<PolicySwitch<ShortQueues>>());
    Network marking("marking", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, with_switch<PolicySwitch<MarksAll>>());
    sc_core::sc_start(100, sc_core::SC_US);
    CHECK(plain.counters().drops == 0);
    CHECK(shorter.counters().drops > 0);
    CHECK(plain.counters().ecn_marks == 0);
    CHECK(marking.counters().ecn_marks > 0);
}

TEST_CASE("models.embedding.the_pages_foreign_switch") {
    PlainStar star;
    const auto& [topology, routing_, config, flows, paths] = star;
    Routing& routing = star.routing;
    sluice::NetworkOptions options;
    options.foreign.push_back(4);
    sluice::Network network("network", topology, routing, config, flows, paths, nullptr, options);
    FifoSwitch mine("mine", topology, 4, network);
    Routing own_routing(topology);
    Network ours("ours", topology, own_routing, config, flows, paths, nullptr);
    network.store().world().digest_hops = true;
    ours.store().world().digest_hops = true;
    sc_core::sc_start();
    CHECK(network.counters().hop_checksum == ours.counters().hop_checksum);
    CHECK(finishes(network) == finishes(ours));
    CHECK(network.clock().at_rest());
}

TEST_CASE("models.embedding.a_foreign_switch_forwards_flows_that_were_opened") {
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

TEST_CASE("models.embedding.a_foreign_switch_may_mark") {
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

TEST_CASE("models.embedding.hpcc_learns_nothing_of_a_foreign_switch") {
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

TEST_CASE("models.embedding.a_listed_flow_has_the_slot_of_its_number") {
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

TEST_CASE("models.embedding.a_flow_of_a_foreign_host_is_opened_and_closed") {
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

TEST_CASE("models.embedding.a_foreign_host_answers_what_it_receives") {
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

TEST_CASE("models.embedding.a_foreign_host_is_paused") {
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

TEST_CASE("models.embedding.a_socket_of_ours_answers_at_once") {
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
    CHECK(network.store().record(slot).result.received != kNever);
}

TEST_CASE("models.embedding.what_comes_out_of_order_is_reported") {
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

TEST_CASE("models.embedding.a_flow_for_the_past_is_reported") {
    Star star;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    sc_core::sc_start(1, sc_core::SC_US);
    REQUIRE(network.clock().now() > 0);
    throw_reports();
    CHECK_THROWS_AS(network.open_flow(message(0, 1, 1000), network.clock().now() - 1),
                    sc_core::sc_report);
}

TEST_CASE("models.embedding.a_flow_for_a_time_that_a_foreign_model_has_passed_is_reported") {
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

TEST_CASE("models.embedding.a_large_quantum_suits_a_model_that_announces_early") {
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
    CHECK(network.store().record(slot).result.received > 200 * kMicrosecond);
    CHECK(network.store().record(slot).result.received != kNever);
}

}  // namespace sluice::test
