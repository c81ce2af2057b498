// SPDX-License-Identifier: Apache-2.0
#include "core/partition/flow_resources.h"

#include "core/error.h"

namespace sluice {

std::size_t resource_count(const Topology& topology) {
    return topology.links().size() + topology.node_count();
}

ResourceId cable_resource(const Topology& topology, LinkId link) {
    return static_cast<ResourceId>(topology.node_count()) + link;
}

std::size_t port_resource_count(const Topology& topology) {
    return topology.port_count() + topology.node_count();
}

ResourceId port_resource(const Topology& topology, PortId port) {
    return static_cast<ResourceId>(topology.node_count()) + port;
}

PortId port_of(const Topology& topology, ResourceId resource) {
    return resource - static_cast<ResourceId>(topology.node_count());
}

ResourceId host_resource(NodeId host) { return host; }

bool is_cable(const Topology& topology, ResourceId resource) {
    return resource >= topology.node_count();
}

LinkId cable_of(const Topology& topology, ResourceId resource) {
    return resource - static_cast<ResourceId>(topology.node_count());
}

std::vector<ResourceId> flow_resources(const Topology& topology, const FlowPath& path) {
    if (path.forward.empty() || path.reverse.empty()) {
        throw InternalError("flow_resources: a flow without a path");
    }
    std::vector<ResourceId> resources;
    resources.reserve(path.forward.size() + path.reverse.size() + 2);
    resources.push_back(host_resource(topology.node_of(path.forward.front())));
    resources.push_back(host_resource(topology.neighbor(path.forward.back())));
    for (const std::vector<PortId>* way : {&path.forward, &path.reverse}) {
        for (const PortId port : *way) {
            resources.push_back(cable_resource(topology, topology.link_of(port)));
        }
    }
    return resources;
}

}  // namespace sluice
