// SPDX-License-Identifier: Apache-2.0
/// Hosts that forward: the network that stands for them, and paths through it.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/routing/base_rtt.h"
#include "core/routing/routing.h"
#include "core/topology/connectivity.h"
#include "core/topology/forwarding_hosts.h"
#include "core/topology/link_class.h"
#include "core/topology/node_names.h"
#include "tests/support/network_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr Tick kCable = kMicrosecond;
constexpr Tick kInside = 25 * kNanosecond;

/// BCube(2, 1) as published: servers 0 to 3, level 0 switches 4 (0, 1) and 5 (2, 3), level 1 switches 6 (0, 2) and 7
/// (1, 3). Servers 0 and 3 have no switch in common.
Topology bcube() {
    Topology topology;
    for (int i = 0; i < 4; ++i) topology.add_node(NodeKind::host);
    for (int i = 0; i < 4; ++i) topology.add_node(NodeKind::ethernet);
    for (NodeId server = 0; server < 4; ++server) {
        topology.add_link({server, 4 + server / 2, gigabits_per_second(100), kCable, 0});
        topology.add_link({server, 6 + server % 2, gigabits_per_second(40), kCable, 0});
    }
    topology.finish();
    return topology;
}

/// Two servers of two GPUs on an NVSwitch each, 4 and 5; rails 6 (GPUs 0, 2) and 7 (GPUs 1, 3) are not joined.
Topology rail_only() {
    Topology topology;
    for (int i = 0; i < 4; ++i) topology.add_node(NodeKind::host);
    for (int i = 0; i < 2; ++i) topology.add_node(NodeKind::nvswitch);
    for (int i = 0; i < 2; ++i) topology.add_node(NodeKind::ethernet);
    for (NodeId gpu = 0; gpu < 4; ++gpu) {
        topology.add_link({gpu, 4 + gpu / 2, gigabits_per_second(2880), kInside, 0});
        topology.add_link({gpu, 6 + gpu % 2, gigabits_per_second(400), kCable, 0});
    }
    topology.gpus_per_server = 2;
    topology.finish();
    return topology;
}

Topology forwarding(const Topology& topology, const ForwardingCost& cost = {}) {
    return with_forwarding_hosts(topology, hosts_with_several_cables(topology), cost);
}

/// The nodes of the first of the shortest paths.
std::vector<std::string> path(const Topology& topology, NodeId from, NodeId to) {
    const Routing routing(topology);
    const NodeNames names(topology);
    std::vector<std::string> nodes;
    for (NodeId at = from; at != to && nodes.size() < topology.node_count();) {
        nodes.push_back(names[at]);
        at = topology.neighbor(*routing.next_hops(at, to).begin());
    }
    return nodes;
}

}  // namespace

TEST_CASE("unit.forwarding_hosts.join_what_no_switch_joins") {
    CHECK(find_unreachable_hosts(bcube()).has_value());
    CHECK_FALSE(find_unreachable_hosts(forwarding(bcube())).has_value());
    CHECK_FALSE(find_unreachable_hosts(forwarding(rail_only())).has_value());
    // Server 1 alone joins 0 and 3; 2 and 3 would need 3 or 0.
    const Topology one = with_forwarding_hosts(bcube(), {1}, {});
    CHECK(Routing(one).distance(0, 3) > 0);
    CHECK(Routing(one).distance(1, 2) < 0);
}

TEST_CASE(
    "unit.forwarding_hosts.own_traffic_takes_the_delays_of_the_cables_and_passing_traffic_the_cost_"
    "more") {
    const std::vector<std::pair<NodeId, NodeId>> pairs{{0, 1}, {0, 3}};
    const std::vector<BaseRtt> rtts =
        pair_base_rtts(forwarding(bcube(), {3 * kMicrosecond, {}}), {}, pairs);
    // A payload of 1000 B takes 80 ns at 100 Gb/s, 200 ns at 40. From 0 to 1: two cables, and a link of the same rate in
    // each of the servers.
    CHECK(rtts[0].rtt == 4 * kCable + 4 * 80 * kNanosecond);
    // From 0 to 3 two such pairs of cables, one of them at 40 Gb/s, and between them the forwarding link at 40.
    CHECK(rtts[1].rtt == 8 * kCable + 2 * 3 * kMicrosecond + (3 * 80 + 4 * 200) * kNanosecond);
    CHECK(rtts[1].bottleneck == gigabits_per_second(40));
}

