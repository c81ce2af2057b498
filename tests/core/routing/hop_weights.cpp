// SPDX-License-Identifier: Apache-2.0
/// Next hops by the rates of their cables.
#include "core/routing/hop_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/routing/routing.h"
#include "core/topology/builders.h"

using namespace sluice;

namespace {

/// Two switches, a host below each, and between them cables of these rates. The first switch's ports to the second are 1, 2, ...
/// after that to its host.
Topology two_switches(const std::vector<std::int64_t>& rates) {
    Topology topology;
    const NodeId a = topology.add_node(NodeKind::host);
    const NodeId b = topology.add_node(NodeKind::host);
    const NodeId left = topology.add_node(NodeKind::ethernet);
    const NodeId right = topology.add_node(NodeKind::ethernet);
    topology.add_link({a, left, gigabits_per_second(100), kMicrosecond, 0});
    topology.add_link({b, right, gigabits_per_second(100), kMicrosecond, 0});
    for (const std::int64_t rate : rates) {
        topology.add_link({left, right, Rate{rate}, kMicrosecond, 0});
    }
    topology.finish();
    return topology;
}

/// The entries of the first switch's list, as numbers of the parallel cables.
std::vector<int> entries(const std::vector<std::int64_t>& rates) {
    Topology topology = two_switches(rates);
    topology.hop_weights = HopWeights::rate;
    const Routing routing(topology);
    std::vector<int> list;
    for (const PortId port : routing.next_hops(2, 1)) {
        list.push_back(static_cast<int>(port - topology.first_port(2)) - 1);
    }
    return list;
}

}  // namespace

TEST_CASE("unit.routing.hop_weights.entries_follow_rates") {
    constexpr std::int64_t kGigabit = 1'000'000'000;
    CHECK(entries({400 * kGigabit, 100 * kGigabit}) == std::vector<int>{0, 0, 1, 0, 0});
    CHECK(entries({100 * kGigabit, 100 * kGigabit}) == std::vector<int>{0, 1});
    CHECK(entries({40 * kGigabit}) == std::vector<int>{0});
    CHECK(entries({40 * kGigabit, 100 * kGigabit, 40 * kGigabit}) ==
          std::vector<int>{1, 0, 2, 1, 1, 1, 0, 2, 1});
    // Rates without a large common part are rounded.
    const std::vector<int> rounded = entries({99'999'999'977, 50'000'000'017});
    CHECK(rounded == std::vector<int>{0, 1, 0});
    const std::vector<int> least = entries({800 * kGigabit, kGigabit});
    CHECK(least.size() == kMostEntries + 1);
    CHECK(std::count(least.begin(), least.end(), 1) == 1);
    CHECK(entries({99'999'999'977, 99'999'999'989}) == std::vector<int>{0, 1});
}

TEST_CASE("unit.routing.hop_weights.flows_are_hashed_by_weight") {
    Topology topology = two_switches({300'000'000'000, 100'000'000'000});
    topology.hop_weights = HopWeights::rate;
    const Routing routing(topology);
    int over_first = 0;
    for (std::uint16_t port = 0; port < 4000; ++port) {
        over_first += routing.path({0, 1, port, 100})[1] == topology.first_port(2) + 1 ? 1 : 0;
    }
    CHECK(over_first > 2900);
    CHECK(over_first < 3100);
    topology.hop_weights = HopWeights::equal;
    CHECK(Routing(topology).next_hops(2, 1).size() == 2);
}

TEST_CASE("unit.routing.hop_weights.a_failed_cable_leaves_the_others_weights") {
    Topology topology = two_switches({400'000'000'000, 100'000'000'000, 200'000'000'000});
    topology.hop_weights = HopWeights::rate;
    Routing routing(topology);
    CHECK(routing.next_hops(2, 1).size() == 7);
    routing.set_link(3, false);  // the one of 100 Gb/s
    CHECK(routing.next_hops(2, 1).size() == 3);
    routing.set_link(3, true);
    CHECK(routing.next_hops(2, 1).size() == 7);
}
