// SPDX-License-Identifier: Apache-2.0
/// A network as a graph: hosts, switches and full-duplex cables. Immutable once built.
/// Invariants: every link joins two different nodes; parallel links are allowed; a port belongs to
/// exactly one link; ports of a node are numbered in the order in which its links were added
/// (HPCC ns-3's interface index is that local index plus one).
#pragma once

#include <string>
#include <vector>

#include "core/ids.h"
#include "core/units.h"

namespace sluice {

enum class NodeKind : std::uint8_t {
    host,      ///< a GPU with its NIC(s): source and sink of flows, never transit itself
    ethernet,  ///< a packet switch
    nvswitch,  ///< an intra-server switch (SimAI header); preferred over Ethernet at equal length
};

/// By which ways packets go where switches form groups, as in a dragonfly.
enum class GroupRouting : std::uint8_t {
    shortest,  ///< fewest cables, inside groups or between them
    minimal,   ///< as few between groups as can be, one in a dragonfly, then fewest
    valiant,   ///< each flow by way of another group (core/routing/valiant.h); else as minimal
};

/// How traffic is divided among equal-cost next hops.
enum class HopWeights : std::uint8_t {
    equal,  ///< alike
    rate,   ///< in proportion to their cables' rates, between switches (core/routing/hop_weights.h)
};

/// A full-duplex cable. rate > 0, delay >= 0, 0 <= loss < 1 (per received packet).
struct Link {
    NodeId a = 0;
    NodeId b = 0;
    Rate rate;
    Tick delay = 0;
    double loss = 0;

    friend bool operator==(const Link& x, const Link& y) {
        return x.a == y.a && x.b == y.b && x.rate == y.rate && x.delay == y.delay &&
               x.loss == y.loss;
    }
};

class Topology {
  public:
    NodeId add_node(NodeKind kind);
    /// Throws ConfigError if a == b, an id is unknown, or a value is out of range.
    LinkId add_link(const Link& link);
    /// Numbers the ports. Called once, after the last add_link; everything below needs it.
    void finish();

    std::string name;                   ///< how the user called it, for summaries
    std::uint32_t gpus_per_server = 1;  ///< hosts [s*g, (s+1)*g) are one server, or as below
    /// Hosts of each server, one server after the other, gpus_per_server at most; empty: all have so many, the
    /// last one what is left.
    std::vector<std::uint32_t> server_sizes;
    std::string gpu_type;  ///< SimAI header's GPU type, empty when unknown
    /// By node: the group of a switch, kNone of a host. Empty: there are no groups.
    std::vector<std::uint32_t> switch_group;
    GroupRouting group_routing = GroupRouting::shortest;
    HopWeights hop_weights = HopWeights::equal;
    /// By node: the host that forwards, whose port a node stands for (core/topology/forwarding_hosts.h), else kNone.
    /// Empty: no host forwards.
    std::vector<NodeId> port_owner;

    std::size_t node_count() const { return kinds_.size(); }
    std::size_t host_count() const { return hosts_.size(); }
    std::size_t port_count() const { return ports_.size(); }
    NodeKind kind(NodeId node) const { return kinds_[node]; }
    bool is_host(NodeId node) const { return kinds_[node] == NodeKind::host; }
    /// Host ids in increasing order: rank r is hosts()[r].
    const std::vector<NodeId>& hosts() const { return hosts_; }
    const std::vector<Link>& links() const { return links_; }

    PortId first_port(NodeId node) const { return first_port_[node]; }
    std::uint32_t port_count(NodeId node) const {
        return first_port_[node + 1] - first_port_[node];
    }
    NodeId node_of(PortId port) const { return ports_[port].node; }
    PortId peer_of(PortId port) const { return ports_[port].peer; }
    LinkId link_of(PortId port) const { return ports_[port].link; }
    NodeId neighbor(PortId port) const { return node_of(peer_of(port)); }
    Rate rate(PortId port) const { return links_[link_of(port)].rate; }
    Tick delay(PortId port) const { return links_[link_of(port)].delay; }

    /// Of finished ones: in every respect, the name included.
    friend bool operator==(const Topology& x, const Topology& y);

  private:
    struct Port {
        NodeId node;
        LinkId link;
        PortId peer;
    };
    std::vector<NodeKind> kinds_;
    std::vector<Link> links_;
    std::vector<NodeId> hosts_;
    std::vector<PortId> first_port_;
    std::vector<Port> ports_;
};

/// Where a host is: its server, and its index (rail) in it.
struct ServerPlace {
    std::uint32_t server = 0;
    std::uint32_t rail = 0;
};
/// By place in hosts().
std::vector<ServerPlace> server_places(const Topology& topology);

/// The rates of its ports, bits/s, each once, in the order of the ports.
std::vector<std::int64_t> distinct_rates(const Topology& topology);

}  // namespace sluice
