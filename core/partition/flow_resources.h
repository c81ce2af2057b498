// SPDX-License-Identifier: Apache-2.0
/// What a flow of the packet model uses, as resources of a PartitionSet: its two hosts, and every
/// cable that its data or its ACKs cross. A cable is one resource for both directions, since ACKs,
/// CNPs and PFC frames go against the data (docs/models/partitions.md). Where ACKs are no packets, a flow
/// uses its source and the ports by which its data leave.
#pragma once

#include <cstddef>
#include <vector>

#include "core/flow/flow.h"
#include "core/partition/partition_set.h"
#include "core/topology/topology.h"

namespace sluice {

/// Nodes come first, then cables.
std::size_t resource_count(const Topology& topology);
ResourceId host_resource(NodeId host);
ResourceId cable_resource(const Topology& topology, LinkId link);
/// In a set of port_resource_count() resources, where cables are none.
std::size_t port_resource_count(const Topology& topology);
ResourceId port_resource(const Topology& topology, PortId port);
PortId port_of(const Topology& topology, ResourceId resource);
bool is_cable(const Topology& topology, ResourceId resource);
LinkId cable_of(const Topology& topology, ResourceId resource);

/// `path` holds both ways, each from its own sender; neither is empty. Repetitions are left in.
std::vector<ResourceId> flow_resources(const Topology& topology, const FlowPath& path);

}  // namespace sluice
