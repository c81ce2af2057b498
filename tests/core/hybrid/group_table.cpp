// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/group_table.h"

#include <doctest/doctest.h>

using namespace sluice;
using namespace sluice::hybrid;

TEST_CASE("unit.group_table.groups_come_up_in_the_order_of_time_and_ids") {
    const PhaseConfig config;
    GroupTable groups(config);
    for (const std::uint32_t id : {7U, 2U, 5U}) {
        groups.set_cut(groups.open(id, 0), 100);
    }
    groups.set_cut(groups[5], 40);  // it is not due at 100 any more
    CHECK(groups.next_cut() == 40);
    CHECK(groups.take_next() == std::vector<std::uint32_t>{5});
    CHECK(groups.next_cut() == 100);
    CHECK_FALSE(groups.is_due(5, 100));
    groups.drop(7);
    const std::vector<std::uint32_t> due = groups.take_next();
    CHECK(due.front() == 2);
    CHECK_FALSE(groups.is_due(7, 100));
    CHECK(groups.next_cut() == kNever);
    CHECK(groups.find(7) == nullptr);
}

TEST_CASE("unit.group_table.a_group_whose_flows_changed_is_left_alone_for_a_base_round_trip") {
    const PhaseConfig config;
    GroupTable groups(config);
    groups.leave_alone_for(80);
    groups.leave_alone_for(40);
    CHECK(groups.settling_time() == 80);
    GroupState& state = groups.open(0, 0);
    state.dirty = false;
    groups.changed(state, 1000, false);
    CHECK(state.dirty);
    CHECK(state.cut == 1100);  // the first multiple of 20 after 1080
    groups.changed(state, 1010, false);
    CHECK(state.cut == 1100);  // then it is asked when it changed
    CHECK(state.changed == 1010);
    groups.changed(state, 1020, true);
    CHECK(state.cut == kNever);
}

TEST_CASE("unit.group_table.a_network_is_one_group") {
    PhaseConfig config;
    CHECK(GroupTable(config).id_of(3) == 3);
    config.scope = PhaseScope::network;
    CHECK(GroupTable(config).id_of(3) == 0);
}

TEST_CASE("unit.group_table.the_copy_of_a_group_has_a_detector_of_its_own") {
    const PhaseConfig config;
    GroupTable groups(config);
    GroupState& one = groups.open(0, 0);
    steady::GroupFacts facts;
    facts.base_rtt = 4 * kMicrosecond;
    facts.line_rate = 100'000'000'000;
    facts.flows = 1;
    one.detector->reset(facts);
    GroupState& other = groups.open(1, 0);
    other = one;
    one.detector->resumed(10);
    CHECK(std::string(one.detector->judge().reason) == "probe");
    CHECK(std::string(other.detector->judge().reason) == "span");
}
