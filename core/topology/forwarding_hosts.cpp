// SPDX-License-Identifier: Apache-2.0
#include "core/topology/forwarding_hosts.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace sluice {

namespace {

/// The port nodes of one host, and what their links take over from the cables.
struct HostPort {
    NodeId node = 0;
    Rate rate;
    Tick share = 0;  ///< of the cable's delay: on the link between port and host
};

class Forwarding {
  public:
    Forwarding(const Topology& old, const std::vector<NodeId>& hosts, const ForwardingCost& cost)
        : old_(old), cost_(cost), forwards_(old.node_count(), 0) {
        for (const NodeId host : hosts) {
            if (host >= old.node_count() || !old.is_host(host)) {
                throw ConfigError("node " + std::to_string(host) + " is no host");
            }
            if (old.port_count(host) < 2) {
                throw ConfigError("host " + std::to_string(host) + " has " +
                                  std::to_string(old.port_count(host)) +
                                  " cables; a host that forwards needs two");
            }
            forwards_[host] = 1;
        }
    }

    Topology build() {
        made_.name = old_.name;
        made_.gpus_per_server = old_.gpus_per_server;
        made_.server_sizes = old_.server_sizes;
        made_.gpu_type = old_.gpu_type;
        for (NodeId node = 0; node < old_.node_count(); ++node) made_.add_node(old_.kind(node));
        made_.port_owner.assign(old_.node_count(), kNone);
        add_ports();
        for (LinkId id = 0; id < old_.links().size(); ++id) add_cable(id);
        for (const NodeId host : old_.hosts()) join_ports(host);
        made_.switch_group = old_.switch_group;
        if (!made_.switch_group.empty()) made_.switch_group.resize(made_.node_count(), kNone);
        made_.group_routing = old_.group_routing;
        made_.hop_weights = old_.hop_weights;
        made_.finish();
        return std::move(made_);
    }

  private:
    bool forwards(PortId port) const { return forwards_[old_.node_of(port)] != 0; }

    void add_ports() {
        ports_.resize(old_.port_count());
        for (PortId port = 0; port < old_.port_count(); ++port) {
            if (!forwards(port)) {
                ports_[port].node = old_.node_of(port);
                continue;
            }
            const bool nvlink = old_.kind(old_.neighbor(port)) == NodeKind::nvswitch;
            const Tick parts = forwards(old_.peer_of(port)) ? 3 : 2;
            ports_[port] = {made_.add_node(nvlink ? NodeKind::nvswitch : NodeKind::ethernet),
                            old_.rate(port), old_.delay(port) / parts};
            made_.port_owner.push_back(old_.node_of(port));
        }
    }

    void add_cable(LinkId id) {
        Link cable = old_.links()[id];
        const auto port_at = [&](NodeId node) {
            PortId port = old_.first_port(node);
            while (old_.link_of(port) != id) ++port;
            return port;
        };
        const PortId a = port_at(cable.a);
        const PortId b = old_.peer_of(a);
        cable.a = ports_[a].node;
        cable.b = ports_[b].node;
        cable.delay -= ports_[a].share + ports_[b].share;
        made_.add_link(cable);
    }

    void join_ports(NodeId host) {
        if (forwards_[host] == 0) return;
        const PortId begin = old_.first_port(host);
        const PortId end = begin + old_.port_count(host);
        for (PortId port = begin; port < end; ++port) {
            made_.add_link({host, ports_[port].node, ports_[port].rate, ports_[port].share, 0});
        }
        for (PortId one = begin; one < end; ++one) {
            for (PortId other = one + 1; other < end; ++other) {
                Rate rate = std::min(ports_[one].rate, ports_[other].rate);
                if (Rate{0} < cost_.rate) rate = std::min(rate, cost_.rate);
                made_.add_link({ports_[one].node, ports_[other].node, rate,
                                cost_.delay + ports_[one].share + ports_[other].share, 0});
            }
        }
    }

    const Topology& old_;
    const ForwardingCost& cost_;
    std::vector<std::uint8_t> forwards_;  ///< by node
    std::vector<HostPort>
        ports_;  ///< by port of the old network: the end of its cable in the new one
    Topology made_;
};

}  // namespace

Topology with_forwarding_hosts(const Topology& topology, const std::vector<NodeId>& hosts,
                               const ForwardingCost& cost) {
    return Forwarding(topology, hosts, cost).build();
}

std::vector<NodeId> hosts_with_several_cables(const Topology& topology) {
    std::vector<NodeId> several;
    for (const NodeId host : topology.hosts()) {
        if (topology.port_count(host) > 1) several.push_back(host);
    }
    return several;
}

NodeCounts count_nodes(const Topology& topology) {
    NodeCounts counts;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.is_host(node)) continue;
        std::size_t& count = owner_of(topology, node) != node            ? counts.ports
                             : topology.kind(node) == NodeKind::nvswitch ? counts.nvswitches
                                                                         : counts.switches;
        ++count;
    }
    return counts;
}

NodeId owner_of(const Topology& topology, NodeId node) {
    if (topology.port_owner.empty() || topology.port_owner[node] == kNone) return node;
    return topology.port_owner[node];
}

PortCable port_cable(const Topology& topology, PortId port) {
    const NodeId node = topology.node_of(port);
    const NodeId next = topology.neighbor(port);
    // A port's cable is the first of its links.
    const bool inside = topology.is_host(node) && owner_of(topology, next) == node;
    const PortId at = inside ? topology.first_port(next) : port;
    return {topology.link_of(at), owner_of(topology, topology.neighbor(at)), at};
}

}  // namespace sluice
