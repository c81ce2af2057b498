// SPDX-License-Identifier: Apache-2.0
#include "scenario/topology/topology_type.h"

namespace sluice {

namespace {

BuildTopology read_leaf_spine(ConfigSection& section, const ResolvePath&) {
    LeafSpineParams p;
    p.leaves = read_node_count(section, "leaves", p.leaves);
    p.spines = read_node_count(section, "spines", p.spines);
    p.hosts_per_leaf = read_node_count(section, "hosts_per_leaf", p.hosts_per_leaf);
    p.cables_per_spine = read_node_count(section, "cables_per_spine", p.cables_per_spine);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    p.planes = read_node_count(section, "planes", p.planes);
    section.finish();
    return [p] { return build_leaf_spine(p); };
}

BuildTopology read_fat_tree(ConfigSection& section, const ResolvePath&) {
    FatTreeParams p;
    p.k = read_node_count(section, "k", p.k);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    section.finish();
    return [p] { return build_fat_tree(p); };
}

BuildTopology read_three_tier(ConfigSection& section, const ResolvePath&) {
    ThreeTierParams p;
    p.pods = read_node_count(section, "pods", p.pods);
    p.leaves_per_pod = read_node_count(section, "leaves_per_pod", p.leaves_per_pod);
    p.hosts_per_leaf = read_node_count(section, "hosts_per_leaf", p.hosts_per_leaf);
    p.aggs_per_pod = read_node_count(section, "aggs_per_pod", p.aggs_per_pod);
    p.cores = read_node_count(section, "cores", p.cores);
    p.leaf = read_oversubscription(section, "leaf_oversubscription");
    p.agg = read_oversubscription(section, "agg_oversubscription");
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_delay = section.time("fabric_delay", p.host_cable.delay, 0, kMaxCableDelay);
    p.fabric_loss = section.number("fabric_loss", p.host_cable.loss, 0, 0.999);
    section.finish();
    return [p] { return build_three_tier(p); };
}

}  // namespace

extern const TopologyType kLeafSpineTopology{"leaf-spine", read_leaf_spine};
extern const TopologyType kFatTreeTopology{"fat-tree", read_fat_tree};
extern const TopologyType kThreeTierTopology{"three-tier", read_three_tier};

}  // namespace sluice
