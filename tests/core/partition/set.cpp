// SPDX-License-Identifier: Apache-2.0
/// Partitions: hand-made networks, the id rules, what calls cost, misuse.
#include "core/partition/partition_set.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "core/partition/flow_resources.h"
#include "core/routing/paths.h"
#include "core/topology/builders.h"
#include "tests/support/partition_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

using Ids = std::vector<PartitionId>;

/// Flow i uses resources i and i + 1: a chain in which every leave in the middle is a split.
PartitionSet chain_of(FlowSlot flows) {
    PartitionSet set(flows + 1, flows);
    for (FlowSlot flow = 0; flow < flows; ++flow) {
        set.enter(flow, {flow, flow + 1});
    }
    return set;
}

/// What a leave cost, in uses examined.
std::uint64_t cost_of_leave(PartitionSet& set, FlowSlot flow) {
    const std::uint64_t before = set.examined();
    set.leave(flow);
    return set.examined() - before;
}

}  // namespace

TEST_CASE("unit.partition.alone_shared_and_gone") {
    CheckedPartitions both(8);
    CHECK(both.set.count() == 0);
    CHECK(both.set.largest() == 0);
    both.enter(5, {1, 2, 1});  // the repetition is ignored
    both.enter(3, {4});
    CHECK(both.set.count() == 2);
    CHECK(both.set.resources_of(5) == std::vector<ResourceId>{1, 2});
    both.enter(9, {2, 6});
    CHECK(both.set.partition_of(9) == both.set.partition_of(5));
    CHECK(both.set.largest() == 2);
    both.leave(5);
    CHECK(both.set.partition_of(5) == kNone);
    CHECK(both.set.partition_of_resource(1) == kNone);
    CHECK(both.set.partition_of_resource(2) == 0);
    both.leave(9);
    both.leave(3);
    CHECK(both.set.count() == 0);
    CHECK(both.set.partitions().empty());
}

TEST_CASE("unit.partition.merge_keeps_the_largest") {
    PartitionSet set(16);
    CHECK(set.enter(0, {0}).partition == 0);
    CHECK(set.enter(1, {1}).partition == 1);
    CHECK(set.enter(2, {1}).partition == 1);
    CHECK(set.enter(3, {2}).partition == 2);
    // Touches all three; partition 1 has two flows.
    const PartitionSet::Entry entry = set.enter(4, {0, 1, 2, 3});
    CHECK(entry.partition == 1);
    CHECK(entry.absorbed == Ids{0, 2});
    CHECK(set.partitions() == Ids{1});
    CHECK(set.flows(1).size() == 5);
    // 0 and 2 are free again; the lowest comes first.
    CHECK(set.enter(5, {8}).partition == 0);
    CHECK(set.enter(6, {9}).partition == 2);
    // Equals: the lowest id.
    const PartitionSet::Entry equals = set.enter(7, {9, 8});
    CHECK(equals.partition == 0);
    CHECK(equals.absorbed == Ids{2});
}

TEST_CASE("unit.partition.split_keeps_the_largest") {
    // Flow 0 holds together {1}, {2, 3} and {4, 5, 6}, each on a resource of its own.
    PartitionSet set(8);
    set.enter(0, {1, 2, 3});
    set.enter(1, {1});
    set.enter(2, {2});
    set.enter(3, {2});
    for (const FlowSlot flow : {4U, 5U, 6U}) {
        set.enter(flow, {3});
    }
    CHECK(set.count() == 1);
    const PartitionSet::Exit exit = set.leave(0);
    CHECK(exit.partition == 0);
    CHECK(exit.split_off == Ids{1, 2});
    CHECK(set.partition_of(6) == 0);
    CHECK(set.partition_of(1) == 1);
    CHECK(set.partition_of(3) == 2);
    CHECK(set.largest() == 3);
}

TEST_CASE("unit.partition.split_into_equals_goes_by_lowest_flow") {
    for (const bool low_first : {false, true}) {
        PartitionSet set(4);
        const ResourceId low = low_first ? 1 : 2;  // where flows 1 and 4 are
        const ResourceId high = 3 - low;
        set.enter(0, {1, 2});
        set.enter(1, {low});
        set.enter(2, {high});
        set.enter(3, {high});
        set.enter(4, {low});
        CHECK(set.leave(0).split_off == Ids{1});
        CHECK(set.partition_of(1) == 0);
        CHECK(set.partition_of(4) == 0);
        CHECK(set.partition_of(2) == 1);
    }
}

