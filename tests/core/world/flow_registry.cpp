// SPDX-License-Identifier: Apache-2.0
#include "core/world/flow_registry.h"

#include <doctest/doctest.h>

#include <vector>

using namespace sluice;
using namespace sluice::step;

namespace {

FlowSpec spec_from(NodeId src) {
    FlowSpec spec;
    spec.src = src;
    spec.dst = src + 1;
    spec.size = 1000;
    return spec;
}

}  // namespace

TEST_CASE("unit.world.flow_registry.opened_flows_are_numbered_by_host_and_wait_for_their_start") {
    const std::vector<FlowSpec> list{spec_from(0)};
    FlowRegistry registry(list, 4);
    FlowSpec first = spec_from(2);
    FlowSpec second = spec_from(2);
    FlowSpec other = spec_from(3);
    registry.number(first);
    registry.number(other);
    registry.number(second);
    CHECK(first.id == opened_flow_id(2, 0));
    CHECK(second.id == opened_flow_id(2, 1));
    CHECK(other.id == opened_flow_id(3, 0));
    CHECK(!registry.is_listed(first.id));
    registry.number(second);  // has one already
    CHECK(second.id == opened_flow_id(2, 1));

    first.size = 5000;
    registry.add(first);
    registry.add(second);
    CHECK(registry.starting(2, first.id).size == 5000);
    registry.forget_waiting(2, first.id);
    CHECK(registry.starting(2, second.id).size == 1000);
}

TEST_CASE("unit.world.flow_registry.listed_flows_are_started_once_and_keep_their_results") {
    const std::vector<FlowSpec> list{spec_from(0), spec_from(1)};
    FlowRegistry registry(list, 3);
    CHECK(&registry.starting(1, 1) == &list[1]);
    CHECK(!registry.is_scheduled(1));
    registry.schedule(1);
    CHECK(registry.is_scheduled(1));
    CHECK(registry.pinned_slot(1) == kNone);
    registry.pin();
    CHECK(registry.pinned_slot(1) == 1);

    // Slot 0 has flow 1; then a flow of no list.
    FlowId id[] = {1};
    FlowResult result[1];
    World world{};
    world.id = id;
    world.result = result;
    result[0].finish = 77;
    CHECK(registry.results(world, 1)[1].finish == 77);
    CHECK(registry.results(world, 1)[0].finish == kNever);
    result[0].finish = 78;
    registry.keep_result(world, 0);
    id[0] = opened_flow_id(2, 0);
    result[0].finish = 5;
    CHECK(registry.results(world, 1)[1].finish == 78);
}
