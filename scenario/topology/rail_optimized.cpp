// SPDX-License-Identifier: Apache-2.0
#include "scenario/topology/topology_type.h"

namespace sluice {

namespace {

BuildTopology read_rail(ConfigSection& section, const ResolvePath&) {
    RailParams p;
    p.gpus = read_node_count(section, "gpus", p.gpus);
    p.servers_per_segment = read_node_count(section, "servers_per_segment", p.servers_per_segment);
    p.spines = read_node_count(section, "spines", p.spines, 0);
    p.cables_per_spine = read_node_count(section, "cables_per_spine", p.cables_per_spine);
    p.nvswitches_per_server =
        read_node_count(section, "nvswitches_per_server", p.nvswitches_per_server, 0);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    if (p.nvswitches_per_server > 0) p.nvlink = read_cable(section, "nvlink_", p.nvlink);
    p.gpus_per_server = read_node_count(section, "gpus_per_server", p.gpus_per_server);
    section.finish();
    return [p] { return build_rail(p); };
}

}  // namespace

extern const TopologyType kRailOptimizedTopology{"rail-optimized", read_rail};

}  // namespace sluice
