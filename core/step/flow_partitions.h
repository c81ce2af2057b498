// SPDX-License-Identifier: Apache-2.0
/// Which active flows belong together, by everything that their packets may touch: the cables of
/// their paths in both directions (ACKs, NACKs and PFC frames count as use) and their two hosts.
#pragma once

#include <vector>

#include "core/partition/partition_set.h"
#include "core/step/world_store.h"

namespace sluice::step {

/// What an active flow uses.
struct Footprint {
    std::vector<ResourceId> resources;  ///< hosts by node id, then cables by node_count + link id
    std::vector<PortId> data;           ///< egress ports of its data packets, empty if by table
    std::vector<PortId> acks;           ///< egress ports of its ACKs
};

class FlowPartitions {
  public:
    explicit FlowPartitions(const WorldStore& store);

    /// By the flow's current route; packets routed by table may use every shortest path.
    Footprint footprint(FlowId flow) const;
    /// Partitions that hold one of `resources`, ascending.
    std::vector<PartitionId> touched(const std::vector<ResourceId>& resources) const;

    PartitionSet::Entry enter(FlowId flow, const Footprint& footprint);
    PartitionSet::Exit leave(FlowId flow);

    const PartitionSet& set() const { return set_; }
    /// Both ends of every cable in use, ascending.
    std::vector<PortId> ports(PartitionId id) const;
    /// Hosts of its flows, ascending.
    std::vector<NodeId> hosts(PartitionId id) const;
    /// Switches that its cables end at, ascending.
    std::vector<NodeId> switches(PartitionId id) const;

  private:
    const WorldStore& store_;
    PartitionSet set_;
};

}  // namespace sluice::step
