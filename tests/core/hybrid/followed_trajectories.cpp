// SPDX-License-Identifier: Apache-2.0
/// Local phases in which groups follow others of their kind from the instant on at which they form.
#include "core/random.h"
#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

PhaseConfig packets() {
    PhaseConfig config = local_phases();
    config.skip = false;
    return config;
}

/// Two leaves of so many hosts each and one spine, whose cables are as fast as the hosts': who crosses, meets.
Case crossed(std::vector<FlowSpec> flows, std::uint32_t hosts = 4) {
    LeafSpineParams shape;
    shape.leaves = 2;
    shape.spines = 1;
    shape.hosts_per_leaf = hosts;
    Case given;
    given.topology = build_leaf_spine(shape);
    given.config.congestion.law = congestion::Law::hpcc;
    given.flows = std::move(flows);
    return given;
}

double mean_time(const HybridOutcome& made) {
    double sum = 0;
    for (const FlowResult& flow : made.outcome.flows) {
        REQUIRE(flow.finish != kNever);
        sum += static_cast<double>(flow.finish - flow.start);
    }
    return sum / static_cast<double>(made.outcome.flows.size());
}

/// Pairs that meet between the leaves, from different hosts; the second one starts later by a part of what the first lasts.
std::vector<FlowSpec> pairs(int count) {
    std::vector<FlowSpec> flows;
    for (int i = 0; i < count; ++i) {
        const Tick start = i * 2 * kMillisecond;
        const auto a = static_cast<NodeId>(i % 4);
        const auto b = static_cast<NodeId>((i + 1) % 4);
        flows.push_back(flow(a, 4 + a, 4'000'000, start));
        flows.push_back(flow(b, 4 + b, 4'000'000, start + (i * 7 % 20) * 10 * kMicrosecond));
    }
    return flows;
}

/// Waves of messages between neighbours on one leaf, which begin within a microsecond.
std::vector<FlowSpec> waves(int count, std::int64_t size) {
    std::vector<FlowSpec> flows;
    for (int wave = 0; wave < count; ++wave) {
        for (NodeId host = 0; host < 16; host += 2) {
            const Tick late = (wave * 7 + static_cast<int>(host) * 5) % 11 * 90 * kNanosecond;
            flows.push_back(flow(host, host + 1, size, wave * kMillisecond + late));
        }
    }
    return flows;
}

/// Waves of all-to-alls among the hosts of one leaf: each host's messages begin at an instant of their own.
std::vector<FlowSpec> all_to_alls(int waves, std::int64_t size) {
    std::vector<FlowSpec> flows;
    for (int wave = 0; wave < waves; ++wave) {
        for (NodeId host = 0; host < 4; ++host) {
            const Tick late = (wave * 7 + static_cast<int>(host) * 5) % 11 * 10 * kMicrosecond;
            for (NodeId other = 1; other < 4; ++other) {
                flows.push_back(
                    flow(host, (host + other) % 4, size, wave * 2 * kMillisecond + late));
            }
        }
    }
    return flows;
}

/// In the mean what packets take, up to `tolerance`, with fewer than a `fewer`-th of their packet-hops.
void check_mean(const Case& given, double tolerance, std::uint64_t fewer) {
    const HybridOutcome all = run_hybrid(given, packets(), Driver::windows);
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    CHECK(mean_time(made) == doctest::Approx(mean_time(all)).epsilon(tolerance));
    CHECK(made.outcome.counters.packet_hops < all.outcome.counters.packet_hops / fewer);
}

/// Each flow takes what it takes by packets, up to `tolerance`.
void check_times(const HybridOutcome& all, const HybridOutcome& made, double tolerance) {
    for (std::size_t i = 0; i < all.outcome.flows.size(); ++i) {
        const auto time = [i](const HybridOutcome& outcome) {
            const FlowResult& flow = outcome.outcome.flows[i];
            return static_cast<double>(flow.finish - flow.start);
        };
        CHECK(time(made) == doctest::Approx(time(all)).epsilon(tolerance));
    }
}

