// SPDX-License-Identifier: Apache-2.0
/// Hosts 0, 1 and 2 of a star, whose switch is 3.
#include "core/world/flow_routes.h"

#include <doctest/doctest.h>

#include <vector>

#include "core/topology/builders.h"
#include "core/world/world_store.h"

using namespace sluice;
using namespace sluice::step;

namespace {

FlowSpec message(NodeId src, NodeId dst, ConnectionId connection) {
    FlowSpec spec;
    spec.src = src;
    spec.dst = dst;
    spec.size = 1000;
    spec.connection = connection;
    return spec;
}

struct Rig {
    Rig() : topology(build_star({3, {}})), routing(topology) {}
    const Topology topology;
    Routing routing;
    const NetworkConfig config{};
    const std::vector<FlowSpec> list;
    const std::vector<FlowPath> paths;
    WorldStore store{topology, routing, config, list, paths, nullptr};
};

}  // namespace

TEST_CASE("unit.world.flow_routes.messages_of_a_connection_have_one_route_until_links_change") {
    Rig rig;
    World& world = rig.store.world();
    const FlowSlot first = rig.store.open_slot(message(0, 1, 0));
    const FlowSlot second = rig.store.open_slot(message(0, 1, 0));
    const FlowSlot other_way = rig.store.open_slot(message(1, 0, 0));  // other ends, found anew
    const PortId out = rig.topology.first_port(0);
    CHECK(world.route[first].port[0] == out);
    CHECK(world.route[second].port[0] == out);
    CHECK(rig.topology.node_of(world.route[first].port[1]) == 3);  // the switch
    CHECK(world.route[first].port[kPathHops] == rig.topology.first_port(1));
    CHECK(world.route[other_way].port[0] == rig.topology.first_port(1));

    // The cable of host 1 is taken out: there is no way until it is back.
    const LinkId link = rig.topology.link_of(rig.topology.first_port(1));
    rig.store.set_link(link, false, 0);
    CHECK(world.any_link_down);
    CHECK(world.route[first].port[0] == kNone);
    CHECK(world.route[other_way].port[0] == kNone);
    const FlowSlot third = rig.store.open_slot(message(0, 1, 0));
    CHECK(world.route[third].port[0] == kNone);
    rig.store.set_link(link, true, 0);
    CHECK(!world.any_link_down);
    CHECK(world.route[first].port[0] == out);
    CHECK(world.route[third].port[0] == out);
}
