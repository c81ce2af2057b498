// SPDX-License-Identifier: Apache-2.0
/// Ways among a dragonfly's groups: fewest cables, at most one global cable, by way of a drawn group.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/routing/base_rtt.h"
#include "core/routing/routing.h"
#include "core/routing/valiant.h"
#include "core/topology/builders.h"

using namespace sluice;

namespace {

/// Links between groups, and all, of a way.
using Links = std::pair<int, int>;

constexpr Links kNoWay = {1'000'000, 0};

DragonflyParams params(GroupRouting routing, std::int64_t groups = 0) {
    DragonflyParams p;
    p.routing = routing;
    p.groups = groups;
    p.host_cable.delay = 100 * kNanosecond;
    p.local_cable = {gigabits_per_second(50), 200 * kNanosecond, 0};
    p.global_cable = {gigabits_per_second(25), 1000 * kNanosecond, 0};
    return p;
}

bool is_global(const Topology& topology, PortId port) {
    const std::uint32_t from = topology.switch_group[topology.node_of(port)];
    const std::uint32_t to = topology.switch_group[topology.neighbor(port)];
    return from != kNone && to != kNone && from != to;
}

Links links_of(const Topology& topology, const std::vector<PortId>& path) {
    const auto global = std::count_if(path.begin(), path.end(),
                                      [&](PortId port) { return is_global(topology, port); });
    return {static_cast<int>(global), static_cast<int>(path.size())};
}

/// The fewest, by relaxing every cable until nothing changes.
std::vector<Links> nearest(const Topology& topology, NodeId dst, const std::set<LinkId>& down) {
    std::vector<Links> all(topology.node_count(), kNoWay);
    all[dst] = {0, 0};
    for (bool moved = true; moved;) {
        moved = false;
        for (PortId port = 0; port < topology.port_count(); ++port) {
            const NodeId from = topology.node_of(port);
            const NodeId to = topology.neighbor(port);
            if (down.count(topology.link_of(port)) > 0) continue;
            if (topology.is_host(to) && to != dst) continue;
            const Links over = {all[to].first + (is_global(topology, port) ? 1 : 0),
                                all[to].second + 1};
            if (all[to] != kNoWay && over < all[from]) {
                all[from] = over;
                moved = true;
            }
        }
    }
    return all;
}

void check_minimal(const Topology& topology, const Routing& routing, const std::set<LinkId>& down,
                   int most_global) {
    for (const NodeId dst : topology.hosts()) {
        if (dst % 5 != 0) continue;
        const std::vector<Links> all = nearest(topology, dst, down);
        for (NodeId node = 0; node < topology.node_count(); ++node) {
            if (node == dst) continue;
            REQUIRE(all[node] != kNoWay);
            CHECK(routing.distance(node, dst) == all[node].second);
            if (down.empty()) CHECK(all[node].first <= most_global);
            std::set<PortId> expected;
            for (PortId port = topology.first_port(node); port < topology.first_port(node + 1);
                 ++port) {
                const NodeId to = topology.neighbor(port);
                if (down.count(topology.link_of(port)) > 0) continue;
                if (topology.is_host(to) && to != dst) continue;
                const Links over = {all[to].first + (is_global(topology, port) ? 1 : 0),
                                    all[to].second + 1};
                if (all[to] != kNoWay && over == all[node]) expected.insert(port);
            }
            const Routing::PortRange hops = routing.next_hops(node, dst);
            CHECK(std::set<PortId>(hops.begin(), hops.end()) == expected);
        }
    }
}

}  // namespace

TEST_CASE("unit.routing.minimal_takes_one_global_cable_and_the_fewest_others") {
    for (const std::int64_t groups : {0, 5, 3, 2}) {
        const Topology topology = build_dragonfly(params(GroupRouting::minimal, groups));
        const Routing routing(topology);
        check_minimal(topology, routing, {}, 1);
    }
    // What it is not: fewest cables may be two global ones.
    const Topology topology = build_dragonfly(params(GroupRouting::shortest));
    const Routing routing(topology);
    int two = 0;
    for (NodeId src = 0; src < 8; ++src) {
        for (NodeId dst = 8; dst < 72; ++dst) {
            two += links_of(topology, routing.path({src, dst, 1, 100})).first == 2 ? 1 : 0;
        }
    }
    CHECK(two > 0);
}

