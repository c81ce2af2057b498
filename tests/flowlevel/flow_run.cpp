// SPDX-License-Identifier: Apache-2.0
/// Flow mode: completion times worked out by hand, beside the packet engine, and under failures;
/// what applications and hooks see; conservation of bytes.
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "core/routing/paths.h"
#include "core/world/lookahead.h"
#include "flowlevel/flow_run.h"
#include "tests/support/error_of.h"
#include "tests/support/star_support.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;
using flowlevel::FlowExperiment;
using flowlevel::FlowRun;

namespace {

FlowExperiment experiment(const Case& given, Application* application = nullptr) {
    return {given.topology, given.config, given.flows, given.paths,
            given.events,   application,  given.stop};
}

std::vector<FlowResult> run_flows(const Case& given) {
    FlowRun run(experiment(given));
    run.run({});
    return run.results();
}

Tick fct(const FlowResult& result) { return result.finish - result.start; }

/// Without headers and ACKs, so that a byte of payload is a byte on the wire.
Case bare_star(std::int64_t hosts) {
    Case given = lawless_star(hosts);
    given.config.format.header = 0;
    given.config.format.ack = 0;
    return given;
}

/// Last packet of 1000 bytes over the second of two links, both delays.
constexpr Tick kBarePipeline = 80'000 + 2 * kMicrosecond;

}  // namespace

TEST_CASE("unit.flowlevel.flow_run.lone_flow_equals_packets") {
    // Over random chains of links the arrival of the last byte and of the last ACK are those of the
    // packet engine, but for two things: rounding of each packet's time to ticks, which adds up over
    // the packets (at most one tick each), and a last packet so short that its ACK waits for the
    // one before it (at most the time of one ACK on the slowest link).
    Dice dice(7);
    const std::int64_t rates[] = {25, 40, 100, 200, 400};
    for (int round = 0; round < 200; ++round) {
        Case given;
        std::vector<Rate> of_links;
        const std::uint32_t links = 2 + dice.below(4);
        given.topology.add_node(NodeKind::host);
        given.topology.add_node(NodeKind::host);
        NodeId from = 0;
        for (std::uint32_t i = 0; i < links; ++i) {
            const NodeId to = i + 1 == links ? 1 : given.topology.add_node(NodeKind::ethernet);
            of_links.push_back(gigabits_per_second(dice.pick(rates)));
            given.topology.add_link(
                {from, to, of_links.back(), (100 + dice.below(5000)) * kNanosecond, 0});
            from = to;
        }
        given.topology.finish();
        given.config = config_for(congestion::Law::none);
        given.config.congestion.window = false;
        given.flows = {flow(0, 1, dice.size(6.0), 7 * kMicrosecond)};
        const FlowResult packets = run_windows(given).flows[0];
        const FlowResult fluid = run_flows(given)[0];
        const std::int64_t count = (given.flows[0].size + 999) / 1000;
        CAPTURE(round);
        CHECK(fluid.start == packets.start);
        CHECK(std::abs(fluid.received - packets.received) <= count + 2);
        const Rate slowest = *std::min_element(of_links.begin(), of_links.end());
        const Tick late = packets.finish - fluid.finish;
        CHECK(late >= -(count + 2));
        CHECK(late <= count + 2 + serialization_time(60, slowest, Arithmetic::exact));
    }
}

TEST_CASE("unit.flowlevel.flow_run.lone_flow_equals_packets_in_whole_nanoseconds") {
    // ns-3's arithmetic makes links up to 1% fast; the flow level's capacities follow.
    Case given = lawless_star(2);
    given.config.arithmetic = Arithmetic::ns3;
    given.flows = {flow(0, 1, 3'000'000, 0)};
    const FlowResult packets = run_ns3(given).flows[0];
    const FlowResult fluid = run_flows(given)[0];
    CHECK(std::abs(fluid.received - packets.received) <= 2);
    CHECK(std::abs(fluid.finish - packets.finish) <= 2);
}

TEST_CASE("unit.flowlevel.flow_run.rates_change_when_flows_come_and_go") {
    // One receiver, 80 ps a byte. The first flow is alone for 40 us (500,000 bytes), then shares
    // until its other 500,000 are gone after 80 us more; the second, with 1,500,000 left of its
    // 2,000,000, needs 120 us alone.
    Case given = bare_star(3);
    given.flows = {flow(0, 2, 1'000'000, 0), flow(1, 2, 2'000'000, 40 * kMicrosecond)};
    const std::vector<FlowResult> results = run_flows(given);
    CHECK(results[0].received == 120 * kMicrosecond + kBarePipeline);
    CHECK(results[0].finish == results[0].received + 2 * kMicrosecond);
    CHECK(results[1].received == 240 * kMicrosecond + kBarePipeline);
}