TEST_CASE("unit.partition.the_part_searched_last_can_be_the_smaller") {
    // The search that has seen least goes first, by uses. Flow 1 alone has 40 resources, flows
    // 2 .. 5 one each: the four are finished first, and are the larger part.
    CheckedPartitions both(64);
    both.enter(0, {0, 1});
    std::vector<ResourceId> many{0};
    for (ResourceId r = 10; r < 50; ++r) {
        many.push_back(r);
    }
    both.enter(1, many);
    for (const FlowSlot flow : {2U, 3U, 4U, 5U}) {
        both.enter(flow, {1});
    }
    both.leave(0);
    CHECK(both.set.partition_of(2) == 0);
    CHECK(both.set.partition_of(1) == 1);
    CHECK(both.set.resources(1).size() == 41);
}

TEST_CASE("unit.partition.ring_needs_two_cuts") {
    CheckedPartitions both(8);
    for (FlowSlot flow = 0; flow < 8; ++flow) {
        both.enter(flow, {flow, (flow + 1) % 8});
    }
    both.leave(2);
    CHECK(both.set.count() == 1);
    both.leave(6);
    CHECK(both.set.count() == 2);
    // {3, 4, 5} and {7, 0, 1}: equal, flow 0 keeps the id.
    CHECK(both.set.partition_of(7) == 0);
    CHECK(both.set.partition_of(4) == 1);
    both.enter(2, {2, 3});
    CHECK(both.set.count() == 1);
    CHECK(both.set.partition_of(4) == 0);
}

TEST_CASE("unit.partition.entering_with_another_flows_list") {
    PartitionSet set(4);
    set.enter(0, {1, 2});
    for (FlowSlot flow = 1; flow < 50; ++flow) {
        set.enter(flow, set.resources_of(flow - 1));
    }
    CHECK(set.largest() == 50);
    CHECK(set.resources_of(49) == std::vector<ResourceId>{1, 2});
}

