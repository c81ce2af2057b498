// SPDX-License-Identifier: Apache-2.0
/// The routes of flows in service (FlowRoute): given paths, or found in the routing's tables; found anew when
/// links change. A connection's messages have the same route, so it is kept for the next one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/flow.h"
#include "core/packet/route_table.h"
#include "core/packet/state.h"
#include "core/routing/routing.h"
#include "core/topology/topology.h"

namespace sluice::step {

class FlowRoutes {
  public:
    /// All must outlive this; `paths` is empty or has one entry per listed flow.
    FlowRoutes(World& world, const Topology& topology, Routing& routing,
               const std::vector<FlowPath>& paths)
        : world_(world), topology_(topology), routing_(routing), paths_(paths) {}

    const Routing& routing() const { return routing_; }
    /// Room for what is known of connections 0 .. count-1. While nobody holds a reference to a route, nor steps beside.
    void reserve_connections(ConnectionId count) { known_.resize(count); }

    /// Of the flow in `slot`. Different workers may ask at a time, each for hosts of its own.
    void set(FlowSlot slot);
    /// The routing without a link, or with it. Leaves the ports' `up` alone.
    void set_link(LinkId link, bool up) { routing_.set_link(link, up); }
    /// When the ports' `up` is as it will be: all routes of flows in slots 0 .. slots-1 that are not complete.
    void renew(std::size_t slots);

    /// Egress port by table, for packets without a usable path entry; kNone if unreachable.
    PortId next_hop(NodeId node, const Packet& packet) const {
        const FlowKey key = key_of(world_, packet);
        if (!is_sprayed(world_, packet.flow) || node == key.src) {
            return routing_.select(node, key);
        }
        const Routing::PortRange ports = routing_.next_hops(node, key.dst);
        return ports.empty() ? kNone
                             : sprayed_port(world_, node, packet, ports.begin(),
                                            static_cast<std::uint32_t>(ports.size()));
    }

  private:
    /// The route of a connection's messages as it was found last: good while `epoch` is that of the
    /// routes and the ends are the message's.
    struct KnownRoute {
        FlowRoute route;
        NodeId src = kNone;
        NodeId dst = kNone;
        std::uint32_t epoch = 0;
        std::uint16_t sport = 0;
        std::uint16_t dport = 0;
    };

    void find(FlowSlot slot);

    World& world_;
    const Topology& topology_;
    Routing& routing_;
    const std::vector<FlowPath>& paths_;
    std::vector<KnownRoute> known_;  ///< by connection
    std::uint32_t epoch_ = 1;
};

}  // namespace sluice::step
