// SPDX-License-Identifier: Apache-2.0
/// Hosts that pass packets on from one of their cables to another, as servers do in BCube and DCell, and GPUs in
/// rail-only networks. Nothing but the network changes: a node stands for each port of such a host. The port's cable
/// ends there, a link joins it to the host, and further links join the host's ports to each other:
///
///     host 5 ===== port ===== its cable          as fast as the cable
///         \         |  forwarding link           the slower of two cables, at most ForwardingCost::rate
///          ======= port ===== its other cable
///
/// Delays are shared out so that packets of the host itself take as long as without forwarding, but for one more
/// store-and-forward, and those that pass take ForwardingCost::delay between the two cables. Traffic of both kinds
/// meets in the queue of the cable that it leaves by. A port of a cable to an NVSwitch counts as an NVSwitch, so that
/// servers keep preferring NVLink at equal length.
#pragma once

#include <vector>

#include "core/topology/topology.h"

namespace sluice {

struct ForwardingCost {
    Tick delay = kMicrosecond;  ///< at least 0, from one port of the host to another
    Rate rate;                  ///< of each pair of ports, each way; zero: no bound but the cables'
};

/// The same network, in which `hosts` forward; nodes and cables keep their ids. Of hosts that are no such, or have
/// fewer than two cables: ConfigError.
Topology with_forwarding_hosts(const Topology& topology, const std::vector<NodeId>& hosts,
                               const ForwardingCost& cost);

/// Hosts with at least two cables.
std::vector<NodeId> hosts_with_several_cables(const Topology& topology);

/// How many nodes there are of each sort; ports of hosts that forward are no switches.
struct NodeCounts {
    std::size_t switches = 0;
    std::size_t nvswitches = 0;
    std::size_t ports = 0;
};
NodeCounts count_nodes(const Topology& topology);

/// Whose port a node is; the node itself, if it is none.
NodeId owner_of(const Topology& topology, NodeId node);

/// The cable of a port and whom it joins to the port's node, as if no node stood for a port: behind a host's link to
/// its port, that port's cable; at its end, the host and not its port.
struct PortCable {
    LinkId link = 0;
    NodeId end = 0;
    PortId port = 0;  ///< by which the cable is entered
};
PortCable port_cable(const Topology& topology, PortId port);

}  // namespace sluice
