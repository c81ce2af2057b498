// SPDX-License-Identifier: Apache-2.0
/// Next-hop tables against a plain search over random networks, failures, threads, the ECMP hash.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/flow/flow.h"
#include "core/routing/routing.h"
#include "core/topology/builders.h"
#include "core/topology/connectivity.h"
#include "core/topology/topology_io.h"
#include "tests/support/network_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// Distances to `dst` by the definition: breadth-first over live links, hosts not expanded.
std::vector<int> plain_distances(const Topology& topology, const std::vector<bool>& up,
                                 NodeId dst) {
    std::vector<int> distance(topology.node_count(), -1);
    std::deque<NodeId> queue = {dst};
    distance[dst] = 0;
    while (!queue.empty()) {
        const NodeId node = queue.front();
        queue.pop_front();
        if (node != dst && topology.is_host(node)) {
            continue;
        }
        for (PortId port = topology.first_port(node); port < topology.first_port(node + 1);
             ++port) {
            const NodeId next = topology.neighbor(port);
            if (up[topology.link_of(port)] && distance[next] < 0) {
                distance[next] = distance[node] + 1;
                queue.push_back(next);
            }
        }
    }
    return distance;
}

std::vector<PortId> plain_next_hops(const Topology& topology, const std::vector<bool>& up,
                                    const std::vector<int>& distance, NodeId node, NodeId dst) {
    std::vector<PortId> all;
    std::vector<PortId> over_nvswitch;
    for (PortId port = topology.first_port(node); port < topology.first_port(node + 1); ++port) {
        const NodeId next = topology.neighbor(port);
        const bool passable = next == dst || !topology.is_host(next);
        if (up[topology.link_of(port)] && passable && distance[next] >= 0 &&
            distance[next] + 1 == distance[node]) {
            all.push_back(port);
            if (topology.kind(next) == NodeKind::nvswitch) {
                over_nvswitch.push_back(port);
            }
        }
    }
    return over_nvswitch.empty() ? all : over_nvswitch;
}

void check_against_plain(const Topology& topology, const Routing& routing,
                         const std::vector<bool>& up) {
    for (const NodeId dst : topology.hosts()) {
        const std::vector<int> distance = plain_distances(topology, up, dst);
        for (NodeId node = 0; node < topology.node_count(); ++node) {
            REQUIRE(routing.distance(node, dst) == distance[node]);
            if (node == dst) {
                REQUIRE(routing.next_hops(node, dst).empty());
                continue;
            }
            const Routing::PortRange hops = routing.next_hops(node, dst);
            const std::vector<PortId> expected = plain_next_hops(topology, up, distance, node, dst);
            REQUIRE(std::vector<PortId>(hops.begin(), hops.end()) == expected);
        }
    }
}

}  // namespace

TEST_CASE("unit.routing.equals_a_plain_search") {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const Topology topology = random_topology(seed);
        const Routing routing(topology);
        check_against_plain(topology, routing, std::vector<bool>(topology.links().size(), true));
    }
}

TEST_CASE("unit.routing.tables_that_went_are_computed_again") {
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const Topology topology = random_topology(seed);
        Routing routing(topology, NextHopOrder::port, 1);  // no more than two tables
        std::vector<bool> up(topology.links().size(), true);
        check_against_plain(topology, routing, up);
        if (up.empty()) continue;
        routing.set_link(seed % up.size(), false);
        up[seed % up.size()] = false;
        check_against_plain(topology, routing, up);
    }
    // A torus of n switches has n tables of n entries.
    TorusParams params;
    params.dimensions = {2, 512};
    const Topology torus = build_torus(params);
    const Routing all(torus);
    const Routing few(torus, NextHopOrder::port, 1 << 20);
    all.prepare_all();
    few.prepare_all();
    CHECK(all.memory_bytes() > (8 << 20));
    CHECK(few.memory_bytes() < (2 << 20));
}

TEST_CASE("unit.routing.servers_share_the_table_of_their_leaves") {
    SimaiParams params = spectrum_x_params();
    params.gpus = 4'096;
    const Topology topology = build_simai(params);
    const Routing routing(topology);
    routing.prepare_all();
    CHECK(routing.memory_bytes() < (4 << 20));  // 4,096 tables of 640 switches would take 21 MB
}

