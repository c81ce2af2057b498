// SPDX-License-Identifier: Apache-2.0
#include "scenario/topology_section.h"

#include "core/error.h"
#include "scenario/topology/topology_type.h"

namespace sluice {

std::vector<std::string> topology_types() {
    std::vector<std::string> names;
    for (const TopologyType* type : topology_table()) names.emplace_back(type->name);
    return names;
}

Topology build_topology(ConfigSection section, const ResolvePath& resolve) {
    const std::size_t type = section.choice_index("type", "", topology_types());
    // Hosts [s g, (s + 1) g) are one server. A topology.txt may say itself how many those are.
    const bool given = section.has("gpus_per_server");
    const BuildTopology build = topology_table()[type]->read(section, resolve);
    Topology topology = [&] {
        try {
            return build();
        } catch (const ConfigError& error) {
            throw ConfigError(section.where("type") + ": " + error.what());
        }
    }();
    const auto servers = static_cast<std::uint32_t>(
        given ? read_node_count(section, "gpus_per_server", 1) : topology.gpus_per_server);
    // A network that was built or written with servers of this size may end in a short one.
    if (servers != topology.gpus_per_server) {
        topology.gpus_per_server = servers;
        if (topology.host_count() % topology.gpus_per_server != 0) {
            section.fail("gpus_per_server",
                         "does not divide the " + std::to_string(topology.host_count()) + " hosts");
        }
    }
    return topology;
}

}  // namespace sluice
