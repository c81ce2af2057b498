// SPDX-License-Identifier: Apache-2.0
/// Next hops by their queues, by flowlets, and by entropy values.
#include <algorithm>
#include <cstring>

#include "core/packet/selective_repeat.h"
#include "core/world/network_check.h"
#include "tests/support/clock_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr std::int32_t kLeaves = 2;
constexpr std::int32_t kSpines = 4;
constexpr std::int32_t kHosts = 4;  // below a leaf

/// Each host of the first leaf sends `size` bytes to one of the second.
Case across_spines(LoadBalance balance, std::int64_t size) {
    Case given;
    given.topology = build_leaf_spine({kLeaves, kSpines, kHosts, 1, {}, {}});
    given.config = config_for(congestion::Law::dcqcn);
    given.config.nic.transport = Transport::selective_repeat;
    given.config.load_balance = balance;
    for (std::int32_t i = 0; i < kHosts; ++i) {
        given.flows.push_back(
            flow(static_cast<NodeId>(i), static_cast<NodeId>(kHosts + i), size, 0));
    }
    assign_source_ports(given.flows);
    given.stop = 100 * kMillisecond;
    return given;
}

/// The first leaf's ports to spines, and what they did in a run.
struct Uplinks {
    std::vector<PortStatistics> ports;
    Tick finish = 0;

    explicit Uplinks(const Case& given) {
        Rig rig(given);
        engine::Driver driver(rig.store, {}, {});
        driver.advance(given.stop, rig);
        for (const FlowResult& result : rig.store.results()) {
            CHECK(result.finish != kNever);
            finish = std::max(finish, result.finish);
        }
        const std::vector<PortStatistics> all = rig.store.port_statistics(given.stop);
        const NodeId leaf =
            given.topology.node_of(given.topology.peer_of(given.topology.first_port(0)));
        for (std::uint32_t i = 0; i < given.topology.port_count(leaf); ++i) {
            const PortId port = given.topology.first_port(leaf) + i;
            if (!given.topology.is_host(given.topology.neighbor(port))) {
                ports.push_back(all[port]);
            }
        }
        REQUIRE(ports.size() == kSpines);
    }

    std::int64_t deepest() const {
        std::int64_t most = 0;
        for (const PortStatistics& port : ports) {
            most = std::max<std::int64_t>(most, port.max_queue_bytes);
        }
        return most;
    }
    std::size_t used() const {
        return static_cast<std::size_t>(
            std::count_if(ports.begin(), ports.end(),
                          [](const PortStatistics& port) { return port.tx_packets > 0; }));
    }
};

/// `given` with the first leaf's first uplink at a part of its rate, both ways.
Case degraded(Case given, std::int64_t part) {
    bool first = true;
    given.topology = with_links(given.topology, [&](Link& link) {
        if (!given.topology.is_host(link.a) && !given.topology.is_host(link.b) && first) {
            link.rate = Rate{link.rate.bits_per_second / part};
            first = false;
        }
    });
    return given;
}

}  // namespace

TEST_CASE("unit.step.adaptive.queues_stay_within_bands") {
    // Four hosts at line rate over four spines: a queue grows only while another one is as deep.
    const std::int64_t frame = 1048;
    Case given = across_spines(LoadBalance::adaptive, 1'000'000);
    given.config.spray.band = 2 * frame;
    const Uplinks adaptive(given);
    CHECK(adaptive.used() == kSpines);
    CHECK(adaptive.deepest() <= 2 * given.config.spray.band);
    const Uplinks drawn(across_spines(LoadBalance::spray, 1'000'000));
    CHECK(drawn.deepest() > 2 * adaptive.deepest());
    CHECK(adaptive.finish <= drawn.finish);
}

