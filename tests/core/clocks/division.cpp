// SPDX-License-Identifier: Apache-2.0
/// Nodes divided among workers: even, and with little between them.
#include "core/clocks/division.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/topology/builders.h"

using namespace sluice;

namespace {

struct Divided {
    double most = 0;      ///< the busiest worker's share, of an even one
    double crossing = 0;  ///< of all packets
};

Topology rails(std::size_t gpus) {
    RailParams shape;
    shape.gpus = static_cast<decltype(shape.gpus)>(gpus);
    shape.gpus_per_server = 8;
    shape.servers_per_segment = 16;
    return build_rail(shape);
}

Divided divided(const Topology& topology, const std::vector<std::uint64_t>& packets,
                std::uint32_t workers) {
    const std::vector<std::uint16_t> owner = step::divide_nodes(topology, packets, workers);
    REQUIRE(owner.size() == topology.node_count());
    CHECK(*std::max_element(owner.begin(), owner.end()) < workers);
    std::vector<double> work(workers, 0);
    double all = 0;
    Divided result;
    for (PortId p = 0; p < topology.port_count(); ++p) {
        const auto sent = static_cast<double>(packets[p]);
        const std::uint16_t from = owner[topology.node_of(p)];
        const std::uint16_t to = owner[topology.neighbor(p)];
        work[from] += sent;
        work[to] += sent;
        all += sent;
        result.crossing += from != to ? sent : 0;
    }
    result.crossing /= all;
    result.most = *std::max_element(work.begin(), work.end()) * workers / (2 * all);
    return result;
}

}  // namespace

TEST_CASE("unit.division.pods_of_a_fat_tree") {
    FatTreeParams shape;
    shape.k = 8;
    const Topology topology = build_fat_tree(shape);
    const std::vector<std::uint64_t> alike(topology.port_count(), 1);
    for (const std::uint32_t workers : {2U, 4U}) {
        const Divided halves = divided(topology, alike, workers);
        CHECK(halves.most < 1.05);
        CHECK(halves.crossing <= 0.26);  // among pods and cores only: a third of the cables
    }
}

TEST_CASE("unit.division.rails_that_send_to_themselves") {
    const Topology topology = rails(128);
    std::vector<std::uint64_t> packets(topology.port_count(), 1);
    for (PortId p = 0; p < packets.size(); ++p) {
        if (topology.is_host(topology.node_of(p)) || topology.is_host(topology.neighbor(p))) {
            packets[p] = 1000;
        }
    }
    const Divided halves = divided(topology, packets, 2);
    CHECK(halves.most < 1.01);
    CHECK(halves.crossing < 0.001);
}

TEST_CASE("unit.division.leaves_of_a_large_network_with_their_hosts") {
    const Topology topology = rails(1024);
    for (const std::uint32_t workers : {2U, 3U}) {
        const std::vector<std::uint16_t> owner = step::divide_for_skips(topology, workers);
        CHECK(owner == step::divide_by_leaves(topology, workers));
        std::vector<int> hosts(workers, 0);
        for (const NodeId host : topology.hosts()) {
            ++hosts[owner[host]];
            CHECK(owner[topology.neighbor(topology.first_port(host))] == owner[host]);
        }
        const auto [least, most] = std::minmax_element(hosts.begin(), hosts.end());
        CHECK(*most - *least <= 16);  // the hosts of one leaf
    }
}

TEST_CASE("unit.division.few_leaves_are_shared") {
    FatTreeParams shape;
    shape.k = 8;  // 32 leaves
    const Topology topology = build_fat_tree(shape);
    CHECK(step::divide_for_skips(topology, 2) == step::divide_by_leaves(topology, 2));
    CHECK(step::divide_for_skips(topology, 3) == step::divide_everywhere(topology, 3));
}

TEST_CASE("unit.division.more_workers_than_nodes") {
    StarParams shape;
    shape.hosts = 3;
    const Topology topology = build_star(shape);
    divided(topology, std::vector<std::uint64_t>(topology.port_count(), 1), 8);
}
