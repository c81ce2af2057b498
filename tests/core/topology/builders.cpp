// SPDX-License-Identifier: Apache-2.0
/// Builders: node and link counts by formula, who is joined to whom, and refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/routing/routing.h"
#include "core/topology/builders.h"
#include "core/topology/connectivity.h"
#include "core/topology/topology_io.h"
#include "tests/support/network_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// The largest distance between two hosts.
int diameter(const Topology& topology) {
    const Routing routing(topology);
    int largest = 0;
    for (const NodeId a : topology.hosts()) {
        for (const NodeId b : topology.hosts()) {
            largest = std::max(largest, routing.distance(a, b));
        }
    }
    return largest;
}

std::size_t switch_count(const Topology& topology) {
    return topology.node_count() - topology.host_count();
}

/// Every node in [first, last) has `ports` ports.
bool all_have_ports(const Topology& topology, NodeId first, std::size_t last, std::uint32_t ports) {
    for (NodeId node = first; node < last; ++node) {
        if (topology.port_count(node) != ports) {
            return false;
        }
    }
    return true;
}

bool same_links(const Topology& a, const Topology& b) {
    return std::equal(a.links().begin(), a.links().end(), b.links().begin(), b.links().end(),
                      [](const Link& x, const Link& y) {
                          return x.a == y.a && x.b == y.b && x.rate == y.rate &&
                                 x.delay == y.delay && x.loss == y.loss;
                      });
}

}  // namespace

TEST_CASE("unit.topology.ports_follow_the_order_of_links") {
    Topology topology;
    for (int i = 0; i < 3; ++i) {
        topology.add_node(i == 1 ? NodeKind::ethernet : NodeKind::host);
    }
    topology.add_link({2, 1, gigabits_per_second(100), kMicrosecond, 0});
    topology.add_link({0, 1, gigabits_per_second(100), kMicrosecond, 0});
    topology.finish();
    // Node 1's first port belongs to link 0 (to node 2), its second to link 1.
    CHECK(topology.port_count(1) == 2);
    CHECK(topology.neighbor(topology.first_port(1)) == 2);
    CHECK(topology.neighbor(topology.first_port(1) + 1) == 0);
    CHECK(topology.hosts() == std::vector<NodeId>{0, 2});
    for (PortId port = 0; port < topology.port_count(); ++port) {
        CHECK(topology.peer_of(topology.peer_of(port)) == port);
        CHECK(topology.link_of(port) == topology.link_of(topology.peer_of(port)));
    }
}

TEST_CASE("unit.topology.add_link_refuses") {
    Topology topology;
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::host);
    const auto refusal = [&](Link link) { return error_of([&] { topology.add_link(link); }); };
    const Rate rate = gigabits_per_second(1);
    CHECK(refusal({0, 2, rate, 0, 0}) == "link 0-2: no such node (ids allowed: 0 to 1)");
    CHECK(refusal({1, 1, rate, 0, 0}) == "link 1-1: joins a node to itself");
    CHECK(contains(refusal({0, 1, {0}, 0, 0}), "allowed: 1kbps to 1000Tbps"));
    CHECK(contains(refusal({0, 1, rate, -1, 0}), "delay"));
    CHECK(contains(refusal({0, 1, rate, 0, 1}), "loss"));
    CHECK(refusal({0, 1, rate, 0, 0.5}) == "no error");
}

TEST_CASE("unit.topology.dumbbell_and_star") {
    const Topology dumbbell = build_dumbbell({3, 2, {}, {gigabits_per_second(40), 5000, 0}});
    CHECK(dumbbell.host_count() == 5);
    CHECK(dumbbell.links().size() == 6);
    CHECK(dumbbell.port_count(5) == 4);  // 3 hosts and the bottleneck
    CHECK(dumbbell.links().back().rate == gigabits_per_second(40));
    CHECK(diameter(dumbbell) == 3);
    const Topology star = build_star({17, {}});
    CHECK(star.port_count(17) == 17);
    CHECK(diameter(star) == 2);
}