TEST_CASE("unit.routing.failures_and_repairs_equal_a_plain_search") {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const Topology topology = random_topology(1000 + seed);
        if (topology.links().empty()) {
            continue;
        }
        Routing routing(topology);
        std::vector<bool> up(topology.links().size(), true);
        std::mt19937 random(seed);
        for (int change = 0; change < 20; ++change) {
            const auto link = static_cast<LinkId>(random() % topology.links().size());
            up[link] = !up[link];
            routing.set_link(link, up[link]);
            CHECK(routing.link_up(link) == up[link]);
            check_against_plain(topology, routing, up);
        }
    }
}

TEST_CASE("unit.routing.reachability_agrees_with_connectivity") {
    int connected = 0;
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const Topology topology = random_topology(seed);
        const Routing routing(topology);
        bool all = true;
        for (const NodeId a : topology.hosts()) {
            for (const NodeId b : topology.hosts()) {
                all = all && routing.distance(a, b) >= 0;
            }
        }
        CAPTURE(seed);
        CHECK(find_unreachable_hosts(topology).has_value() == !all);
        connected += all ? 1 : 0;
    }
    CHECK(connected > 10);
    CHECK(connected < 290);
}

TEST_CASE("unit.routing.failed_core_link_is_avoided") {
    const Topology topology = build_fat_tree({4, {}, {}});
    Routing routing(topology);
    CHECK(routing.next_hops(16, 15).size() == 2);  // edge switch 16: two aggregation switches
    // Link 16 is edge 16 to aggregation 24, the first after the 16 host cables.
    routing.set_link(16, false);
    const Routing::PortRange hops = routing.next_hops(16, 15);
    REQUIRE(hops.size() == 1);
    CHECK(topology.neighbor(*hops.begin()) == 25);
    routing.set_link(0, false);
    CHECK(routing.distance(0, 15) == -1);
    CHECK(routing.path({0, 15, 10000, 100}).empty());
    CHECK(routing.select(15, {15, 0, 10000, 100}) == kNone);
    routing.set_link(0, true);
    routing.set_link(16, true);
    CHECK(routing.next_hops(16, 15).size() == 2);
    CHECK(
        contains(error_of([&] { routing.set_link(48, false); }), "no link 48 (allowed: 0 to 47)"));
}

TEST_CASE("unit.routing.nvswitch_wins_at_equal_length") {
    // Two GPUs on an NVSwitch and on a leaf: both two hops, the NVSwitch is taken.
    Topology topology;
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::ethernet);
    topology.add_node(NodeKind::nvswitch);
    for (const NodeId gpu : {0U, 1U}) {
        topology.add_link({gpu, 2, gigabits_per_second(400), kMicrosecond, 0});
        topology.add_link({gpu, 3, gigabits_per_second(2880), kMicrosecond, 0});
    }
    topology.finish();
    Routing routing(topology);
    REQUIRE(routing.next_hops(0, 1).size() == 1);
    CHECK(topology.neighbor(*routing.next_hops(0, 1).begin()) == 3);
    routing.set_link(3, false);  // GPU 1's NVLink
    REQUIRE(routing.next_hops(0, 1).size() == 1);
    CHECK(topology.neighbor(*routing.next_hops(0, 1).begin()) == 2);
}

TEST_CASE("unit.routing.ecmp_hash_vectors") {
    // From an independent MurmurHash3 that gives 0x149bbb7f for "hello, world" with seed 0.
    CHECK(ecmp_hash({0, 2, 10000, 100}, 4) == 0x03e6c3e4U);
    CHECK(ecmp_hash({1, 3, 10000, 100}, 5) == 0x03dd04f1U);
    CHECK(ecmp_hash({300, 12, 10007, 200}, 340) == 0x8eb74fcaU);
    CHECK(ecmp_hash({12, 300, 100, 10007}, 340) == 0xb1118337U);
    CHECK(ecmp_hash({53999, 0, 65535, 100}, 58499) == 0x79ed5af7U);
}