TEST_CASE("unit.flowlevel.flow_run.headers_and_acks_take_their_part") {
    // Two flows in opposite directions: each direction carries 1048 bytes of data and 60 of the
    // other's ACKs per 1000 bytes, so that a megabyte takes 1,108,000 byte times.
    Case given = lawless_star(2);
    given.flows = {flow(0, 1, 1'000'000, 0), flow(1, 0, 1'000'000, 0)};
    FlowRun run(experiment(given));
    run.run({});
    const Tick sending = Tick{1'108'000} * 80;
    const Tick pipeline = 1048 * 80 + 2 * kMicrosecond;
    CHECK(run.results()[0].received == sending + pipeline);
    CHECK(run.results()[1].received == sending + pipeline);
    for (const PortStatistics& port : run.port_statistics()) {
        CHECK(port.tx_bytes == 1'108'000);
        CHECK(port.tx_packets == 2000);
    }
    // Every fourth packet acknowledged: 250 ACKs.
    given.config.nic.ack_every = 4;
    CHECK(run_flows(given)[0].received == Tick{1'048'000 + 15'000} * 80 + pipeline);
}

TEST_CASE("unit.flowlevel.flow_run.failure_detour_stall_and_repair") {
    // Host 0 - two switches in parallel - host 1, the upper way 100 Gb/s, the lower (two switches,
    // so never chosen while the upper is up) 50 Gb/s.
    Case given = bare_star(2);
    Topology topology;
    const NodeId a = topology.add_node(NodeKind::host);
    const NodeId b = topology.add_node(NodeKind::host);
    const NodeId left = topology.add_node(NodeKind::ethernet);
    const NodeId right = topology.add_node(NodeKind::ethernet);
    const NodeId detour = topology.add_node(NodeKind::ethernet);
    const Rate fast = gigabits_per_second(100);
    topology.add_link({a, left, fast, kMicrosecond, 0});
    const LinkId upper = topology.add_link({left, right, fast, kMicrosecond, 0});
    const LinkId lower =
        topology.add_link({left, detour, gigabits_per_second(50), kMicrosecond, 0});
    topology.add_link({detour, right, gigabits_per_second(50), kMicrosecond, 0});
    topology.add_link({right, b, fast, kMicrosecond, 0});
    topology.finish();
    given.topology = std::move(topology);
    given.flows = {flow(0, 1, 1'000'000, 0)};
    // 20 us at 80 ps a byte: 250,000 bytes. 20 us at 160: 125,000. 60 us of nothing. Then the
    // detour is repaired: 40 us, 250,000 bytes. The rest, 375,000, over the upper link: 30 us.
    given.events = {
        LinkEvent{20 * kMicrosecond, upper, false}, LinkEvent{40 * kMicrosecond, lower, false},
        LinkEvent{100 * kMicrosecond, lower, true}, LinkEvent{140 * kMicrosecond, upper, true}};
    FlowRun run(experiment(given));
    run.run({});
    CHECK(run.results()[0].received == 170 * kMicrosecond + 2 * 80'000 + 3 * kMicrosecond);
    const std::vector<PortStatistics> ports = run.port_statistics();
    const PortId first = given.topology.first_port(left);
    CHECK(ports[given.topology.first_port(a)].tx_bytes == 1'000'000);
    CHECK(ports[first + 1].tx_bytes == 625'000);
    CHECK(ports[first + 2].tx_bytes == 375'000);
    // Without the repairs the flow never ends, and the run does.
    given.events.resize(2);
    FlowRun cut(experiment(given));
    cut.run({});
    CHECK(cut.results()[0].start == 0);
    CHECK(cut.results()[0].received == kNever);
    CHECK_FALSE(cut.cut_off());
}

TEST_CASE("unit.flowlevel.flow_run.spraying_divides_evenly") {
    // Two leaves, four spines of a quarter of the rate each: sprayed, a flow gets all four.
    LeafSpineParams params;
    params.leaves = 2;
    params.spines = 4;
    params.hosts_per_leaf = 1;
    params.fabric_cable.rate = gigabits_per_second(25);
    Case given = bare_star(2);
    given.topology = build_leaf_spine(params);
    given.flows = {flow(0, 1, 10'000'000, 0)};
    CHECK(run_flows(given)[0].received > 4 * Tick{10'000'000} * 80);
    given.config.load_balance = LoadBalance::spray;
    FlowRun run(experiment(given));
    run.run({});
    const Tick sending = Tick{10'000'000} * 80;
    CHECK(run.results()[0].received >= sending);
    CHECK(run.results()[0].received <= sending + 5 * kMicrosecond);
    const std::vector<PortStatistics> ports = run.port_statistics();
    const PortId up = given.topology.first_port(2) + 1;
    for (PortId port = up; port < up + 4; ++port) {
        CHECK(ports[port].tx_bytes == 2'500'000);
    }
    // Of some priorities only.
    given.config.load_balance = LoadBalance::ecmp;
    given.config.sprayed_priorities = 1U << 2;
    CHECK(run_flows(given)[0].received > 4 * sending);
    given.flows[0].priority = 2;
    CHECK(run_flows(given)[0].received == run.results()[0].received);
}

namespace {

/// Answers each flow with the next of the list, after a pause at the receiver; notes all calls.
class PingPong : public Application {
  public:
    struct Call {
        char what;
        NodeId host;
        FlowId flow;
        Tick at;
    };
    void on_begin(NodeId host, HostServices& services) override {
        if (host == 0) {
            services.start_flow(0, 5 * kMicrosecond);
        }
    }
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override {
        calls.push_back({'r', host, flow, now});
        if (flow < 2) {
            services.set_timer(host, now + kMicrosecond, flow + 1);
        }
    }
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices&) override {
        calls.push_back({'s', host, flow, now});
    }
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override {
        calls.push_back({'t', host, static_cast<FlowId>(token), now});
        services.start_flow(static_cast<FlowId>(token), now);
    }
    std::vector<Call> calls;
};

class Meddler : public PingPong {
  public:
    explicit Meddler(std::function<void(HostServices&)> deed) : deed_(std::move(deed)) {}
    void on_begin(NodeId host, HostServices& services) override {
        if (host == 0) {
            deed_(services);
        }
    }
    void on_received(NodeId, FlowId, Tick, HostServices&) override {}

  private:
    std::function<void(HostServices&)> deed_;
};

}  // namespace

TEST_CASE("unit.flowlevel.flow_run.applications_act_at_their_hosts_instants") {
    Case given = bare_star(2);
    given.flows = {flow(0, 1, 1000, kNever), flow(1, 0, 2000, kNever), flow(0, 1, 1000, kNever)};
    PingPong application;
    FlowRun run(experiment(given, &application));
    std::vector<std::pair<Tick, FlowId>> finished;
    RunHooks hooks;
    hooks.on_finish = [&](const FlowRecord& flow) {
        finished.emplace_back(flow.result.finish, flow.id);
    };
    run.run(hooks);
    // A packet of 1000 bytes takes 2 x 80 ns + 2 us to arrive, one more 80 ns more; ACKs 2 us.
    const Tick first = 5 * kMicrosecond + 160'000 + 2 * kMicrosecond;
    const Tick second = first + kMicrosecond + 240'000 + 2 * kMicrosecond;
    const Tick third = second + kMicrosecond + 160'000 + 2 * kMicrosecond;
    const std::vector<std::tuple<char, NodeId, FlowId, Tick>> expected = {
        {'r', 1, 0, first},
        {'t', 1, 1, first + kMicrosecond},
        {'s', 0, 0, first + 2 * kMicrosecond},
        {'r', 0, 1, second},
        {'t', 0, 2, second + kMicrosecond},
        {'s', 1, 1, second + 2 * kMicrosecond},
        {'r', 1, 2, third},
        {'s', 0, 2, third + 2 * kMicrosecond}};
    REQUIRE(application.calls.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const PingPong::Call& call = application.calls[i];
        CHECK(std::make_tuple(call.what, call.host, call.flow, call.at) == expected[i]);
    }
    CHECK(finished.size() == 3);
    CHECK(std::is_sorted(finished.begin(), finished.end()));
    CHECK(run.now() == third + 2 * kMicrosecond);
}

TEST_CASE("unit.flowlevel.flow_run.refuses_what_no_host_can_do") {
    Case given = bare_star(2);
    given.flows = {flow(0, 1, 1000, kNever), flow(1, 0, 1000, kNever)};
    const Tick lookahead = step::network_lookahead(given.topology, given.config);
    const auto attempt = [&](std::function<void(HostServices&)> deed) {
        Meddler application(std::move(deed));
        FlowRun run(experiment(given, &application));
        run.run({});
    };
    CHECK_THROWS_AS(attempt([](HostServices& at) { at.start_flow(1, 0); }), InternalError);
    CHECK_THROWS_AS(attempt([](HostServices& at) { at.start_flow(0, -1); }), InternalError);
    CHECK_THROWS_AS(attempt([&](HostServices& at) { at.set_timer(1, lookahead - 1, 0); }),
                    InternalError);
    attempt([&](HostServices& at) {
        CHECK(at.lookahead() == lookahead);
        at.set_timer(1, lookahead, 1);
    });
    given.flows = {flow(0, 0, 1000, 0)};
    CHECK(error_of([&] { run_flows(given); }) ==
          "flow 0 goes from node 0 to node 0; allowed: two different hosts");
    given.flows = {flow(0, 1, 0, 0)};
    CHECK(error_of([&] { run_flows(given); }) == "flow 0 has 0 bytes; allowed: at least 1");
    given.flows = {flow(0, 1, 10, 0, 9)};
    CHECK(error_of([&] { run_flows(given); }) == "flow 0 has priority 9; allowed: 1 to 7");
}

TEST_CASE("unit.flowlevel.flow_run.stop_time_and_progress_end_a_run") {
    Case given = bare_star(3);
    given.flows = {flow(0, 2, 1'000'000, 0), flow(1, 2, 1'000'000, 0)};
    given.stop = 100 * kMicrosecond;
    FlowRun run(experiment(given));
    run.run({});
    CHECK(run.cut_off());
    CHECK(run.now() == 100 * kMicrosecond);
    CHECK(run.results()[0].finish == kNever);
    // Each has sent 100 us at 160 ps a byte.
    CHECK(run.port_statistics()[given.topology.first_port(0)].tx_bytes == 625'000);
    given.stop = kNever;
    FlowRun stopped(experiment(given));
    RunHooks hooks;
    hooks.interval = kMicrosecond;
    hooks.on_progress = [](Tick now) { return now < 150 * kMicrosecond; };
    stopped.run(hooks);
    CHECK_FALSE(stopped.cut_off());
    CHECK(stopped.now() == 160 * kMicrosecond);
    CHECK(stopped.results()[0].finish == kNever);
}

TEST_CASE("unit.flowlevel.flow_run.bytes_are_conserved_and_links_not_overloaded") {
    // Random flows on a fat-tree with failures: what leaves hosts as data and arrives is the sizes
    // and their headers (ACKs apart), and no port sends more than its rate allows.
    FatTreeParams params;
    params.k = 4;
    Dice dice(3);
    Case given;
    given.topology = build_fat_tree(params);
    given.config = config_for(congestion::Law::none);
    given.config.format.ack = 0;
    given.config.congestion.window = false;
    std::int64_t wire = 0;
    for (int i = 0; i < 400; ++i) {
        const NodeId src = dice.below(16);
        const NodeId dst = (src + 1 + dice.below(15)) % 16;
        const std::int64_t size = 1 + dice.below(2'000'000);
        given.flows.push_back(flow(src, dst, size, dice.below(1000) * kMicrosecond));
        wire += size + (size + 999) / 1000 * 48;
    }
    assign_source_ports(given.flows);
    for (int i = 0; i < 20; ++i) {
        const LinkId link = 16 + dice.below(32);  // between switches
        const Tick at = dice.below(2000) * kMicrosecond;
        given.events.push_back({at, link, false});
        given.events.push_back({at + 100 * kMicrosecond, link, true});
    }
    FlowRun run(experiment(given));
    run.run({});
    for (const FlowResult& result : run.results()) {
        CHECK(result.finish != kNever);
    }
    const std::vector<PortStatistics> ports = run.port_statistics();
    std::int64_t left = 0;
    std::int64_t arrived = 0;
    for (PortId port = 0; port < given.topology.port_count(); ++port) {
        left += given.topology.is_host(given.topology.node_of(port)) ? ports[port].tx_bytes : 0;
        arrived += given.topology.is_host(given.topology.neighbor(port)) ? ports[port].tx_bytes : 0;
        CHECK(ports[port].tx_bytes * 80 <= run.now());
    }
    // Rerouted flows are rounded to bytes per path.
    CHECK(std::abs(left - wire) <= 400);
    CHECK(std::abs(arrived - wire) <= 400);
    // The same again gives the same again.
    const std::vector<FlowResult> again = run_flows(given);
    CHECK(first_difference(again, run.results()) == -1);
}

TEST_CASE("unit.flowlevel.flow_run.ports_carry_what_they_carry_in_packets") {
    // Same paths, headers and ACKs: without losses and pauses every port sends the same bytes and
    // frames, whatever the order.
    FatTreeParams params;
    params.k = 4;
    Dice dice(9);
    Case given;
    given.topology = build_fat_tree(params);
    for (const std::int32_t every : {1, 4}) {
        given.config = config_for(congestion::Law::dctcp);
        given.config.pfc = false;
        given.config.nic.ack_every = every;
        given.config.congestion.window = false;
        given.flows.clear();
        for (int i = 0; i < 60; ++i) {
            const NodeId src = dice.below(16);
            given.flows.push_back(flow(src, (src + 1 + dice.below(15)) % 16,
                                       1 + dice.below(100'000), dice.below(1000) * kMicrosecond));
        }
        assign_source_ports(given.flows);
        const Outcome packets = run_windows(given);
        REQUIRE(packets.counters.drops == 0);
        REQUIRE(packets.counters.retransmitted_bytes == 0);
        FlowRun run(experiment(given));
        run.run({});
        const std::vector<PortStatistics> ports = run.port_statistics();
        bool same_bytes = true;
        bool same_frames = true;
        for (std::size_t port = 0; port < ports.size(); ++port) {
            same_bytes &= ports[port].tx_bytes == packets.ports[port].tx_bytes;
            same_frames &= ports[port].tx_packets == packets.ports[port].tx_packets;
        }
        CHECK(same_bytes);
        CHECK(same_frames);
    }
}

TEST_CASE("unit.flowlevel.flow_run.close_to_packets_where_the_law_shares_fairly") {
    // Five flows of 4 MB into one receiver and one past them. The bounds are what was found, rounded
    // up. Under the other laws these five are up to 47% off (docs/models/flow_level.md): their
    // shares start unequal and drift for longer than the flows last.
    const auto worst_error = [](const Case& given) {
        const std::vector<FlowResult> packets = run_windows(given).flows;
        const std::vector<FlowResult> fluid = run_flows(given);
        double worst = 0;
        for (std::size_t i = 0; i < fluid.size(); ++i) {
            worst = std::max(worst, std::abs(static_cast<double>(fct(fluid[i])) /
                                                 static_cast<double>(fct(packets[i])) -
                                             1));
        }
        return worst;
    };
    Case given = lawless_star(8);
    for (NodeId src = 0; src < 5; ++src) {
        given.flows.push_back(flow(src, 7, 4'000'000, src * kMicrosecond));
    }
    given.flows.push_back(flow(5, 6, 4'000'000, 0));
    CHECK(worst_error(given) < 0.003);
    given.config = config_for(congestion::Law::dctcp);
    CHECK(worst_error(given) < 0.05);
    // HPCC alone on its path: 95% of the rate, after a start at all of it.
    given.config = config_for(congestion::Law::hpcc);
    given.flows = {flow(5, 6, 4'000'000, 0)};
    CHECK(worst_error(given) < 0.005);
}

TEST_CASE("unit.flowlevel.flow_run.messages_of_a_connection_follow_each_other") {
    // A byte takes 80 ps. The second is sent when the first has left, the short third does not
    // overtake it, and another connection shares the NIC evenly all the while.
    Case given = bare_star(3);
    given.flows = {flow(0, 1, 100'000, 0), flow(0, 1, 50'000, kMicrosecond),
                   flow(0, 1, 1, kMicrosecond), flow(0, 2, 150'001, 0)};
    for (FlowId f = 0; f < 3; ++f) given.flows[f].connection = 0;
    const std::vector<FlowResult> ordered = run_flows(given);
    CHECK(ordered[0].start == 0);
    CHECK(ordered[1].start == 2 * 100'000 * 80);
    CHECK(ordered[2].start == 2 * 150'000 * 80);
    CHECK(ordered[0].received == 2 * 100'000 * 80 + kBarePipeline);
    CHECK(ordered[1].received == 2 * 150'000 * 80 + kBarePipeline);
    CHECK(ordered[2].received >= ordered[1].received);
    CHECK(ordered[2].received < ordered[1].received + 1'000);
    CHECK(ordered[3].received == 2 * 150'001 * 80 + kBarePipeline);
    for (FlowSpec& spec : given.flows) spec.overlaps = true;
    const std::vector<FlowResult> beside = run_flows(given);
    CHECK(beside[1].start == kMicrosecond);
    CHECK(beside[2].received < ordered[2].received / 4);
}