TEST_CASE("unit.topology.leaf_spine_counts") {
    LeafSpineParams params;
    params.leaves = 3;
    params.spines = 2;
    params.hosts_per_leaf = 5;
    params.cables_per_spine = 2;
    const Topology topology = build_leaf_spine(params);
    CHECK(topology.host_count() == 15);
    CHECK(switch_count(topology) == 5);
    CHECK(topology.links().size() == 15 + 3 * 2 * 2);
    CHECK(all_have_ports(topology, 15, 18, 5 + 4));
    CHECK(all_have_ports(topology, 18, 20, 3 * 2));
    CHECK(diameter(topology) == 4);
}

TEST_CASE("unit.topology.leaf_spine_planes_meet_at_hosts_alone") {
    LeafSpineParams params;
    params.leaves = 3;
    params.spines = 2;
    params.hosts_per_leaf = 4;
    params.planes = 4;
    const Topology topology = build_leaf_spine(params);
    CHECK(topology.node_count() == 12 + 4 * 5);
    CHECK(topology.links().size() == 4 * (12 + 6));
    for (const NodeId host : topology.hosts()) {
        REQUIRE(topology.port_count(host) == 4);
        for (std::uint32_t plane = 0; plane < 4; ++plane) {
            const NodeId leaf = topology.neighbor(topology.first_port(host) + plane);
            CHECK(leaf == 12 + plane * 3 + host / 4);
            for (std::uint32_t i = 0; i < topology.port_count(leaf); ++i) {
                const NodeId next = topology.neighbor(topology.first_port(leaf) + i);
                CHECK((topology.is_host(next) || (next - 24) / 2 == plane));
            }
        }
    }
    params.planes = 65;
    CHECK(contains(error_of([&] { build_leaf_spine(params); }), "planes"));
}

TEST_CASE("unit.topology.fat_tree_counts") {
    // k = 8: 128 hosts, 32 edge, 32 aggregation, 16 core switches, 3 x 128 links, k ports each.
    const Topology topology = build_fat_tree({8, {}, {}});
    CHECK(topology.host_count() == 128);
    CHECK(switch_count(topology) == 80);
    CHECK(topology.links().size() == 384);
    CHECK(all_have_ports(topology, 128, topology.node_count(), 8));
    CHECK(diameter(topology) == 6);
    const Routing routing(topology);
    CHECK(routing.next_hops(128, 127).size() == 4);  // edge: k/2 ways up
    CHECK(routing.next_hops(160, 127).size() == 4);  // aggregation: k/2 cores
    CHECK(routing.next_hops(192, 127).size() == 1);  // core: one way down
    CHECK(routing.distance(0, 3) == 2);
    CHECK(routing.distance(0, 4) == 4);
}

TEST_CASE("unit.topology.rail_128_and_1024") {
    // 16 servers of 8 GPUs: one segment, 8 rail switches with 16 hosts; 16 x 100G up needs 16
    // spines of one 100G cable.
    const Topology small = build_rail({});
    CHECK(small.host_count() == 128);
    CHECK(switch_count(small) == 8 + 16);
    CHECK(small.links().size() == 128 + 8 * 16);
    CHECK(small.gpus_per_server == 8);
    for (NodeId gpu = 0; gpu < 128; ++gpu) {
        CHECK(small.neighbor(small.first_port(gpu)) == 128 + gpu % 8);
    }
    CHECK(all_have_ports(small, 128, 136, 16 + 16));
    // 128 servers: 8 segments of 8 rail switches, 16 spines joined to all 64.
    RailParams params;
    params.gpus = 1024;
    const Topology large = build_rail(params);
    CHECK(switch_count(large) == 64 + 16);
    CHECK(large.links().size() == 1024 + 64 * 16);
    CHECK(large.neighbor(large.first_port(1023)) == 1024 + 63);
    CHECK(large.neighbor(large.first_port(128)) == 1024 + 8);
    CHECK(all_have_ports(large, 1024 + 64, large.node_count(), 64));
}

