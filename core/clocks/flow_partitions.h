// SPDX-License-Identifier: Apache-2.0
/// Which active flows belong together: by everything that their packets may touch, the cables of
/// their paths in both directions (ACKs, NACKs and PFC frames count as use) and their two hosts; or, where
/// ACKs are no packets, by the ports that their data leave by, and the host that these come from.
#pragma once

#include <vector>

#include "core/partition/flow_resources.h"
#include "core/partition/partition_set.h"
#include "core/world/world_store.h"

namespace sluice::step {

/// What an active flow uses.
struct Footprint {
    std::vector<ResourceId> resources;  ///< flow_resources.h
    std::vector<PortId> data;           ///< egress ports of its data packets; empty when sprayed
    std::vector<PortId> acks;           ///< egress ports of its ACKs
};

/// Where partitions are in the network; each list ascending.
struct Extent {
    std::vector<PortId>
        ports;  ///< by which packets leave: both ends of every cable, or of data only
    std::vector<NodeId> hosts;     ///< whose queue pairs are in it
    std::vector<NodeId> switches;  ///< and, by data ports, hosts at which data arrive
};

enum class SharedBy : std::uint8_t { cables, data_ports };

class FlowPartitions {
  public:
    explicit FlowPartitions(const WorldStore& store, SharedBy shared = SharedBy::cables);

    /// By the flow's current route; packets routed by table may use every shortest path.
    Footprint footprint(FlowSlot flow) const;
    /// The same, written to `print`.
    void footprint(FlowSlot flow, Footprint& print) const;
    /// What `packet`, which comes to `port` from outside the network, uses from that cable on; ascending.
    void way_on(const Packet& packet, PortId port, std::vector<ResourceId>& resources) const;
    /// Partitions that hold one of `resources`, ascending.
    std::vector<PartitionId> touched(const std::vector<ResourceId>& resources) const;

    PartitionSet::Entry enter(FlowSlot flow, const Footprint& footprint);
    PartitionSet::Exit leave(FlowSlot flow);

    const PartitionSet& set() const { return set_; }
    SharedBy shared_by() const { return shared_; }
    /// Of a member, as it entered.
    const Footprint& footprint_of(FlowSlot flow) const { return prints_[flow]; }
    bool contains(FlowSlot flow) const { return set_.contains(flow); }
    Extent extent(PartitionId id) const;
    /// Whose data leave by `port`, kNone if nobody's. By data ports.
    PartitionId sends_by(PortId port) const;

  private:
    void walk(const FlowKey& key, const PortId* entries, std::vector<PortId>& path) const;
    ResourceId sent_by(PortId port) const;
    void add_all_paths(NodeId from, NodeId to, std::vector<ResourceId>& resources) const;

    const WorldStore& store_;
    SharedBy shared_;
    PartitionSet set_;
    std::vector<Footprint> prints_;  ///< by slot, empty unless a member
    std::vector<PortId> end_of_;     ///< by link: one of its ports
};

}  // namespace sluice::step
