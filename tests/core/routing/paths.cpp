// SPDX-License-Identifier: Apache-2.0
/// Paths from a file, and base round-trip times.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/routing/base_rtt.h"
#include "core/routing/paths.h"
#include "core/topology/builders.h"
#include "core/topology/topology_io.h"
#include "tests/support/network_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr BaseRttConfig kNs3{1000, Arithmetic::ns3};

PathTable read_paths(const std::string& text, const Topology& topology) {
    TokenReader reader("p.csv", text);
    return PathTable::read(reader, topology);
}

std::string path_error(const std::string& lines) {
    const Topology dumbbell = build_dumbbell({});
    return error_of([&] { read_paths("src,dst,sport,path\n" + lines, dumbbell); });
}

}  // namespace

TEST_CASE("unit.routing.paths.read_and_reverse") {
    const Topology topology = build_dumbbell({});
    const PathTable table = read_paths(
        "src,dst,sport,path\r\n0,2,10000,0-4-5-2\r\n\r\n1, 3, 10001, 1-4-5-3\n", topology);
    CHECK(table.size() == 2);
    const std::vector<PortId>* path = table.find(1, 3, 10001);
    REQUIRE(path != nullptr);
    REQUIRE(path->size() == 3);
    CHECK(topology.node_of((*path)[0]) == 1);
    CHECK(topology.node_of((*path)[1]) == 4);
    CHECK(topology.neighbor((*path)[2]) == 3);
    CHECK(table.find(1, 3, 10000) == nullptr);
    CHECK(table.find(3, 1, 10001) == nullptr);
}

TEST_CASE("unit.routing.paths.lowest_of_parallel_ports") {
    LeafSpineParams params;
    params.leaves = 2;
    params.spines = 1;
    params.hosts_per_leaf = 1;
    params.cables_per_spine = 3;
    const Topology topology = build_leaf_spine(params);  // hosts 0 1, leaves 2 3, spine 4
    const PathTable table = read_paths("src,dst,sport,path\n0,1,7,0-2-4-3-1\n", topology);
    REQUIRE(table.find(0, 1, 7) != nullptr);
    CHECK((*table.find(0, 1, 7))[1] == topology.first_port(2) + 1);
    CHECK(port_towards(topology, 4, 3) == topology.first_port(4) + 3);
    CHECK(port_towards(topology, 0, 1) == kNone);
}

TEST_CASE("unit.routing.paths.refusals_name_the_line") {
    CHECK(path_error("0,2,10000,0-4-5-2") == "no error");
    CHECK(path_error("0,2,10000,0-4-2") == "p.csv:2: path: nodes 4 and 2 are not joined by a link");
    CHECK(path_error("\n0,2,10000,0-4-5-3") == "p.csv:3: path must lead from node 0 to node 2");
    CHECK(path_error("0,2,10000,0-4-1-4-5-2") == "p.csv:2: path visits node 4 twice");
    CHECK(path_error("0,2,10000,0-9-2") == "p.csv:2: path \"9\": out of range (allowed: 0 to 5)");
    CHECK(contains(path_error("0,2,70000,0-4-5-2"), "sport \"70000\""));
    CHECK(contains(path_error("0,2,10000"), "3 fields (allowed: 4"));
    CHECK(contains(path_error("0,4,10000,0-4"), "node 4 is not a host"));
    CHECK(contains(path_error("0,2,10000,"), "path \"\": not a whole number"));
    CHECK(contains(path_error("0,2,1,0-4-5-2\n0,2,1,0-4-5-2"), "p.csv:3: the path of this flow"));
    const Topology star = build_star({3, {}});
    CHECK(error_of([&] { read_paths("0,1,10000,0-3-1\n", star); }) ==
          "p.csv:1: header expected: src,dst,sport,path, or src,dst,sport,path,ack_path");
    CHECK(error_of([&] { read_paths("", star); }) ==
          "p.csv:1: header expected: src,dst,sport,path");
}