TEST_CASE("unit.topology.rail_bisection_and_short_segments") {
    RailParams params;
    params.gpus = 24;
    params.gpus_per_server = 2;
    params.servers_per_segment = 8;  // 12 servers: segments of 8 and 4
    params.host_cable.rate = gigabits_per_second(100);
    params.fabric_cable.rate = gigabits_per_second(300);
    params.cables_per_spine = 2;
    // A rail switch takes 8 x 100G; a spine's two cables carry 600G: 2 spines.
    const Topology topology = build_rail(params);
    CHECK(switch_count(topology) == 2 * 2 + 2);
    CHECK(topology.links().size() == 24 + 4 * 2 * 2);
    CHECK(!find_unreachable_hosts(topology));
}

TEST_CASE("unit.topology.rail_equals_simai_generator") {
    const std::string file = reference_file("samples/simai/topo/Spectrum-X_64g_8gps_400Gbps_H100");
    if (file.empty()) {
        MESSAGE("skipped: no reference files (set SLUICE_REFERENCE)");
        return;
    }
    RailParams params;
    params.gpus = 64;
    params.servers_per_segment = 64;
    params.spines = 4;
    params.nvswitches_per_server = 1;
    params.host_cable = {gigabits_per_second(400), 500 * kNanosecond, 0};
    params.fabric_cable = params.host_cable;
    const Topology built = build_rail(params);
    const Topology read = read_topology(file);
    CHECK(built.node_count() == read.node_count());
    CHECK(built.gpus_per_server == read.gpus_per_server);
    CHECK(same_links(built, read));
}

TEST_CASE("unit.topology.three_tier_default_is_hpcc_320") {
    const Topology built = build_three_tier({});
    CHECK(built.host_count() == 320);
    CHECK(switch_count(built) == 20 + 20 + 16);
    CHECK(built.links().size() == 320 + 80 + 80);
    const std::string file = reference_file("samples/hpcc/fat.txt");
    if (file.empty()) {
        MESSAGE("skipped: no reference files (set SLUICE_REFERENCE)");
        return;
    }
    CHECK(same_links(built, read_topology(file)));
}

TEST_CASE("unit.topology.three_tier_oversubscription_sets_rates") {
    ThreeTierParams params;
    params.leaf = {2, 1};
    params.agg = {3, 2};
    params.hosts_per_leaf = 24;
    const Topology topology = build_three_tier(params);
    // Leaf: 24 x 100G / (4 x 2) = 300G. Aggregation: 4 x 300G x 2 / (4 x 3) = 200G.
    CHECK(topology.links()[480].rate == gigabits_per_second(300));
    CHECK(topology.links().back().rate == gigabits_per_second(200));
    params.leaf = {7, 1};
    CHECK(contains(error_of([&] { build_three_tier(params); }), "whole number of bits per second"));
}

TEST_CASE("unit.topology.full_mesh_counts") {
    const Topology topology = build_full_mesh({6, 3, {}, {}});
    CHECK(topology.host_count() == 18);
    CHECK(topology.links().size() == 18 + 6 * 5 / 2);
    CHECK(all_have_ports(topology, 18, 24, 3 + 5));
    CHECK(diameter(topology) == 3);
}

TEST_CASE("unit.topology.torus_counts_and_diameter") {
    TorusParams params;
    params.dimensions = {4, 3, 5};
    params.hosts_per_switch = 2;
    const Topology cube = build_torus(params);
    CHECK(cube.host_count() == 120);
    CHECK(cube.links().size() == 120 + 3 * 60);  // one cable per switch and dimension
    CHECK(all_have_ports(cube, 120, 180, 2 + 6));
    CHECK(diameter(cube) == 2 + 2 + 1 + 2);  // halves of 4, 3 and 5, and the two host cables
    params.dimensions = {2, 3};
    const Topology flat = build_torus(params);
    CHECK(flat.links().size() == 12 + 3 + 6);  // size 2: one cable per pair
    CHECK(all_have_ports(flat, 12, 18, 2 + 1 + 2));
}

TEST_CASE("unit.topology.dragonfly_counts") {
    // a = 4, h = 2: 9 groups, every pair joined once: 36 global cables, 9 x 6 local ones.
    const Topology topology = build_dragonfly({});
    CHECK(switch_count(topology) == 36);
    CHECK(topology.host_count() == 72);
    CHECK(topology.links().size() == 72 + 54 + 36);
    CHECK(all_have_ports(topology, 72, 108, 2 + 3 + 2));
    CHECK(diameter(topology) == 5);  // host, local, global, local, host
    std::set<std::pair<NodeId, NodeId>> pairs;
    for (std::size_t i = 72 + 54; i < topology.links().size(); ++i) {
        const Link& link = topology.links()[i];
        pairs.insert({(link.a - 72) / 4, (link.b - 72) / 4});
    }
    CHECK(pairs.size() == 36);
}