TEST_CASE("unit.partition.cost_of_a_split_is_the_small_side") {
    // Chain of 20,000 flows cut k flows from an end: both sides are walked for about k flows, each
    // flow once as found (2 uses) and twice from its resources, and the k are moved (2 uses).
    for (const FlowSlot k : {0U, 1U, 10U, 100U, 1000U}) {
        for (const bool at_end : {false, true}) {
            PartitionSet set = chain_of(20'000);
            const std::uint64_t cost = cost_of_leave(set, at_end ? 19'999 - k : k);
            CAPTURE(k);
            CHECK(set.count() == (k == 0 ? 1 : 2));
            CHECK(set.largest() == 19'999 - k);
            CHECK(cost <= 10 * (k + 1));
        }
    }
}

TEST_CASE("unit.partition.cost_of_taking_a_chain_apart") {
    // A part is relabelled only when it is the smaller one: n log2 n flows in all.
    constexpr FlowSlot kFlows = 1 << 14;
    PartitionSet set = chain_of(kFlows);
    const std::uint64_t before = set.examined();
    for (FlowSlot i = 0; i < kFlows; ++i) {
        set.leave((i * 6007U) % kFlows);  // 6007 is odd: every flow once
    }
    CHECK(set.count() == 0);
    CHECK(set.examined() - before <= 10ULL * 14 * kFlows);
}

TEST_CASE("unit.partition.hubs_cost_no_walk") {
    // Incast: 10,000 flows into host 0 by cable 1, each from a host of its own over a cable of its
    // own. However the users of the two hubs are ordered, their searches meet at the first flow.
    constexpr FlowSlot kFlows = 10'000;
    PartitionSet set(2 + 2 * kFlows, kFlows);
    for (FlowSlot flow = 0; flow < kFlows; ++flow) {
        set.enter(flow, {0, 1, 2 + 2 * flow, 3 + 2 * flow});
    }
    CHECK(set.examined() == 0);  // nothing to relabel
    for (FlowSlot i = 0; i < 1000; ++i) {
        CHECK(cost_of_leave(set, (i * 7919U) % kFlows) <= 16);
    }
    CHECK(set.count() == 1);
    CHECK(set.largest() == kFlows - 1000);

    // Hubs 0 and 1 hold 10,000 flows each, of which only the first of each leads on: over resources
    // 2 and 3 and one flow they share. Both are seen before either hub has been walked.
    PartitionSet bridged(4 + 2 * kFlows, 2 * kFlows + 2);
    bridged.enter(0, {0, 2});
    bridged.enter(1, {1, 3});
    for (FlowSlot flow = 2; flow < 2 * kFlows; ++flow) {
        bridged.enter(flow, {flow % 2, 4 + flow});
    }
    bridged.enter(2 * kFlows, {2, 3});
    bridged.enter(2 * kFlows + 1, {0, 1});
    CHECK(bridged.count() == 1);
    CHECK(cost_of_leave(bridged, 2 * kFlows + 1) <= 40);
    CHECK(bridged.count() == 1);

    // Two incasts held together by one flow with a hub of its own: only the small one is walked.
    PartitionSet two(4 + kFlows, kFlows + 20);
    for (FlowSlot flow = 0; flow < kFlows; ++flow) {
        two.enter(flow, {0, 4 + flow});
    }
    for (FlowSlot flow = kFlows; flow < kFlows + 10; ++flow) {
        two.enter(flow, {1});
    }
    two.enter(kFlows + 10, {0, 1, 2});
    CHECK(two.count() == 1);
    CHECK(cost_of_leave(two, kFlows + 10) <= 60);
    CHECK(two.count() == 2);
    CHECK(two.largest() == kFlows);
}

TEST_CASE("unit.partition.memory_follows_concurrent_flows") {
    PartitionSet set(100, 100'000);
    for (FlowSlot flow = 0; flow < 100; ++flow) {
        set.enter(flow, {flow % 100, (flow + 1) % 100});
    }
    for (FlowSlot flow = 100; flow < 500; ++flow) {
        set.leave(flow - 100);
        set.enter(flow, {flow % 100, (flow + 1) % 100});
    }
    const std::size_t settled = set.memory_bytes();
    for (FlowSlot flow = 500; flow < 100'000; ++flow) {
        set.leave(flow - 100);
        set.enter(flow, {flow % 100, (flow + 1) % 100});
    }
    CHECK(set.memory_bytes() == settled);
}

TEST_CASE("unit.partition.misuse_is_refused_and_changes_nothing") {
    PartitionSet set(4);
    set.enter(1, {0, 1});
    const auto refused = [](const auto& call) { CHECK_THROWS_AS(call(), InternalError); };
    refused([&] { set.enter(1, {2}); });
    refused([&] { set.enter(kNone, {2}); });
    refused([&] { set.enter(2, {}); });
    refused([&] { set.enter(2, {3, kNone}); });
    refused([&] { set.leave(0); });
    refused([&] { set.leave(kNone); });
    refused([&] { set.flows(1); });
    refused([&] { set.resources(kNone); });
    refused([&] { set.resources_of(2); });
    CHECK_THROWS_WITH_AS(set.leave(7), "PartitionSet: flow 7 is not a member", InternalError);
    CHECK(set.partitions() == Ids{0});
    CHECK(set.flows(0) == std::vector<FlowSlot>{1});
    CHECK(set.partition_of_resource(2) == kNone);
    CHECK(set.partition_of_resource(99) == kNone);
}

TEST_CASE("unit.partition.resources_of_a_path") {
    const Topology topology = build_dumbbell({});  // hosts 0 1 | 2 3, switches 4 5
    FlowPath path;
    path.forward = {port_towards(topology, 0, 4), port_towards(topology, 4, 5),
                    port_towards(topology, 5, 2)};
    for (std::size_t i = path.forward.size(); i-- > 0;) {
        path.reverse.push_back(topology.peer_of(path.forward[i]));
    }
    PartitionSet set(resource_count(topology));
    set.enter(0, flow_resources(topology, path));
    // Two hosts and three cables, both ways the same.
    CHECK(set.resources_of(0).size() == 5);
    CHECK(set.partition_of_resource(host_resource(0)) == 0);
    CHECK(set.partition_of_resource(host_resource(2)) == 0);
    CHECK(set.partition_of_resource(host_resource(1)) == kNone);
    CHECK(set.partition_of_resource(cable_resource(topology, topology.link_of(path.forward[1]))) ==
          0);
    CHECK_THROWS_AS(flow_resources(topology, FlowPath{path.forward, {}}), InternalError);
}