TEST_CASE("unit.routing.paths.acks_of_each_flow_have_their_own") {
    // Two leaves, two spines: two flows of one pair, whose ACKs differ only in their path.
    LeafSpineParams params;
    params.leaves = 2;
    params.spines = 2;
    params.hosts_per_leaf = 1;
    const Topology topology = build_leaf_spine(params);  // hosts 0 1, leaves 2 3, spines 4 5
    const PathTable table = read_paths(
        "src,dst,sport,path,ack_path\n0,1,7,0-2-4-3-1,1-3-5-2-0\n0,1,8,0-2-4-3-1,1-3-4-2-0\n"
        "0,1,9,0-2-5-3-1,\n1,0,100,1-3-5-2-0,\n",
        topology);
    std::vector<FlowSpec> flows(4);
    for (std::uint16_t f = 0; f < 4; ++f) {
        flows[f].src = 0;
        flows[f].dst = 1;
        flows[f].sport = static_cast<std::uint16_t>(7 + f);
    }
    std::size_t unlisted = 0;
    const std::vector<FlowPath> paths = paths_of(table, flows, unlisted);
    CHECK(unlisted == 1);
    REQUIRE(paths[0].reverse.size() == 4);
    CHECK(topology.neighbor(paths[0].reverse[1]) == 5);
    CHECK(topology.neighbor(paths[1].reverse[1]) == 4);
    CHECK(topology.neighbor(paths[2].reverse[1]) == 5);  // that of the pair
    CHECK(contains(error_of([&] {
                       read_paths("src,dst,sport,path,ack_path\n0,1,7,0-2-4-3-1,1-3-5-2\n",
                                  topology);
                   }),
                   "p.csv:2: ack_path must lead from node 1 to node 0"));
}

TEST_CASE("unit.routing.paths.no_transit_through_hosts") {
    Topology chain;
    for (int i = 0; i < 3; ++i) {
        chain.add_node(NodeKind::host);
    }
    chain.add_link({0, 1, gigabits_per_second(1), kMicrosecond, 0});
    chain.add_link({1, 2, gigabits_per_second(1), kMicrosecond, 0});
    chain.finish();
    CHECK(contains(error_of([&] { read_paths("src,dst,sport,path\n0,2,1,0-1-2\n", chain); }),
                   "p.csv:2: path passes through host 1"));
}

TEST_CASE("unit.routing.paths.reference_files") {
    for (const char* scenario : {"a_dumbbell", "b_incast16"}) {
        const std::string folder = std::string("ns3/") + scenario + "/";
        const std::string file = reference_file(folder + "flow_paths.csv");
        if (file.empty()) {
            MESSAGE("skipped: no reference files (set SLUICE_REFERENCE)");
            return;
        }
        const Topology topology = read_topology(reference_file(folder + "topology.txt"));
        CHECK(PathTable::read(file, topology).size() ==
              (std::string(scenario) == "a_dumbbell" ? 2 : 16));
    }
}