TEST_CASE("unit.routing.ns3_hosts_pick_a_nic_by_one_seed") {
    // The same hash seeded with 0x8badf00d, at every host. By the same independent MurmurHash3.
    CHECK(ecmp_hash({0, 8, 10000, 100}, kNicSeed) == 0xdcbb1078U);
    CHECK(ecmp_hash({5, 17, 10003, 100}, kNicSeed) == 0x6ccb876bU);
    CHECK(ecmp_hash({8, 0, 100, 10000}, kNicSeed) == 0x2dd276d5U);
    // Three hosts, each on both of two switches.
    Topology topology;
    for (int host = 0; host < 3; ++host) topology.add_node(NodeKind::host);
    for (int leaf = 0; leaf < 2; ++leaf) topology.add_node(NodeKind::ethernet);
    for (NodeId host = 0; host < 3; ++host) {
        for (const NodeId leaf : {3U, 4U}) {
            topology.add_link({host, leaf, Rate{100'000'000'000}, kMicrosecond, 0});
        }
    }
    topology.finish();
    const Routing routing(topology, NextHopOrder::ns3);
    std::size_t second = 0;
    for (std::uint16_t port = 10000; port < 10100; ++port) {
        for (const NodeId src : {1U, 2U}) {
            const FlowKey key{src, 0, port, 100};
            const std::uint32_t pick = ecmp_hash(key, kNicSeed) % 2;
            CHECK(routing.select(src, key) == routing.next_hops(src, 0).begin()[pick]);
            second += pick;
        }
    }
    CHECK(second > 50);
    CHECK(second < 150);
}

TEST_CASE("unit.routing.select_and_path_follow_the_hash") {
    const Topology topology = build_fat_tree({8, {}, {}});
    const Routing routing(topology);
    const FlowKey key{0, 127, 10000, 100};
    const Routing::PortRange hops = routing.next_hops(128, 127);
    CHECK(routing.select(128, key) == hops.begin()[ecmp_hash(key, 128) % hops.size()]);
    const std::vector<PortId> path = routing.path(key);
    REQUIRE(path.size() == 6);
    CHECK(topology.node_of(path.front()) == 0);
    CHECK(topology.neighbor(path.back()) == 127);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        CHECK(topology.neighbor(path[i]) == topology.node_of(path[i + 1]));
    }
    CHECK(routing.path({5, 5, 0, 0}).empty());
}

TEST_CASE("unit.routing.ns3_order.is_that_of_its_search") {
    // From host 0 at switch 2 the search finds 4 and 3 (descending), then 5 by way of 4, and 6 by
    // way of 3: switch 7 lists 5 before 6, though 6 is the larger id. Of its two cables to 6 the
    // last counts.
    Topology topology;
    for (int host = 0; host < 2; ++host) topology.add_node(NodeKind::host);
    for (int node = 0; node < 6; ++node) topology.add_node(NodeKind::ethernet);
    const NodeId cables[][2] = {{0, 2}, {2, 3}, {2, 4}, {4, 5}, {3, 6},
                                {5, 7}, {6, 7}, {6, 7}, {7, 1}};
    for (const auto& cable : cables) {
        topology.add_link({cable[0], cable[1], gigabits_per_second(100), kMicrosecond, 0});
    }
    topology.finish();
    const Routing routing(topology, NextHopOrder::ns3);
    const Routing::PortRange hops = routing.next_hops(7, 0);
    REQUIRE(hops.size() == 2);
    CHECK(topology.neighbor(hops.begin()[0]) == 5);
    CHECK(topology.neighbor(hops.begin()[1]) == 6);
    CHECK(topology.link_of(hops.begin()[1]) == 7);
    CHECK(Routing(topology).next_hops(7, 0).size() == 3);
}

TEST_CASE("unit.routing.ns3_order.paths_of_the_reference") {
    const std::string folder = "ns3/e_fat4_web30/";
    const std::string file = reference_file(folder + "topology.txt");
    if (file.empty()) {
        MESSAGE("skipped: no reference experiments (SLUICE_REFERENCE)");
        return;
    }
    const Topology topology = read_topology(file);
    const Routing routing(topology, NextHopOrder::ns3);
    std::ifstream rows(reference_file(folder + "flow_paths_ack.csv"));  // data's and ACKs'
    std::string line;
    std::getline(rows, line);
    int same = 0;
    int count = 0;
    while (std::getline(rows, line)) {
        unsigned src = 0;
        unsigned dst = 0;
        unsigned sport = 0;
        char nodes[200] = "";
        REQUIRE(std::sscanf(line.c_str(), "%u,%u,%u,%199s", &src, &dst, &sport, nodes) == 4);
        const bool ack = sport == 100;
        std::string path = std::to_string(src);
        const auto port = static_cast<std::uint16_t>(sport);
        const auto other = static_cast<std::uint16_t>(ack ? 10000 : 100);
        for (const PortId p : routing.path({src, dst, port, other})) {
            path += "-" + std::to_string(topology.neighbor(p));
        }
        same += path == nodes ? 1 : 0;
        ++count;
    }
    CHECK(count > 171);
    CHECK(same == count);
}

TEST_CASE("unit.routing.threads_share_tables") {
    const Topology topology = build_rail({});
    const Routing shared(topology);
    const Routing alone(topology);
    alone.prepare_all();
    std::vector<std::vector<std::vector<PortId>>> found(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < found.size(); ++t) {
        threads.emplace_back([&, t] {
            for (NodeId i = 0; i < 128; ++i) {
                const NodeId dst = static_cast<NodeId>((i * 37 + 11 + t) % 128);
                found[t].push_back(shared.path({i, dst, 10000, 100}));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (std::size_t t = 0; t < found.size(); ++t) {
        for (NodeId i = 0; i < 128; ++i) {
            const NodeId dst = static_cast<NodeId>((i * 37 + 11 + t) % 128);
            CHECK(found[t][i] == alone.path({i, dst, 10000, 100}));
        }
    }
}

TEST_CASE("unit.routing.tables_grow_with_switches_not_hosts") {
    // k = 16: 1024 hosts on 128 edge switches, 320 switches: 128 x 320 entries of 8 bytes.
    const Topology topology = build_fat_tree({16, {}, {}});
    const Routing routing(topology);
    const std::size_t before = routing.memory_bytes();
    routing.prepare(0);
    CHECK(routing.memory_bytes() - before < 40'000);
    routing.prepare_all();
    CHECK(routing.memory_bytes() - before < 128 * 320 * 8 + 200'000);
}

TEST_CASE("unit.flow.source_ports_count_up_per_pair") {
    std::vector<FlowSpec> flows(5);
    flows[0].dst = flows[1].dst = flows[3].dst = 2;
    flows[2].src = 2;
    flows[4].dst = 3;
    assign_source_ports(flows);
    CHECK(flows[0].sport == 10000);
    CHECK(flows[1].sport == 10001);
    CHECK(flows[2].sport == 10000);  // the reverse pair counts for itself
    CHECK(flows[3].sport == 10002);
    CHECK(flows[4].sport == 10000);
    flows.assign(55'537, FlowSpec{});
    assign_source_ports(flows);
    CHECK(flows[55'535].sport == 65535);
    CHECK(flows[55'536].sport == 10000);
}

TEST_CASE("unit.flow.a_connection_keeps_its_source_port") {
    std::vector<FlowSpec> flows(6);
    for (FlowSpec& flow : flows) flow.dst = 2;
    flows[1].connection = flows[3].connection = flows[5].connection = 1;
    flows[2].connection = 0;
    flows[5].own_port = true;
    assign_source_ports(flows);
    CHECK(flows[0].sport == 10000);
    CHECK(flows[1].sport == 10001);
    CHECK(flows[2].sport == 10002);
    CHECK(flows[3].sport == 10001);
    CHECK(flows[4].sport == 10003);  // a port is given out once
    CHECK(flows[5].sport == 10004);
    CHECK(connection_count(flows) == 2);
    CHECK(connection_count({}) == 0);
    CHECK(flows[5].queue() == 1);
    flows[5].overlaps = true;
    CHECK(flows[5].queue() == kNone);
}