TEST_CASE("unit.routing.minimal_goes_round_what_has_failed") {
    const Topology topology = build_dragonfly(params(GroupRouting::minimal));
    Routing routing(topology);
    std::set<LinkId> down;
    routing.prepare_all();
    for (std::uint64_t n = 0; n < 40; ++n) {
        const auto link =
            static_cast<LinkId>(topology.host_count() +
                                uniform_below(1, 2, n,
                                              static_cast<std::uint32_t>(topology.links().size() -
                                                                         topology.host_count())));
        const bool up = down.count(link) > 0;
        if (!up && down.size() == 6) continue;
        routing.set_link(link, up);
        if (up) {
            down.erase(link);
        } else {
            down.insert(link);
        }
        if (n % 4 == 3) check_minimal(topology, routing, down, 1);
    }
}

TEST_CASE("unit.routing.base_round_trips_are_of_minimal_ways") {
    for (const GroupRouting kind : {GroupRouting::shortest, GroupRouting::minimal}) {
        for (const std::int64_t groups : {0, 4}) {
            const Topology topology = build_dragonfly(params(kind, groups));
            const Routing routing(topology);
            std::vector<std::pair<NodeId, NodeId>> pairs;
            for (const NodeId src : topology.hosts()) {
                for (const NodeId dst : topology.hosts()) {
                    if (src != dst && src % 3 == 0) pairs.emplace_back(src, dst);
                }
            }
            const std::vector<BaseRtt> bases = pair_base_rtts(topology, {}, pairs);
            Tick largest = 0;
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                // Of a pair all minimal ways have the same cables.
                const std::vector<PortId> path =
                    routing.path({pairs[i].first, pairs[i].second, 7, 100});
                Tick rtt = 0;
                for (const PortId port : path) {
                    rtt += 2 * topology.delay(port) +
                           serialization_time(1000, topology.rate(port), Arithmetic::exact);
                }
                if (kind == GroupRouting::minimal) CHECK(bases[i].rtt == rtt);
                largest = std::max(largest, bases[i].rtt);
            }
            CHECK(network_base_rtt(topology, {}).rtt == largest);
        }
    }
}

namespace {

std::uint32_t group_at(const Topology& topology, NodeId host) {
    return topology.switch_group[topology.neighbor(topology.first_port(host))];
}

/// The group that a way leads through; kNone of one without a way of its own.
std::uint32_t group_between(const Topology& topology, const std::vector<PortId>& path, NodeId src,
                            NodeId dst) {
    std::uint32_t by = kNone;
    if (group_at(topology, src) == group_at(topology, dst)) {
        CHECK(path.empty());
        return by;
    }
    REQUIRE(path.size() >= 4);
    REQUIRE(path.size() <= 7);
    CHECK(links_of(topology, path).first == 2);
    NodeId at = src;
    std::set<NodeId> seen;
    for (const PortId port : path) {
        REQUIRE(topology.node_of(port) == at);
        CHECK(seen.insert(at).second);
        at = topology.neighbor(port);
        if (at == dst) continue;
        const std::uint32_t group = topology.switch_group[at];
        if (group != group_at(topology, src) && group != group_at(topology, dst)) by = group;
    }
    CHECK(at == dst);
    REQUIRE(by != kNone);
    return by;
}

std::vector<FlowSpec> flows_of_the_first_group() {
    std::vector<FlowSpec> flows;
    for (NodeId src = 0; src < 8; ++src) {
        for (std::uint32_t n = 0; n < 700; ++n) {
            FlowSpec flow;
            flow.src = src;
            flow.dst = n % 72;
            flow.sport = static_cast<std::uint16_t>(10'000 + n);
            flow.dport = 100;
            if (flow.dst != src) flows.push_back(flow);
        }
    }
    return flows;
}

}  // namespace

TEST_CASE("unit.routing.valiant_goes_by_way_of_a_group_that_is_drawn") {
    const Topology topology = build_dragonfly(params(GroupRouting::valiant));
    const Routing routing(topology);
    const std::vector<FlowSpec> flows = flows_of_the_first_group();
    const std::vector<FlowPath> paths = valiant_paths(topology, routing, flows, 1);
    REQUIRE(paths.size() == flows.size());
    std::map<std::uint32_t, int> between;
    int apart = 0;
    int all = 0;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const FlowSpec& flow = flows[i];
        const std::uint32_t there = group_between(topology, paths[i].forward, flow.src, flow.dst);
        const std::uint32_t back = group_between(topology, paths[i].reverse, flow.dst, flow.src);
        apart += there != back ? 1 : 0;
        if (there == kNone || flow.dst < 64) continue;
        ++between[there];
        ++all;
    }
    // From the first group to the last: one of seven, evenly.
    CHECK(between.size() == 7);
    for (const auto& [group, count] : between) {
        CHECK(count > all / 7 * 3 / 4);
        CHECK(count < all / 7 * 5 / 4);
    }
    CHECK(apart > all / 2);
    // By the seed and the flow alone.
    CHECK(valiant_paths(topology, routing, {flows[50]}, 1)[0].forward == paths[50].forward);
    int moved = 0;
    const std::vector<FlowPath> other = valiant_paths(topology, routing, flows, 2);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        moved += other[i].forward != paths[i].forward ? 1 : 0;
    }
    CHECK(moved > static_cast<int>(flows.size()) / 2);
}

