// SPDX-License-Identifier: Apache-2.0
#include "core/world/flow_columns.h"

#include <doctest/doctest.h>

#include <vector>

using namespace sluice;
using namespace sluice::step;

namespace {

struct Rig {
    explicit Rig(bool by_pair) : columns(world_at(hosts), by_pair) {}

    World& world_at(std::vector<Host>& at) {
        world.payload = 1000;
        world.host = at.data();
        return world;
    }
    FlowSlot fill(FlowId id, ConnectionId connection = kNone) {
        FlowSpec spec;
        spec.dst = 1;
        spec.size = 2500;
        spec.connection = connection;
        const FlowSlot slot = columns.take();
        columns.fill(slot, id, spec);
        return slot;
    }

    std::vector<Host> hosts{2};
    World world{};
    FlowColumns columns;
};

}  // namespace

TEST_CASE("unit.world.flow_columns.a_slot_that_is_given_back_is_the_next_one") {
    Rig rig(false);
    CHECK(rig.fill(7) == 0);
    CHECK(rig.fill(9) == 1);
    CHECK(rig.fill(8) == 2);
    CHECK(rig.world.id[1] == 9);
    CHECK(rig.world.receiver[1].packets == 3);  // of 1000, 1000 and 500 bytes
    CHECK(rig.columns.living() == std::vector<FlowSlot>{0, 2, 1});
    rig.world.result[1].finish = 5;
    CHECK(rig.columns.record(1).result.finish == 5);

    rig.columns.release(1);
    CHECK(rig.world.id[1] == kNoFlow);
    CHECK(rig.columns.free_count() == 1);
    CHECK(rig.columns.living() == std::vector<FlowSlot>{0, 2});
    CHECK(rig.fill(3) == 1);
    CHECK(rig.columns.slot_count() == 3);
    CHECK(rig.world.result[1].finish == kNever);
    CHECK(rig.columns.living() == std::vector<FlowSlot>{1, 0, 2});
}

TEST_CASE("unit.world.flow_columns.columns_of_pairs_and_answers_are_there_where_they_are_used") {
    Rig without(false);
    without.fill(0);
    CHECK(without.world.flow_window == nullptr);
    CHECK(without.world.answers == nullptr);

    Rig with(true);
    with.columns.leave_answers_out();
    CHECK(with.world.answers != nullptr);
    const FlowSlot slot = with.fill(0);
    with.columns.set_pair(slot, 11, 22);
    with.columns.set_answer_time(slot, 33);
    CHECK(with.world.flow_base_rtt[slot] == 11);
    CHECK(with.world.flow_window[slot] == 22);
    CHECK(with.world.answer_takes[slot] == 33);
    with.columns.release(slot);
    CHECK(with.world.answer_takes[slot] == kNever);
}

TEST_CASE("unit.world.flow_columns.a_connection_forgets_its_last_message_with_the_slot") {
    Rig rig(false);
    rig.columns.reserve_connections(1);
    CHECK(rig.columns.connection_count() >= 1);
    const FlowSlot slot = rig.fill(0, 0);
    rig.world.queue_pair[0].current = slot;
    rig.columns.release(slot);
    CHECK(rig.world.queue_pair[0].current == kNone);
}