TEST_CASE("unit.step.adaptive.a_slow_link_gets_what_it_can_carry") {
    const Case given = degraded(across_spines(LoadBalance::adaptive, 4'000'000), 4);
    const Uplinks adaptive(given);
    std::int64_t least = adaptive.ports[0].tx_packets;
    std::int64_t most = least;
    for (const PortStatistics& port : adaptive.ports) {
        least = std::min(least, port.tx_packets);
        most = std::max(most, port.tx_packets);
    }
    CHECK(least < most / 2);
    Case drawn = given;
    drawn.config.load_balance = LoadBalance::spray;
    CHECK(adaptive.finish < Uplinks(drawn).finish);
}

TEST_CASE("unit.step.adaptive.weights_give_a_slow_link_its_share") {
    for (const LoadBalance balance :
         {LoadBalance::round_robin, LoadBalance::spray, LoadBalance::entropy}) {
        Case given = degraded(across_spines(balance, 4'000'000), 4);
        const Uplinks alike(given);
        given.topology.hop_weights = HopWeights::rate;
        const Uplinks weighted(given);
        CHECK(weighted.finish < alike.finish);
        // One of 13 entries, of four flows.
        const double share = static_cast<double>(weighted.ports[0].tx_packets) /
                             static_cast<double>(weighted.ports[1].tx_packets);
        CHECK(share > (balance == LoadBalance::round_robin ? 0.24 : 0.15));
        CHECK(share < (balance == LoadBalance::round_robin ? 0.26 : 0.35));
    }
}

TEST_CASE("unit.step.adaptive.a_paused_port_comes_last") {
    const Case given = across_spines(LoadBalance::adaptive, 1000);
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    driver.advance(kMicrosecond, rig);  // flows have begun, and nothing has arrived yet
    step::World& world = rig.store.world();
    const Topology& topology = rig.store.topology();
    const NodeId leaf = topology.node_of(topology.peer_of(topology.first_port(0)));
    std::vector<PortId> up;
    for (std::uint32_t i = 0; i < topology.port_count(leaf); ++i) {
        const PortId port = topology.first_port(leaf) + i;
        if (!topology.is_host(topology.neighbor(port))) up.push_back(port);
    }
    const auto chosen = [&](std::uint32_t sequence) {
        step::Packet packet;
        packet.traffic_class = 3;
        packet.sequence = sequence;
        return step::least_loaded(world, leaf, packet, up.data(),
                                  static_cast<std::uint32_t>(up.size()));
    };
    for (std::uint32_t i = 0; i < 64; ++i) {
        world.egress[up[0]].paused = 1U << 3;
        world.egress[up[1]].queued_bytes = static_cast<std::uint32_t>(world.config->spray.band);
        CHECK(chosen(i) != up[0]);
        CHECK(chosen(i) != up[1]);
        world.egress[up[1]].queued_bytes -= 1;  // within the first band
    }
    std::vector<int> times(up.size());
    for (std::uint32_t i = 0; i < 300; ++i) {
        ++times[static_cast<std::size_t>(std::find(up.begin(), up.end(), chosen(i)) - up.begin())];
    }
    CHECK(times[0] == 0);
    CHECK(*std::min_element(times.begin() + 1, times.end()) > 60);
}

