// SPDX-License-Identifier: Apache-2.0
/// Classes of links by the networks whose tiers are known, and their invariants on random ones.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/topology/builders.h"
#include "core/topology/link_class.h"
#include "tests/support/network_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// "nic 16, leaf-spine 16"
std::string shown(const Topology& topology) {
    std::string text;
    const LinkClasses classes(topology);
    for (const LinkClass& c : classes.classes()) {
        text += (text.empty() ? "" : ", ") + c.name + " " + std::to_string(c.links);
    }
    return text;
}

}  // namespace

TEST_CASE("unit.link_class.tiers_of_known_networks") {
    CHECK(shown(build_star({})) == "nic 16");
    // k = 4: 16 hosts, 4 pods of 2 x 2 edge-aggregation and 2 x 2 aggregation-core cables.
    CHECK(shown(build_fat_tree({})) == "nic 16, leaf-spine 16, spine-core 16");
    // 4 x 4 switches with a host each, every switch with two cables of its own.
    CHECK(shown(build_torus({})) == "nic 16, leaf-leaf 32");
    RailParams rail;
    rail.gpus = 16;
    rail.servers_per_segment = 2;
    rail.spines = 2;
    rail.nvswitches_per_server = 4;
    CHECK(shown(build_rail(rail)) == "nvlink 64, nic 16, leaf-spine 16");
}

TEST_CASE("unit.link_class.cables_between_gpus_of_a_server_are_nvlink") {
    // Switch 0, then servers of two GPUs: 1, 2 and 3, 4; 2-3 joins two servers.
    Topology topology;
    topology.add_node(NodeKind::ethernet);
    for (int i = 1; i < 5; ++i) topology.add_node(NodeKind::host);
    const auto join = [&](NodeId a, NodeId b) {
        topology.add_link({a, b, gigabits_per_second(100), kMicrosecond, 0});
    };
    join(1, 2);
    join(4, 3);
    join(2, 3);
    for (NodeId host = 1; host < 5; ++host) join(host, 0);
    topology.gpus_per_server = 2;
    topology.finish();
    CHECK(shown(topology) == "nvlink 2, nic 5");
}

TEST_CASE("unit.link_class.deep_direct_and_hostless_parts") {
    Topology topology;  // hosts 0, 1; switches 2..6 in a row from host 0; switches 7, 8 apart
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::host);
    for (int i = 2; i < 9; ++i) topology.add_node(NodeKind::ethernet);
    const auto join = [&](NodeId a, NodeId b) {
        topology.add_link({a, b, gigabits_per_second(100), kMicrosecond, 0});
    };
    join(0, 1);
    for (NodeId node = 6; node > 2; --node) join(node, node - 1);  // tiers 5-4, 4-3, 3-2, 2-1
    join(0, 2);
    join(7, 8);
    topology.finish();
    CHECK(shown(topology) ==
          "nic 2, leaf-spine 1, spine-core 1, core-tier4 1, tier4-tier5 1, unattached 1");
    const LinkClasses classes(topology);
    CHECK(classes[0].kind == LinkKind::nic);
    CHECK(classes[4].name == "leaf-spine");
    CHECK(classes[6].name == "unattached");
}

TEST_CASE("unit.link_class.every_link_is_in_one_class") {
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
        const Topology topology = random_topology(seed);
        const LinkClasses classes(topology);
        std::size_t links = 0;
        for (const LinkClass& c : classes.classes()) {
            CHECK(c.links > 0);
            links += c.links;
        }
        CHECK(links == topology.links().size());
    }
}