void check_two_engines(const Case& given, std::uint64_t least_skips) {
    const HybridOutcome windows = run_hybrid(given, local_phases(), Driver::windows);
    const HybridOutcome oracle = run_hybrid(given, local_phases(), Driver::oracle);
    check_same(windows.outcome, oracle.outcome);
    CHECK(windows.phases.skips == oracle.phases.skips);
    CHECK(windows.phases.skips > least_skips);
}

}  // namespace

TEST_CASE("unit.trajectories.all_to_alls_do_as_those_before_them_in_the_mean") {
    check_mean(crossed(all_to_alls(30, 4'000'000)), 0.004, 4);
}

TEST_CASE("unit.trajectories.two_engines_agree_on_all_to_alls") {
    check_two_engines(crossed(all_to_alls(20, 3'000'000)), 30);
}

TEST_CASE("unit.trajectories.ends_that_are_told_leave_every_port_its_packets") {
    std::vector<FlowSpec> flows = all_to_alls(12, 3'000'100);
    for (const FlowSpec& other : pairs(30)) {
        flows.push_back(other);
        flows.back().start += 30 * kMillisecond;
    }
    const Case given = crossed(flows);
    const HybridOutcome all = run_hybrid(given, packets(), Driver::windows);
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    REQUIRE(made.outcome.counters.packet_hops < all.outcome.counters.packet_hops / 3);
    for (std::size_t port = 0; port < all.outcome.ports.size(); ++port) {
        CHECK(made.outcome.ports[port].tx_packets == all.outcome.ports[port].tx_packets);
        CHECK(made.outcome.ports[port].tx_bytes == all.outcome.ports[port].tx_bytes);
    }
    for (const FlowResult& flow : made.outcome.flows) {
        CHECK(flow.received > flow.start);
        CHECK(flow.finish > flow.received);
        CHECK(flow.finish < kNever);
    }
}

TEST_CASE("unit.trajectories.a_message_may_wait_behind_one_that_is_told") {
    // Of one connection, one behind the other: the second has its turn when the first has left.
    std::vector<FlowSpec> flows;
    for (int i = 0; i < 24; ++i) {
        FlowSpec message = flow(static_cast<NodeId>(i % 4), 4, 2'000'000, i * kMillisecond);
        message.connection = static_cast<ConnectionId>(i);
        flows.push_back(message);
        message.start += 20 * kMicrosecond;
        flows.push_back(message);
    }
    const Case given = crossed(flows);
    const HybridOutcome all = run_hybrid(given, packets(), Driver::windows);
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    CHECK(mean_time(made) == doctest::Approx(mean_time(all)).epsilon(0.01));
    for (std::size_t i = 0; i < flows.size(); i += 2) {
        CHECK(made.outcome.flows[i].received < made.outcome.flows[i + 1].received);
    }
}

TEST_CASE("unit.trajectories.an_exchange_that_others_cross_goes_on_by_itself") {
    // One all-to-all, and later a message from elsewhere to one of its hosts: nobody has done this before.
    Case given = crossed({}, 8);
    for (NodeId host = 0; host < 8; ++host) {
        for (NodeId other = 1; other < 8; ++other) {
            given.flows.push_back(
                flow(host, (host + other) % 8, 5'000'000, host * 3 * kMicrosecond));
        }
    }
    given.flows.push_back(flow(8, 0, 10'000'000, 1500 * kMicrosecond));
    given.config.format.payload = 250;  // windows are of many packets
    check_mean(given, 0.015, 3);
    check_two_engines(given, 8);
}

TEST_CASE("unit.trajectories.incasts_keep_their_shares") {
    // Which share a flow has come to, no kind tells: nobody follows.
    Case given = crossed({});
    for (int wave = 0; wave < 20; ++wave) {
        for (NodeId host = 1; host < 8; ++host) {
            const Tick late = (wave * 7 + static_cast<int>(host) * 5) % 11 * 2 * kMicrosecond;
            given.flows.push_back(flow(host, 0, 1'000'000, wave * kMillisecond + late));
        }
    }
    check_mean(given, 0.003, 1);
}