TEST_CASE("unit.step.flowlet.without_a_gap_a_flow_keeps_its_port") {
    Case given = across_spines(LoadBalance::flowlet, 200'000);
    given.flows.resize(1);
    CHECK(Uplinks(given).used() == 1);
    // Shorter than from packet to packet: each one chooses.
    given.config.spray.flowlet_gap = 0;
    CHECK(Uplinks(given).used() == kSpines);
}

TEST_CASE("unit.step.flowlet.nothing_comes_out_of_order_with_a_long_gap") {
    Case given = across_spines(LoadBalance::flowlet, 1'000'000);
    given.config.nic.transport = Transport::go_back_n;
    given.config.spray.flowlet_gap = kMillisecond;
    const Outcome outcome = run_windows(given);
    CHECK(outcome.counters.retransmitted_bytes == 0);
}

TEST_CASE("unit.step.entropy.one_value_is_one_path") {
    Case given = across_spines(LoadBalance::entropy, 400'000);
    given.flows.resize(1);
    given.config.spray.entropy_values = 1;
    CHECK(Uplinks(given).used() == 1);
    given.config.spray.entropy_values = 256;
    CHECK(Uplinks(given).used() == kSpines);
}

TEST_CASE("unit.step.entropy.recycled_values_leave_a_slow_link_alone") {
    // Which values lead to the slow link is drawn by the seed, so that one run says little.
    Case given = degraded(across_spines(LoadBalance::entropy, 4'000'000), 4);
    given.config.ecn.points[0].kmin = Bytes{20'000};
    given.config.ecn.points[0].kmax = Bytes{40'000};
    const auto mean_us = [&](bool recycle, bool avoid) {
        given.config.spray.entropy_recycle = recycle;
        given.config.spray.entropy_avoid = avoid;
        Tick sum = 0;
        for (given.config.seed = 1; given.config.seed <= 8; ++given.config.seed) {
            sum += Uplinks(given).finish;
        }
        return sum / 8 / kMicrosecond;
    };
    const Tick drawn = mean_us(false, false);
    const Tick recycled = mean_us(true, false);
    const Tick mixed = mean_us(true, true);
    const Tick avoiding = mean_us(false, true);
    MESSAGE("in rounds ", drawn, " us, recycled ", recycled, " us, both ", mixed,
            " us, bad ones passed over ", avoiding, " us");
    CHECK(recycled < drawn);
    CHECK(mixed < drawn);
    CHECK(avoiding < drawn);
}

TEST_CASE("unit.step.entropy.values_come_in_rounds") {
    Case given = across_spines(LoadBalance::entropy, 400'000);
    given.config.spray.entropy_values = 10;
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    driver.advance(kMicrosecond, rig);
    const step::World& world = rig.store.world();
    step::Sender sender;
    sender.flow = 0;
    std::vector<std::uint32_t> first;
    for (int round = 0; round < 40; ++round) {
        std::vector<int> times(10);
        for (int i = 0; i < 10; ++i, ++sender.transmissions) {
            const std::uint32_t value = step::next_entropy(world, sender);
            REQUIRE(value < 10);
            ++times[value];
            if (i == 0) {
                first.push_back(value);
            }
        }
        CHECK(times == std::vector<int>(10, 1));
    }
    std::sort(first.begin(), first.end());  // each round begins elsewhere
    CHECK(std::unique(first.begin(), first.end()) - first.begin() > 5);
}

TEST_CASE("unit.step.entropy.permuted_rounds_have_each_value_once") {
    Case given = across_spines(LoadBalance::entropy, 400'000);
    given.config.spray.entropy_values = 16;
    given.config.spray.entropy_order = EntropyOrder::permuted;
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    driver.advance(kMicrosecond, rig);
    const step::World& world = rig.store.world();
    int rotations = 0;
    for (std::uint32_t round = 0; round < 40; ++round) {
        std::vector<int> times(16);
        bool ascends = true;
        const std::uint32_t drawn = step::value_at(world, 0, 16 * round);
        for (std::uint32_t turn = 0; turn < 16; ++turn) {
            const std::uint32_t value = step::value_at(world, 0, 16 * round + turn);
            CHECK(value == (drawn ^ turn));
            ++times[value];
            ascends = ascends && value == (drawn + turn) % 16;
        }
        CHECK(times == std::vector<int>(16, 1));
        rotations += ascends ? 1 : 0;
    }
    CHECK(rotations < 10);
    given.config.spray.entropy_values = 12;
    CHECK(step::network_fault(given.topology, given.config).has_value());
}

TEST_CASE("unit.step.entropy.values_come_back_unmarked_and_in_order") {
    Case given = across_spines(LoadBalance::entropy, 400'000);
    given.config.spray.entropy_recycle = true;
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    driver.advance(kMicrosecond, rig);  // flows have begun, and nothing has arrived yet
    step::World& world = rig.store.world();
    step::Sender sender;
    sender.flow = 0;
    const auto ack = [&](std::uint32_t value, bool echo) {
        step::Packet packet;
        packet.flow = 0;
        packet.kind = static_cast<std::uint16_t>(step::PacketKind::ack);
        packet.echo = echo ? 1 : 0;
        packet.stamp = step::stamp_with(step::stamp_of(123'456'789, value), 77);
        CHECK(step::distance_in(packet.stamp) == 77);
        CHECK(step::entropy_in(packet.stamp) == value);
        step::judge_entropy(world, packet);
    };
    ack(200, true);
    for (std::uint32_t value = 1; value <= 10; ++value) {
        ack(value, false);
    }
    for (std::uint32_t value = 3; value <= 10; ++value) {  // eight are kept
        CHECK(step::next_entropy(world, sender) == value);
    }
    std::vector<int> times(256);
    for (std::uint32_t i = 0; i < 5000; ++i) {
        sender.transmissions = i;
        ++times[step::next_entropy(world, sender)];
    }
    CHECK(*std::min_element(times.begin(), times.end()) > 2);
}

TEST_CASE("unit.step.entropy.bad_values_are_passed_over_for_their_points") {
    Case given = across_spines(LoadBalance::entropy, 400'000);
    given.config.spray.entropy_values = 4;
    given.config.spray.entropy_avoid = true;
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    driver.advance(kMicrosecond, rig);
    step::World& world = rig.store.world();
    step::EntropyScores& its = world.entropy_scores[0];
    step::Sender sender;
    sender.flow = 0;
    const auto answer = [&](step::PacketKind kind, std::uint32_t value, bool echo) {
        step::Packet packet;
        packet.flow = 0;
        packet.kind = static_cast<std::uint16_t>(kind);
        packet.echo = echo ? 1 : 0;
        packet.stamp = step::stamp_of(123'456'789, value);
        step::judge_entropy(world, packet);
    };
    const auto times_in = [&](int packets) {
        std::vector<int> times(4);
        for (int i = 0; i < packets; ++i) {
            ++times[step::next_entropy(world, sender)];
        }
        return times;
    };
    its = {};
    answer(step::PacketKind::ack, 2, false);
    CHECK(its.score[2] == 0);
    answer(step::PacketKind::ack, 2, true);
    CHECK(its.score[2] == 1);
    answer(step::PacketKind::nack, 2, true);
    CHECK(its.score[2] == 5);
    for (int i = 0; i < 5; ++i) {
        answer(step::PacketKind::nack, 1, true);
    }
    CHECK(its.score[1] == 15);
    // Only one point goes per packet, so both stay away for some rounds.
    const std::vector<int> bad = times_in(12);
    CHECK(bad[2] == 0);
    CHECK(bad[1] == 0);
    times_in(200);
    CHECK(std::all_of(its.score, its.score + 4, [](std::uint8_t points) { return points == 0; }));
    its.position = 0;
    CHECK(times_in(40) == std::vector<int>(4, 10));
    // One point is one packet that goes another way.
    const std::uint32_t next = step::value_at(world, 0, its.position);
    answer(step::PacketKind::ack, next, true);
    CHECK(step::next_entropy(world, sender) != next);
    CHECK(its.score[next] == 0);
    // Where all are bad, one of them is taken.
    for (std::uint32_t value = 0; value < 4; ++value) {
        answer(step::PacketKind::nack, value, true);
    }
    CHECK(times_in(1) != std::vector<int>(4, 0));
    CHECK(std::count(its.score, its.score + 4, 4) == 3);
}

TEST_CASE("unit.step.entropy.the_seed_salts_the_hash_of_switches") {
    // One value is one of four paths. With sixteen seeds it is not always the same one.
    Case given = across_spines(LoadBalance::entropy, 4000);
    given.flows.resize(1);
    given.config.spray.entropy_values = 1;
    std::vector<int> times(kSpines);
    for (given.config.seed = 1; given.config.seed <= 16; ++given.config.seed) {
        const Uplinks run(given);
        CHECK(run.used() == 1);
        for (std::size_t i = 0; i < kSpines; ++i) {
            times[i] += run.ports[i].tx_packets > 0 ? 1 : 0;
        }
    }
    CHECK(*std::max_element(times.begin(), times.end()) < 12);
}