TEST_CASE("unit.routing.valiant_of_parallel_cables_and_of_two_groups") {
    const Topology three = build_dragonfly(params(GroupRouting::valiant, 3));
    const Routing routing(three);
    std::vector<FlowSpec> flows(200);
    std::set<PortId> cables;
    for (std::size_t i = 0; i < flows.size(); ++i) {
        flows[i].src = 0;
        flows[i].dst = 8;
        flows[i].sport = static_cast<std::uint16_t>(i);
    }
    for (const FlowPath& path : valiant_paths(three, routing, flows, 1)) {
        const auto found = std::find_if(path.forward.begin(), path.forward.end(),
                                        [&](PortId port) { return is_global(three, port); });
        REQUIRE(found != path.forward.end());
        CHECK(three.switch_group[three.neighbor(*found)] == 2);
        cables.insert(*found);
    }
    CHECK(cables.size() == 4);  // of a pair of groups
    const Topology two = build_dragonfly(params(GroupRouting::valiant, 2));
    for (const FlowPath& path : valiant_paths(two, Routing(two), flows, 1)) {
        CHECK(path.forward.empty());
    }
}

TEST_CASE("unit.routing.windows_hold_for_valiant_ways") {
    for (const GroupRouting kind :
         {GroupRouting::shortest, GroupRouting::minimal, GroupRouting::valiant}) {
        const Topology topology = build_dragonfly(params(kind));
        const Routing routing(topology);
        std::vector<FlowSpec> flows(20);
        for (std::size_t i = 0; i < flows.size(); ++i) {
            flows[i].src = 0;
            flows[i].dst = 70;
            flows[i].sport = static_cast<std::uint16_t>(i);
        }
        const BaseRtt tables = network_base_rtt(topology, {});
        BaseRtt base = tables;
        for (const FlowPath& path : valiant_paths(topology, routing, flows, 1)) {
            widen_to_path(base, topology, {}, path.forward);
        }
        CHECK((base.rtt > tables.rtt) == (kind == GroupRouting::valiant));
        CHECK((base.bdp.count > tables.bdp.count) == (kind == GroupRouting::valiant));
    }
    // host, local, global, local, global, local, host: 2 x 2.8 us and their frames.
    const Topology topology = build_dragonfly(params(GroupRouting::valiant));
    BaseRtt base;
    std::vector<PortId> longest;
    std::vector<FlowSpec> flows(400);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        flows[i].src = 0;
        flows[i].dst = 70;
        flows[i].sport = static_cast<std::uint16_t>(i);
    }
    for (const FlowPath& path : valiant_paths(topology, Routing(topology), flows, 1)) {
        if (path.forward.size() > longest.size()) longest = path.forward;
    }
    REQUIRE(longest.size() == 7);
    widen_to_path(base, topology, {}, longest);
    CHECK(base.rtt == 2 * (2 * 100 + 3 * 200 + 2 * 1000) * kNanosecond +
                          (2 * 80 + 3 * 160 + 2 * 320) * kNanosecond);
    CHECK(base.bdp.count == base.rtt * 25 / 8 / 1000);
}
