// SPDX-License-Identifier: Apache-2.0
/// Packets that choose their ways one by one: of all flows, or of some priorities.
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr std::int32_t kLeaves = 2;
constexpr std::int32_t kSpines = 4;
constexpr std::int32_t kHosts = 4;  // below a leaf

/// Each host of the first leaf sends to one of the second, flow i with priority i + 1.
Case across_spines() {
    Case given;
    given.topology = build_leaf_spine({kLeaves, kSpines, kHosts, 1, {}, {}});
    given.config = config_for(congestion::Law::hpcc);
    for (std::int32_t i = 0; i < kHosts; ++i) {
        given.flows.push_back(flow(static_cast<NodeId>(i), static_cast<NodeId>(kHosts + i), 400'000,
                                   i * 2 * kMillisecond));
        given.flows.back().priority = static_cast<std::uint8_t>(i + 1);
    }
    return given;
}

/// Ports between leaves and spines by which frames left in a run of flow `i` alone.
std::size_t ports_of(const Case& given, std::size_t i) {
    Case alone = given;
    alone.flows = {given.flows[i]};
    Rig rig(alone);
    engine::Driver driver(rig.store, {}, {});
    driver.advance(kSecond, rig);
    CHECK(rig.store.results()[0].finish != kNever);
    std::size_t ports = 0;
    const std::vector<PortStatistics> statistics = rig.store.port_statistics(kSecond);
    for (PortId port = 0; port < alone.topology.port_count(); ++port) {
        const bool fabric = !alone.topology.is_host(alone.topology.node_of(port)) &&
                            !alone.topology.is_host(alone.topology.neighbor(port));
        ports += fabric && statistics[port].tx_packets > 0 ? 1U : 0U;
    }
    return ports;
}

}  // namespace

TEST_CASE("unit.step.spraying.of_some_priorities_is_of_their_flows_alone") {
    Case given = across_spines();
    given.config.sprayed_priorities = 1U << 2 | 1U << 4;
    // A way has a port up and one down, for data and for ACKs.
    for (std::size_t i = 0; i < given.flows.size(); ++i) {
        const bool sprayed = given.config.sprays(given.flows[i].priority);
        CAPTURE(i);
        CHECK(ports_of(given, i) == (sprayed ? 4 * kSpines : 4));
    }
}

TEST_CASE("unit.step.spraying.of_all_priorities_is_spraying") {
    for (std::uint64_t seed = 50; seed < 70; ++seed) {
        Case given = random_case(seed, RandomOptions{});
        given.config.load_balance = LoadBalance::spray;
        given.config.sprayed_priorities = 0;
        const Outcome all = run_windows(given);
        given.config.load_balance = LoadBalance::ecmp;
        given.config.sprayed_priorities = 0xfe;
        CHECK(all.checksum == run_windows(given).checksum);
        given.config.sprayed_priorities = 0;
    }
}

TEST_CASE("unit.step.spraying.several_paths_have_larger_windows") {
    // Of flow 0, which goes by one path, and of flow 1, which is sprayed: 1 and 1.5 bandwidth-delay products.
    Case given = across_spines();
    given.config = config_for(congestion::Law::none);
    given.config.sprayed_priorities = 1U << 2;
    given.flows = {given.flows[0], given.flows[1]};
    given.flows[1].start = 0;
    const auto windows = [&](Tick at) {
        Rig rig(given);
        engine::Driver driver(rig.store, {}, {});
        driver.advance(at, rig);
        const step::World& world = rig.store.world();
        std::vector<double> products;
        for (FlowSlot flow = 0; flow < 2; ++flow) {
            REQUIRE(world.sender_at[flow] != kNone);
            products.push_back(static_cast<double>(step::sender_of(world, flow).window) /
                               static_cast<double>(world.max_window));
        }
        return products;
    };
    CHECK(windows(kMicrosecond) ==
          std::vector<double>{1, 1});  // go-back-N is not for several paths
    given.config.nic.transport = Transport::selective_repeat;
    CHECK(windows(kMicrosecond) == std::vector<double>{1, 1.5});
    given.config.congestion.sprayed_window = 2;
    CHECK(windows(kMicrosecond) == std::vector<double>{1, 2});
    // A message that takes a queue pair over has its window.
    given.flows[1].connection = 0;
    given.flows[0] = given.flows[1];
    given.flows[0].size = 20'000;
    CHECK(windows(3 * kMicrosecond) == std::vector<double>{2, 2});
}
