// SPDX-License-Identifier: Apache-2.0
/// Where everything stands in folds, and who is asked for whom.
#include "core/fold/fold_table.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.fold_table.a_copy_knows_its_representative_and_the_other_way_round") {
    FoldParts parts(two_pairs());
    const FoldTable& folds = parts.folds;
    const std::uint64_t before = folds.generation();
    CHECK(folds.empty());
    CHECK(folds.leader_of(1) == 1);
    const std::uint32_t id = parts.fold_pairs();
    CHECK_FALSE(folds.empty());
    CHECK(folds.generation() != before);
    CHECK(folds.leader_of(1) == 0);
    CHECK(folds.leader_of(0) == 0);
    CHECK(folds.leader_of_port(parts.port_of(2)) == parts.port_of(0));
    CHECK(folds.leader_of_port(parts.port_of(0)) == parts.port_of(0));
    std::vector<FlowSlot> followers;
    folds.list_followers(1, followers);
    CHECK(followers.empty());
    folds.list_followers(0, followers);
    CHECK(followers == std::vector<FlowSlot>{1});
    CHECK(folds[id].members() == FlowGroups{{0}, {1}});
}

TEST_CASE("unit.fold_table.numbers_are_used_again") {
    FoldParts parts(two_pairs());
    FoldTable& folds = parts.folds;
    CHECK(folds.create() == 0);
    CHECK(folds.create() == 1);
    folds.erase(0);
    CHECK_FALSE(folds.has(0));
    CHECK(folds.create() == 0);
    CHECK(folds.size() == 2);
}

TEST_CASE("unit.fold_table.a_representative_stops_at_the_first_timer_of_its_copies") {
    FoldParts parts(two_pairs());
    parts.fold_pairs();
    CHECK(parts.world.followed[0] == kNever);
    push_timer(parts.world.memory, parts.world.host[2],
               {30 * kMicrosecond, TimerKind::application, kNone, 7});
    parts.folds.update_due(0);
    CHECK(parts.world.followed[0] == 30 * kMicrosecond);
    parts.folds.end_due(0);
    CHECK(parts.world.followed[0] == kUnfollowed);
}

TEST_CASE("unit.fold_table.what_a_copy_had_has_no_place_when_it_is_displaced") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.fold_pairs();
    parts.folds.displace_copy(parts.folds[id], *parts.folds[id].image[0]);
    CHECK_FALSE(parts.folds.of_flow(1).folded());
    CHECK_FALSE(parts.folds.of_host(2).folded());
    CHECK_FALSE(parts.folds.of_port(parts.port_of(3)).folded());
    CHECK(parts.folds.of_port(parts.port_of(1)).leads());
}
