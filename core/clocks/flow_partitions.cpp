// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/flow_partitions.h"

#include <algorithm>
#include <utility>

#include "core/packet/nic.h"
#include "core/sorted.h"

namespace sluice::step {

FlowPartitions::FlowPartitions(const WorldStore& store, SharedBy shared)
    : store_(store),
      shared_(shared),
      set_(shared == SharedBy::cables ? resource_count(store.topology())
                                      : port_resource_count(store.topology())),
      end_of_(store.topology().links().size(), kNone) {
    for (PortId p = 0; p < store.topology().port_count(); ++p) {
        end_of_[store.topology().link_of(p)] = p;
    }
}

void FlowPartitions::walk(const FlowKey& key, const PortId* entries,
                          std::vector<PortId>& path) const {
    const World& world = store_.world();
    path.clear();
    path.reserve(kPathHops);
    NodeId node = key.src;
    while (node != key.dst) {
        const PortId first = world.first_port[node];
        const std::uint32_t ports = world.first_port[node + 1] - first;
        PortId port = path.size() < kPathHops ? entries[path.size()] : kNone;
        if (port - first >= ports || !world.egress[port].up) {
            port = store_.routing().select(node, key);
        }
        if (port == kNone) {  // cut off: what it holds is all it can use
            break;
        }
        path.push_back(port);
        node = store_.topology().neighbor(port);
    }
}

void FlowPartitions::add_all_paths(NodeId from, NodeId to,
                                   std::vector<ResourceId>& resources) const {
    const Topology& topology = store_.topology();
    std::vector<NodeId> open = {from};
    std::vector<NodeId> seen = open;
    while (!open.empty()) {
        const NodeId node = open.back();
        open.pop_back();
        for (const PortId port : store_.routing().next_hops(node, to)) {
            resources.push_back(cable_resource(topology, topology.link_of(port)));
            const NodeId next = topology.neighbor(port);
            if (std::find(seen.begin(), seen.end(), next) == seen.end()) {
                seen.push_back(next);
                open.push_back(next);
            }
        }
    }
}

Footprint FlowPartitions::footprint(FlowSlot flow) const {
    Footprint print;
    footprint(flow, print);
    return print;
}

void FlowPartitions::footprint(FlowSlot flow, Footprint& print) const {
    const FlowSpec& spec = store_.world().spec[flow];
    const Topology& topology = store_.topology();
    print.resources = {spec.src, spec.dst};
    print.data.clear();
    print.acks.clear();
    if (is_sprayed(store_.world(), flow)) {
        // Cut off, it still sends: by its first port.
        const PortId first = departure_port(store_.world(), spec.src, flow);
        print.resources.push_back(cable_resource(topology, topology.link_of(first)));
        add_all_paths(spec.src, spec.dst, print.resources);
        add_all_paths(spec.dst, spec.src, print.resources);
    } else {
        const FlowRoute& route = store_.world().route[flow];
        walk(data_key(spec), route.port, print.data);
        if (print.data.empty()) {  // cut off, it still sends: by its first port
            print.data.push_back(departure_port(store_.world(), spec.src, flow));
        }
        walk(ack_key(spec), route.port + kPathHops, print.acks);
        if (shared_ == SharedBy::data_ports) {
            print.resources = {spec.src};
            print.resources.reserve(1 + print.data.size());
            for (const PortId port : print.data) {
                print.resources.push_back(port_resource(topology, port));
            }
        } else {
            print.resources.reserve(2 + print.data.size() + print.acks.size());
            for (const std::vector<PortId>* ports : {&print.data, &print.acks}) {
                for (const PortId port : *ports) {
                    print.resources.push_back(cable_resource(topology, topology.link_of(port)));
                }
            }
        }
    }
    sort_unique(print.resources);
}

/// What is used by whoever sends by `port`.
ResourceId FlowPartitions::sent_by(PortId port) const {
    const Topology& topology = store_.topology();
    return shared_ == SharedBy::data_ports ? port_resource(topology, port)
                                           : cable_resource(topology, topology.link_of(port));
}

void FlowPartitions::way_on(const Packet& packet, PortId port,
                            std::vector<ResourceId>& resources) const {
    const World& world = store_.world();
    const Topology& topology = store_.topology();
    resources = {sent_by(topology.peer_of(port))};
    NodeId node = topology.node_of(port);
    if (packet.packet_kind() >= PacketKind::pause) {
        resources.push_back(sent_by(port));  // which obeys it
    } else if (is_sprayed(world, packet.flow)) {
        const FlowSpec& spec = world.spec[packet.flow];
        const bool data = packet.packet_kind() == PacketKind::data;
        add_all_paths(node, data ? spec.dst : spec.src, resources);
    } else {
        // No table leads in a circle, and a flow's own path has so many hops.
        Packet ahead = packet;
        for (std::uint32_t left = 4 * kPathHops; left > 0 && !topology.is_host(node); --left) {
            const PortId next = egress_of(world, node, ahead);
            if (next == kNone) {
                break;
            }
            resources.push_back(sent_by(next));
            node = topology.neighbor(next);
            ahead.hop = ahead.hop == 15 ? 15 : ahead.hop + 1;
        }
    }
    sort_unique(resources);
}

std::vector<PartitionId> FlowPartitions::touched(const std::vector<ResourceId>& resources) const {
    std::vector<PartitionId> ids;
    ids.reserve(resources.size());
    for (const ResourceId resource : resources) {
        const PartitionId id = set_.partition_of_resource(resource);
        if (id != kNone) {
            ids.push_back(id);
        }
    }
    sort_unique(ids);
    return ids;
}

PartitionSet::Entry FlowPartitions::enter(FlowSlot flow, const Footprint& footprint) {
    if (flow >= prints_.size()) {
        prints_.resize(std::max<std::size_t>(store_.slot_count(), std::size_t{flow} + 1));
    }
    prints_[flow] = footprint;
    return set_.enter(flow, store_.world().id[flow], prints_[flow].resources);
}

PartitionSet::Exit FlowPartitions::leave(FlowSlot flow) {
    Footprint& print = prints_[flow];  // another flow has the slot next
    print.resources.clear();
    print.data.clear();
    print.acks.clear();
    return set_.leave(flow);
}

Extent FlowPartitions::extent(PartitionId id) const {
    const Topology& topology = store_.topology();
    Extent extent;
    for (const ResourceId resource : set_.resources(id)) {
        if (!is_cable(topology, resource)) {
            extent.hosts.push_back(resource);
            continue;
        }
        if (shared_ == SharedBy::data_ports) {
            const PortId port = port_of(topology, resource);
            extent.ports.push_back(port);
            extent.switches.push_back(topology.node_of(port));
            extent.switches.push_back(topology.neighbor(port));
            continue;
        }
        const PortId end = end_of_[cable_of(topology, resource)];
        for (const PortId port : {end, topology.peer_of(end)}) {
            extent.ports.push_back(port);
            if (!topology.is_host(topology.node_of(port))) {
                extent.switches.push_back(topology.node_of(port));
            }
        }
    }
    sort_unique(extent.ports);
    sort_unique(extent.hosts);
    sort_unique(extent.switches);
    return extent;
}

PartitionId FlowPartitions::sends_by(PortId port) const {
    return set_.partition_of_resource(port_resource(store_.topology(), port));
}

}  // namespace sluice::step