TEST_CASE("unit.routing.base_rtt.dumbbell_and_incast") {
    // Three links of 1 us and 80 ns each: 2 x 3000 + 3 x 80 = 6240 ns; x 100 Gb/s / 8 = 78,000 B.
    for (const BaseRttConfig& config : {kNs3, BaseRttConfig{}}) {
        const BaseRtt dumbbell = network_base_rtt(build_dumbbell({}), config);
        CHECK(dumbbell.rtt == 6240 * kNanosecond);
        CHECK(dumbbell.bdp.count == 78'000);
        const BaseRtt star = network_base_rtt(build_star({17, {}}), config);
        CHECK(star.rtt == 4160 * kNanosecond);
        CHECK(star.bdp.count == 52'000);
    }
}

TEST_CASE("unit.routing.base_rtt.truncates_as_ns3_does") {
    // 1000 B at 96 Gb/s: 83.333 ns, 83 under ns3; two links of 1500 ps delay, 1 ns each under ns3.
    StarParams params{2, {gigabits_per_second(96), 1500, 0}};
    const Topology topology = build_star(params);
    CHECK(network_base_rtt(topology, kNs3).rtt == (2 * 2 + 2 * 83) * kNanosecond);
    // Exact: 2 x 3000 + 2 x 83,334 (rounded up) ps.
    CHECK(network_base_rtt(topology, {}).rtt == 6000 + 2 * 83'334);
    // bdp: 170 ns x 96 Gb/s / 8 = 2040 B.
    CHECK(network_base_rtt(topology, kNs3).bdp.count == 2040);
}

TEST_CASE("unit.routing.base_rtt.maximum_equals_the_maximum_over_pairs") {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        const Topology topology = random_topology(seed);
        std::vector<std::pair<NodeId, NodeId>> pairs;
        for (const NodeId a : topology.hosts()) {
            for (const NodeId b : topology.hosts()) {
                if (a != b) {
                    pairs.emplace_back(a, b);
                }
            }
        }
        BaseRtt largest;
        for (const BaseRtt& one : pair_base_rtts(topology, kNs3, pairs)) {
            largest.rtt = std::max(largest.rtt, one.rtt);
            largest.bdp = std::max(largest.bdp, one.bdp);
        }
        const BaseRtt network = network_base_rtt(topology, kNs3);
        CAPTURE(seed);
        CHECK(network.rtt == largest.rtt);
        CHECK(network.bdp == largest.bdp);
    }
}

/// The definition, without a thought for cost: a search of its own for the pair, neighbours by id.
BaseRtt searched_base_rtt(const Topology& topology, NodeId src, NodeId dst,
                          const BaseRttConfig& config) {
    const bool descending = config.arithmetic == Arithmetic::ns3;
    std::vector<PortId> back(topology.node_count(), kNone);  // the port towards dst
    std::vector<NodeId> order{dst};
    for (std::size_t done = 0; done < order.size(); ++done) {
        const NodeId node = order[done];
        if (node != dst && topology.is_host(node)) continue;
        std::vector<PortId> ports;
        for (PortId port = topology.first_port(node); port < topology.first_port(node + 1);
             ++port) {
            ports.push_back(port);
        }
        std::sort(ports.begin(), ports.end(), [&](PortId a, PortId b) {
            const std::pair one{topology.neighbor(a), a};
            const std::pair other{topology.neighbor(b), b};
            return descending ? other < one : one < other;
        });
        for (const PortId port : ports) {
            const NodeId found = topology.neighbor(port);
            if (found == dst || back[found] != kNone) continue;
            back[found] = topology.peer_of(port);
            order.push_back(found);
        }
    }
    BaseRtt result;
    if (back[src] == kNone) return result;
    result.bottleneck = Rate{std::numeric_limits<std::int64_t>::max()};
    for (NodeId node = src; node != dst; node = topology.neighbor(back[node])) {
        const PortId port = back[node];
        const Tick sent =
            serialization_time(config.payload, topology.rate(port), Arithmetic::exact);
        result.rtt +=
            2 * topology.delay(port) + (descending ? sent / kNanosecond * kNanosecond : sent);
        result.bottleneck = std::min(result.bottleneck, topology.rate(port));
    }
    return result;
}

TEST_CASE("unit.routing.base_rtt.every_pair_and_the_maximum_are_those_of_a_search") {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const Topology topology = random_topology(seed);
        const BaseRttConfig config = seed % 2 == 0 ? BaseRttConfig{} : kNs3;
        std::vector<std::pair<NodeId, NodeId>> pairs;
        for (const NodeId a : topology.hosts()) {
            for (const NodeId b : topology.hosts()) pairs.emplace_back(a, b);
        }
        const std::vector<BaseRtt> given = pair_base_rtts(topology, config, pairs);
        Tick largest = 0;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto& [src, dst] = pairs[i];
            if (src == dst) continue;
            const BaseRtt searched = searched_base_rtt(topology, src, dst, config);
            CHECK(given[i].rtt == searched.rtt);
            CHECK(given[i].bottleneck == searched.bottleneck);
            largest = std::max(largest, searched.rtt);
        }
        CHECK(network_base_rtt(topology, config).rtt == largest);
    }
}

TEST_CASE("unit.routing.base_rtt.servers_cost_no_search_each") {
    // 32,768 GPUs behind 4,096 NVSwitches hang on 512 leaves: a search for each GPU takes a minute.
    SimaiParams params = alibaba_hpn_params(false);
    params.gpus = 32'768;
    // In this thread's own time, and as much of it as building takes: no machine's speed or load counts.
    const std::clock_t begun = std::clock();
    const Topology topology = build_simai(params);
    const std::clock_t built = std::clock();
    const BaseRtt base = network_base_rtt(topology, {});
    const std::clock_t searched = std::clock();
    CHECK(searched - built < 100 * (built - begun));
    CHECK(base.rtt > 0);
}

TEST_CASE("unit.routing.base_rtt.pairs_use_their_own_path") {
    // Hosts on one leaf: 2 links; across: 4 links, the fabric's at 400 Gb/s (20 ns).
    LeafSpineParams params;
    params.fabric_cable.rate = gigabits_per_second(400);
    const Topology topology = build_leaf_spine(params);
    const auto rtts = pair_base_rtts(topology, kNs3, {{0, 15}, {0, 1}, {3, 3}});
    CHECK(rtts[0].rtt == (8000 + 2 * 80 + 2 * 20) * kNanosecond);
    CHECK(rtts[0].bdp.count == 8200 * 100 / 8);  // least rate 100 Gb/s
    CHECK(rtts[0].bottleneck == gigabits_per_second(100));
    CHECK(rtts[1].rtt == 4160 * kNanosecond);
    CHECK(rtts[2].rtt == 0);
}

TEST_CASE("unit.routing.base_rtt.absurd_round_trips_are_refused") {
    // 20 links of 1000 s.
    TorusParams params;
    params.dimensions = {20, 20};
    params.fabric_cable.delay = 1'000 * kSecond;
    const Topology topology = build_torus(params);
    CHECK(contains(error_of([&] { network_base_rtt(topology, {}); }), "allowed: below 10000s"));
}
