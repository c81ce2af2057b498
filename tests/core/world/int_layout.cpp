// SPDX-License-Identifier: Apache-2.0
#include "core/world/int_layout.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "core/packet/int_slots.h"

using namespace sluice;
using namespace sluice::step;

namespace {

World world_with_payload(std::int32_t payload) {
    World world{};
    world.payload = payload;
    return world;
}

}  // namespace

TEST_CASE("unit.world.int_layout.slots_follow_the_bytes_in_flight") {
    World world = world_with_payload(1000);
    IntLayout layout(world);
    CHECK(!layout.in_use());
    layout.provide(1'000);  // 9 packets
    CHECK(layout.in_use());
    CHECK(world.int_block == 16);
    layout.provide(100'000);  // 108 packets
    CHECK(world.int_block == 128);
    layout.provide(1'000);  // never fewer
    CHECK(world.int_block == 128);
    CHECK(world.int_shift == 0);
    layout.provide(100'000'000);  // 100,008 packets: one in four has one of 32,768 slots
    CHECK(world.int_block == 0x8000);
    CHECK(world.int_shift == 2);
}

TEST_CASE("unit.world.int_layout.records_stay_where_slots_are_widened") {
    World world = world_with_payload(1000);
    FlowRoute route[2] = {};
    world.route = route;
    IntLayout layout(world);
    layout.provide(1'000);
    layout.set_switches(1);
    CHECK(layout.holds(1));
    CHECK(!layout.holds(2));
    route[1].ints = new_int_block(world.memory, 2, world.int_stride);
    for (std::uint16_t slot = 0; slot < 4; ++slot) {
        int_slot(world, route[1], slot)[0] = 10U + slot;
        int_slot(world, route[1], slot)[1] = 20U + slot;
    }
    layout.widen(2);
    CHECK(layout.holds(7));
    CHECK(route[0].ints.empty());
    CHECK(route[1].ints.size_class() == 2);
    for (std::uint16_t slot = 0; slot < 4; ++slot) {
        CHECK(int_slot(world, route[1], slot)[0] == 10U + slot);
        CHECK(int_slot(world, route[1], slot)[1] == 20U + slot);
        CHECK(int_slot(world, route[1], slot)[2] == 0);
    }
    std::free(route[1].ints.words());
}

TEST_CASE("unit.world.int_layout.a_copy_has_slots_alike") {
    World world = world_with_payload(1000);
    World other_world = world_with_payload(1000);
    IntLayout layout(world);
    IntLayout other(other_world);
    other.provide(100'000'000);
    other.set_switches(5);
    layout.copy(other);
    CHECK(world.int_block == other_world.int_block);
    CHECK(world.int_shift == other_world.int_shift);
    CHECK(layout.holds(7));
}