TEST_CASE("unit.forwarding_hosts.a_rate_bounds_what_passes") {
    const std::vector<BaseRtt> rtts =
        pair_base_rtts(forwarding(bcube(), {0, gigabits_per_second(10)}), {}, {{0, 1}, {0, 3}});
    CHECK(rtts[0].bottleneck == gigabits_per_second(100));
    CHECK(rtts[1].bottleneck == gigabits_per_second(10));
}

TEST_CASE("unit.forwarding_hosts.rails_are_left_by_nvlink_first_as_with_pxn") {
    const Topology topology = forwarding(rail_only());
    CHECK(path(topology, 0, 1) == std::vector<std::string>{"host0", "port0", "nvswitch0", "port2"});
    CHECK(path(topology, 0, 2) == std::vector<std::string>{"host0", "port1", "leaf0", "port5"});
    CHECK(path(topology, 0, 3) == std::vector<std::string>{"host0", "port0", "nvswitch0", "port2",
                                                           "port3", "leaf1", "port7"});
    // A GPU still has one port into its server, and one into the network.
    const HostPorts ports(topology);
    CHECK(ports.between(0, 1).nvlink);
    CHECK(ports.between(0, 1).ports == 1);
    CHECK_FALSE(ports.between(0, 2).nvlink);
    CHECK(ports.between(0, 2).ports == 1);
}

TEST_CASE("unit.forwarding_hosts.cables_keep_their_ids_and_classes") {
    const Topology old = rail_only();
    const Topology topology = forwarding(old);
    const LinkClasses before(old);
    const LinkClasses after(topology);
    for (LinkId link = 0; link < old.links().size(); ++link) {
        CHECK(before[link].name == after[link].name);
        CHECK(owner_of(topology, topology.links()[link].a) == old.links()[link].a);
        CHECK(topology.links()[link].rate == old.links()[link].rate);
    }
    // Two links to its ports and one between them in each of four GPUs.
    CHECK(after.classes().back().name == "host-port");
    CHECK(after.classes().back().links == 12);
    // From a GPU or a switch, a cable's other end is the switch or the GPU.
    CHECK(port_cable(topology, topology.first_port(0) + 1).end == 6);
    CHECK(port_cable(topology, topology.first_port(6)).end == 0);
}

TEST_CASE("unit.forwarding_hosts.a_cable_between_two_that_forward_is_shared_out_in_three") {
    Topology ring;  // DCell's level 1: servers joined to each other
    for (int i = 0; i < 4; ++i) ring.add_node(NodeKind::host);
    for (NodeId i = 0; i < 4; ++i)
        ring.add_link({i, (i + 1) % 4, gigabits_per_second(100), kCable, 0});
    ring.finish();
    const std::vector<BaseRtt> rtts =
        pair_base_rtts(forwarding(ring, {0, {}}), {}, {{0, 1}, {0, 2}});
    CHECK(rtts[0].rtt == 2 * kCable + 3 * 80 * kNanosecond);
    CHECK(rtts[1].rtt == 4 * kCable + 5 * 80 * kNanosecond);
}

TEST_CASE("unit.forwarding_hosts.what_cannot_forward_is_refused") {
    CHECK_THROWS_WITH_AS(with_forwarding_hosts(bcube(), {4}, {}), "node 4 is no host", ConfigError);
    Topology star;
    star.add_node(NodeKind::host);
    star.add_node(NodeKind::ethernet);
    star.add_link({0, 1, gigabits_per_second(100), kCable, 0});
    star.finish();
    CHECK_THROWS_WITH_AS(with_forwarding_hosts(star, {0}, {}),
                         "host 0 has 1 cables; a host that forwards needs two", ConfigError);
}
