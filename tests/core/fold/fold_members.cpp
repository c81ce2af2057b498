// SPDX-License-Identifier: Apache-2.0
/// What belongs to a fold as flows come and go.
#include "core/fold/fold_members.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.fold_members.a_part_leads_with_all_ports_of_its_hosts_and_flows") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.lead({0});
    const Fold& fold = parts.folds[id];
    CHECK(fold.host == std::vector<NodeId>{0, 1});
    CHECK(fold.unit.size() == 4);
    CHECK(fold.flow == std::vector<FlowSlot>{0});
    CHECK(fold.host_uses == std::vector<std::uint32_t>{1, 1});
    CHECK(fold.source == std::vector<std::vector<std::uint32_t>>{{0}, {}});
    CHECK(parts.folds.of_port(parts.port_of(1)).leads());
    CHECK(parts.folds.of_flow(0).leads());
}

TEST_CASE("unit.fold_members.indices_of_flows_are_used_again") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.fold_pairs();
    parts.members.drop_flow(id, 0);
    CHECK(parts.folds[id].flow == std::vector<FlowSlot>{kNone});
    CHECK(parts.folds[id].image[0]->flow == std::vector<FlowSlot>{kNone});
    CHECK_FALSE(parts.folds.of_flow(1).folded());
    CHECK(parts.members.add_flow(id, 0) == 0);
    CHECK(parts.folds[id].flow == std::vector<FlowSlot>{0});
}

TEST_CASE("unit.fold_members.copies_are_counted_and_not_executed") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.fold_pairs();
    CHECK(parts.members.copies() == 1);
    CHECK(parts.folds[id].images == 1);
    CHECK(parts.world.wake[2] == kNever);
    CHECK(parts.world.wake[0] != kNever);
}

TEST_CASE("unit.fold_members.a_flow_stays_inside_unless_a_copys_route_is_another_one") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.fold_pairs();
    CHECK(parts.members.stays_inside(id, 0));
    std::swap(parts.world.route[1].port[1], parts.world.route[0].port[1]);
    CHECK_FALSE(parts.members.stays_inside(id, 0));
}