TEST_CASE("unit.topology.dragonfly_with_fewer_groups") {
    DragonflyParams params;
    params.groups = 4;  // 8 global ports over 3 other groups: 2 cables per pair, 2 ports unused
    const Topology topology = build_dragonfly(params);
    CHECK(topology.links().size() == 32 + 4 * 6 + 6 * 2);
    CHECK(!find_unreachable_hosts(topology));
    params.groups = 1;
    CHECK(build_dragonfly(params).links().size() == 8 + 6);
    params.groups = 10;
    CHECK(error_of([&] { build_dragonfly(params); }) ==
          "dragonfly: groups 10 out of range (allowed: 0 to 9)");
}

TEST_CASE("unit.topology.bcube_counts_and_neighbours") {
    // BCube(4, 1): 16 servers, 2 levels of 4 switches with 4 ports.
    const Topology topology = build_bcube({});
    CHECK(topology.host_count() == 16);
    CHECK(switch_count(topology) == 16 + 8);
    CHECK(topology.links().size() == 16 + 32);
    CHECK(all_have_ports(topology, 16, 32, 1 + 2));
    CHECK(all_have_ports(topology, 32, 40, 4));
    CHECK(topology.links()[0].rate == gigabits_per_second(200));
    const Routing routing(topology);
    CHECK(routing.distance(0, 3) == 4);   // differ in digit 0 only: one level switch
    CHECK(routing.distance(0, 12) == 4);  // digit 1 only
    CHECK(routing.distance(0, 15) == 6);  // both: through another server's switch
    CHECK(routing.next_hops(16, 15).size() == 2);
}

TEST_CASE("unit.topology.builders_refuse_absurd_sizes") {
    CHECK(error_of([] {
              build_fat_tree({7, {}, {}});
          }) == "fat-tree: k 7 out of range (allowed: even numbers from 2 to 250)");
    CHECK(contains(error_of([] { build_star({0, {}}); }), "hosts 0 out of range"));
    CHECK(contains(error_of([] { build_dumbbell({-1, 2, {}, {}}); }), "left_hosts -1"));
    CHECK(contains(error_of([] { build_full_mesh({4'000'000, 1, {}, {}}); }), "too large"));
    LeafSpineParams clos;
    clos.leaves = clos.spines = clos.hosts_per_leaf = 4'000'000;
    CHECK(contains(error_of([&] { build_leaf_spine(clos); }), "too large"));
    TorusParams torus;
    torus.dimensions = {2048, 2048, 2048};
    CHECK(contains(error_of([&] { build_torus(torus); }), "too large"));
    torus.dimensions = {2, 2049};
    CHECK(contains(error_of([&] { build_torus(torus); }), "dimension"));
    torus.dimensions = {4};
    CHECK(contains(error_of([&] { build_torus(torus); }), "allowed: 2 or 3"));
    BCubeParams cube;
    cube.n = 4'000'000;
    cube.k = 20;
    CHECK(contains(error_of([&] { build_bcube(cube); }), "too large"));
    DragonflyParams dragonfly;
    dragonfly.routers_per_group = dragonfly.global_cables_per_router = 4'000'000;
    CHECK(contains(error_of([&] { build_dragonfly(dragonfly); }), "too large"));
    RailParams rail;
    rail.gpus = 100;
    CHECK(contains(error_of([&] { build_rail(rail); }), "not a multiple of gpus_per_server 8"));
    rail.gpus = 128;
    rail.fabric_cable.rate = {0};
    CHECK(contains(error_of([&] { build_rail(rail); }), "fabric cable rate"));
    ThreeTierParams tiers;
    tiers.cores = 6;
    CHECK(contains(error_of([&] { build_three_tier(tiers); }), "not a multiple of aggs_per_pod"));
}
