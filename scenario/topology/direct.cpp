// SPDX-License-Identifier: Apache-2.0
#include "core/topology/limits.h"
#include "scenario/topology/topology_type.h"

namespace sluice {

namespace {

BuildTopology read_dumbbell(ConfigSection& section, const ResolvePath&) {
    DumbbellParams p;
    p.left_hosts = read_node_count(section, "left_hosts", p.left_hosts);
    p.right_hosts = read_node_count(section, "right_hosts", p.right_hosts);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.bottleneck = read_cable(section, "bottleneck_", p.host_cable);
    section.finish();
    return [p] { return build_dumbbell(p); };
}

BuildTopology read_star(ConfigSection& section, const ResolvePath&) {
    StarParams p;
    p.hosts = read_node_count(section, "hosts", p.hosts);
    p.host_cable = read_cable(section, "", p.host_cable);
    section.finish();
    return [p] { return build_star(p); };
}

BuildTopology read_full_mesh(ConfigSection& section, const ResolvePath&) {
    FullMeshParams p;
    p.switches = read_node_count(section, "switches", p.switches);
    p.hosts_per_switch = read_node_count(section, "hosts_per_switch", p.hosts_per_switch);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    section.finish();
    return [p] { return build_full_mesh(p); };
}

BuildTopology read_torus(ConfigSection& section, const ResolvePath&) {
    TorusParams p;
    if (const auto dimensions = section.integers("dimensions", 2, kMostTorusSide, 3)) {
        p.dimensions = *dimensions;
    }
    p.hosts_per_switch = read_node_count(section, "hosts_per_switch", p.hosts_per_switch);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    section.finish();
    return [p] { return build_torus(p); };
}

BuildTopology read_dragonfly(ConfigSection& section, const ResolvePath&) {
    DragonflyParams p;
    p.routers_per_group = read_node_count(section, "routers_per_group", p.routers_per_group);
    p.hosts_per_router = read_node_count(section, "hosts_per_router", p.hosts_per_router);
    p.global_cables_per_router =
        read_node_count(section, "global_cables_per_router", p.global_cables_per_router);
    p.groups = read_node_count(section, "groups", p.groups, 0);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.local_cable = read_cable(section, "local_", p.host_cable);
    p.global_cable = read_cable(section, "global_", p.host_cable);
    p.routing = section.choice<GroupRouting>("routing", p.routing,
                                             {{"shortest", GroupRouting::shortest},
                                              {"minimal", GroupRouting::minimal},
                                              {"valiant", GroupRouting::valiant}});
    section.finish();
    return [p] { return build_dragonfly(p); };
}

BuildTopology read_bcube(ConfigSection& section, const ResolvePath&) {
    BCubeParams p;
    p.n = read_node_count(section, "n", p.n);
    p.k = section.integer("k", p.k, 0, 8);
    p.cable = read_cable(section, "", p.cable);
    p.server_cable.delay = p.cable.delay;
    // Rate 0 means the server's cables together; it is no rate that a scenario could name.
    if (section.has("server_rate")) {
        p.server_cable.rate = section.rate("server_rate", std::nullopt);
    }
    p.server_cable.delay = section.time("server_delay", p.server_cable.delay, 0, kMaxCableDelay);
    section.finish();
    return [p] { return build_bcube(p); };
}

}  // namespace

extern const TopologyType kDumbbellTopology{"dumbbell", read_dumbbell};
extern const TopologyType kStarTopology{"star", read_star};
extern const TopologyType kFullMeshTopology{"full-mesh", read_full_mesh};
extern const TopologyType kTorusTopology{"torus", read_torus};
extern const TopologyType kDragonflyTopology{"dragonfly", read_dragonfly};
extern const TopologyType kBCubeTopology{"bcube", read_bcube};

}  // namespace sluice
