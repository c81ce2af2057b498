// SPDX-License-Identifier: Apache-2.0
#include "models/observe/watched_ports.h"

#include <algorithm>

#include "core/error.h"
#include "core/topology/node_names.h"

namespace sluice {

std::vector<PortId> watched_ports(const Topology& topology, std::vector<PortId> ports) {
    if (ports.empty()) {
        throw ConfigError("no port is watched; allowed: one or more");
    }
    std::sort(ports.begin(), ports.end());
    ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
    if (ports.back() >= topology.port_count()) {
        throw ConfigError("port " + std::to_string(ports.back()) +
                          " is to be watched; allowed: 0 to " +
                          std::to_string(topology.port_count() - 1));
    }
    return ports;
}

std::string port_name(const Topology& topology, PortId port) {
    const NodeNames names(topology);
    const NodeId node = topology.node_of(port);
    return names[node] + "_" + std::to_string(port - topology.first_port(node)) + "_to_" +
           names[topology.neighbor(port)];
}

}  // namespace sluice