TEST_CASE("unit.trajectories.messages_alone_do_as_those_before_them") {
    std::vector<FlowSpec> flows;
    for (int i = 0; i < 40; ++i) {
        const auto from = static_cast<NodeId>(i % 4);
        const auto to = static_cast<NodeId>(4 + i * 3 % 4);
        flows.push_back(flow(from, to, 6'000'000 + i * 10'000, i * kMillisecond));
    }
    const Case given = crossed(flows);
    const HybridOutcome all = run_hybrid(given, packets(), Driver::windows);
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const auto time = [i](const HybridOutcome& outcome) {
            const FlowResult& flow = outcome.outcome.flows[i];
            return static_cast<double>(flow.finish - flow.start);
        };
        CHECK(time(made) == doctest::Approx(time(all)).epsilon(4e-3));
    }
    CHECK(made.outcome.counters.packet_hops < all.outcome.counters.packet_hops / 8);
}

TEST_CASE("unit.trajectories.a_wave_goes_on_as_the_first_of_it") {
    const Case given = crossed(waves(1, 3'000'000), 16);
    const HybridOutcome all = run_hybrid(given, packets(), Driver::windows);
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    check_times(all, made, 2e-3);
    CHECK(made.outcome.counters.packet_hops < all.outcome.counters.packet_hops / 4);
    check_two_engines(crossed(waves(6, 2'000'000), 16), 40);
}

TEST_CASE("unit.trajectories.a_flow_whose_aim_moves_is_recorded_anew") {
    // Two pairs of messages, one each way. When the first of a pair has ended, its ACKs leave the other one more: what that has
    // done before does not say what it does now.
    Case given;
    given.topology = build_star({4, {gigabits_per_second(100), 5 * kMicrosecond}});
    given.config.congestion.law = congestion::Law::hpcc;
    given.flows = {flow(0, 1, 12'304'710, 11'158 * kNanosecond),
                   flow(1, 0, 15'067'691, 806'080 * kNanosecond),
                   flow(2, 3, 18'248'183, 91'126 * kNanosecond),
                   flow(3, 2, 12'340'869, 915'432 * kNanosecond)};
    const HybridOutcome all = run_hybrid(given, packets(), Driver::windows);
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    check_times(all, made, 0.02);
    CHECK(10 * made.outcome.counters.packet_hops < 3 * all.outcome.counters.packet_hops);
}

TEST_CASE("unit.trajectories.what_joins_a_message_shares_with_it_as_with_packets") {
    // Halfway through each message of some waves a second one to its receiver begins. Each at another place of HPCC's steps, as
    // the first message's time depends on that by 5%: pairs alike would be a single sample.
    std::vector<FlowSpec> flows;
    for (int wave = 0; wave < 24; ++wave) {
        for (NodeId host = 0; host < 15; host += 3) {
            const Tick start =
                wave * 2 * kMillisecond + (wave * 5 + static_cast<int>(host)) * 130 * kNanosecond;
            const Tick place = static_cast<Tick>(mix_bits(flows.size()) % 10'000) * kNanosecond;
            flows.push_back(flow(host, host + 2, 3'000'000, start));
            flows.push_back(
                flow(host + 1, host + 2, 3'000'000, start + (110 + wave) * kMicrosecond + place));
        }
    }
    check_mean(crossed(flows, 16), 0.012, 7);
}

TEST_CASE("unit.trajectories.messages_that_begin_at_once_meet_once") {
    // Three senders to each receiver: as a skip ends, their first packets must not arrive together for a second time.
    std::vector<FlowSpec> flows;
    for (int wave = 0; wave < 20; ++wave) {
        for (NodeId host = 0; host < 16; host += 4) {
            const Tick start = wave * 3 * kMillisecond + static_cast<int>(host) * 400 * kNanosecond;
            for (NodeId other = 0; other < 3; ++other) {
                const auto size =
                    static_cast<std::int64_t>(2'000'000 + mix_bits(flows.size()) % 400 * 1'000);
                flows.push_back(flow(host + other, host + 3, size, start));
            }
        }
    }
    const Case given = crossed(flows, 16);
    check_mean(given, 0.003, 4);
    const HybridOutcome all = run_hybrid(given, packets(), Driver::windows);
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    for (std::size_t port = 0; port < all.outcome.ports.size(); ++port) {
        CHECK(made.outcome.ports[port].tx_packets == all.outcome.ports[port].tx_packets);
        CHECK(made.outcome.ports[port].tx_bytes == all.outcome.ports[port].tx_bytes);
    }
    check_two_engines(given, 40);
}

TEST_CASE("unit.trajectories.what_interrupts_a_message_meets_as_much_of_it_as_with_packets") {
    // Three round trips' bytes, every forty of them, to who receives a long message. What is under way as a skip is interrupted
    // has to be what the long message sends by then, or the short one is 3% late.
    std::vector<FlowSpec> flows;
    for (NodeId host = 0; host < 16; host += 4) {
        flows.push_back(flow(host, host + 1, 60'000'000, static_cast<int>(host) * kMicrosecond));
        for (int post = 0; post < 28; ++post) {
            const auto place = static_cast<Tick>(mix_bits(flows.size()) % 60'000);
            flows.push_back(flow(host + 2, host + 1, 160'000,
                                 (150 + post * 170) * kMicrosecond + place * kNanosecond));
        }
    }
    const Case given = crossed(flows, 16);
    const HybridOutcome all = run_hybrid(given, packets(), Driver::windows);
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    const auto times = [&](const HybridOutcome& run, std::int64_t size) {
        double sum = 0;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            const FlowResult& result = run.outcome.flows[i];
            sum += flows[i].size == size ? static_cast<double>(result.finish - result.start) : 0;
        }
        return sum;
    };
    CHECK(times(made, 160'000) == doctest::Approx(times(all, 160'000)).epsilon(0.006));
    CHECK(times(made, 60'000'000) == doctest::Approx(times(all, 60'000'000)).epsilon(0.004));
    CHECK(made.outcome.counters.packet_hops < all.outcome.counters.packet_hops / 3);
    check_two_engines(given, 40);
}

TEST_CASE("unit.trajectories.cables_that_differ_by_millimetres_are_of_one_kind") {
    Case given = crossed(waves(12, 3'000'000), 16);
    const HybridOutcome same = run_hybrid(given, local_phases(), Driver::windows);
    Topology other;
    for (NodeId node = 0; node < given.topology.node_count(); ++node) {
        other.add_node(given.topology.kind(node));
    }
    Tick longer = 0;
    for (Link link : given.topology.links()) {
        link.delay += (longer += 7) % 50;  // ps
        other.add_link(link);
    }
    other.finish();
    given.topology = other;
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    CHECK(static_cast<double>(made.outcome.counters.packet_hops) <
          2 * static_cast<double>(same.outcome.counters.packet_hops));
}

TEST_CASE("unit.trajectories.pairs_do_as_pairs_before_them_in_the_mean") {
    check_mean(crossed(pairs(200)), 0.01, 5);
}

TEST_CASE("unit.trajectories.two_engines_agree") {
    std::vector<FlowSpec> flows = pairs(60);
    // Beside messages whose ACKs cross them, which come and go.
    for (int i = 0; i < 60; ++i) {
        flows.push_back(flow(static_cast<NodeId>(4 + i % 4), static_cast<NodeId>(i % 3), 2'000'000,
                             i * 1700 * kMicrosecond));
    }
    check_two_engines(crossed(flows), 60);
}

TEST_CASE("unit.trajectories.nobody_follows_where_buffers_drop") {
    Case given = crossed(pairs(200));
    const HybridOutcome made = run_hybrid(given, local_phases(), Driver::windows);
    given.config.pfc = false;
    const HybridOutcome dropping = run_hybrid(given, local_phases(), Driver::windows);
    CHECK(made.outcome.counters.packet_hops < dropping.outcome.counters.packet_hops * 2 / 3);
}
