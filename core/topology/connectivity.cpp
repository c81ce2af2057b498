// SPDX-License-Identifier: Apache-2.0
#include "core/topology/connectivity.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "core/topology/forwarding_hosts.h"

namespace sluice {
namespace {

/// Domains: what is connected without passing through a host. A connected set of switches is one,
/// and so is a cable between two hosts.
struct Domains {
    std::vector<std::vector<std::uint32_t>> of_host;  ///< by node: its domains, ascending, unique
    std::vector<std::vector<NodeId>> hosts;           ///< by domain: its hosts
};

NodeId root_of(std::vector<NodeId>& parent, NodeId node) {
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

/// By node, a tree in which all switches that are connected have one root (root_of()).
std::vector<NodeId> connected_switches(const Topology& topology) {
    std::vector<NodeId> parent(topology.node_count());
    std::iota(parent.begin(), parent.end(), NodeId{0});
    for (const Link& link : topology.links()) {
        if (!topology.is_host(link.a) && !topology.is_host(link.b)) {
            parent[root_of(parent, link.a)] = root_of(parent, link.b);
        }
    }
    return parent;
}

Domains find_domains(const Topology& topology) {
    std::vector<NodeId> parent = connected_switches(topology);
    Domains domains;
    domains.of_host.resize(topology.node_count());
    auto next = static_cast<std::uint32_t>(topology.node_count());  // ids of host-to-host cables
    for (const Link& link : topology.links()) {
        const bool a_host = topology.is_host(link.a);
        const bool b_host = topology.is_host(link.b);
        if (!a_host && !b_host) {
            continue;
        }
        std::uint32_t domain = 0;
        if (a_host && b_host) {
            domain = next++;
        } else {
            domain = root_of(parent, a_host ? link.b : link.a);
        }
        for (const NodeId end : {link.a, link.b}) {
            if (topology.is_host(end)) {
                domains.of_host[end].push_back(domain);
            }
        }
    }
    domains.hosts.resize(next);
    for (const NodeId host : topology.hosts()) {
        std::vector<std::uint32_t>& list = domains.of_host[host];
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        for (const std::uint32_t domain : list) {
            domains.hosts[domain].push_back(host);
        }
    }
    return domains;
}

}  // namespace

std::optional<std::pair<NodeId, NodeId>> find_unreachable_hosts(const Topology& topology) {
    if (topology.host_count() < 2) {
        return std::nullopt;
    }
    const Domains domains = find_domains(topology);
    for (const std::vector<NodeId>& hosts : domains.hosts) {
        if (hosts.size() == topology.host_count()) {
            return std::nullopt;
        }
    }
    // Hosts with equal domains reach the same hosts: look at one of them.
    std::set<std::vector<std::uint32_t>> done;
    std::vector<NodeId> reached_from(topology.node_count(), kNone);
    for (const NodeId from : topology.hosts()) {
        if (!done.insert(domains.of_host[from]).second) {
            continue;
        }
        reached_from[from] = from;
        for (const std::uint32_t domain : domains.of_host[from]) {
            for (const NodeId host : domains.hosts[domain]) {
                reached_from[host] = from;
            }
        }
        for (const NodeId to : topology.hosts()) {
            if (reached_from[to] != from) {
                return std::pair{from, to};
            }
        }
    }
    return std::nullopt;
}

HostPorts::HostPorts(const Topology& topology) {
    std::vector<NodeId> parent = connected_switches(topology);
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        first_.push_back(static_cast<std::uint32_t>(ways_.size()));
        for (PortId port = topology.first_port(node);
             topology.is_host(node) && port < topology.first_port(node + 1); ++port) {
            const NodeId next = port_cable(topology, port).end;
            const bool nvlink = topology.kind(next) == NodeKind::nvswitch;
            ways_.push_back({nvlink ? next : root_of(parent, next), nvlink});
        }
    }
    first_.push_back(static_cast<std::uint32_t>(ways_.size()));
}

HostPorts::Count HostPorts::between(NodeId from, NodeId to) const {
    const auto begin = ways_.begin();
    const auto leads_to = [&](const Way& way) {
        return std::any_of(begin + first_[to], begin + first_[to + 1], [&](const Way& other) {
            return other.to == way.to && other.nvlink == way.nvlink;
        });
    };
    const auto count = [&](bool nvlink) {
        return static_cast<std::uint32_t>(
            std::count_if(begin + first_[from], begin + first_[from + 1],
                          [&](const Way& way) { return way.nvlink == nvlink && leads_to(way); }));
    };
    const std::uint32_t inside = count(true);
    return inside > 0 ? Count{inside, true} : Count{count(false), false};
}

std::function<bool(NodeId, NodeId)> joined_hosts(const Topology& topology) {
    if (!find_unreachable_hosts(topology)) {
        return nullptr;
    }
    const auto domains = std::make_shared<const Domains>(find_domains(topology));
    return [domains](NodeId a, NodeId b) {
        const std::vector<std::uint32_t>& of_b = domains->of_host[b];
        return std::any_of(domains->of_host[a].begin(), domains->of_host[a].end(),
                           [&](std::uint32_t domain) {
                               return std::binary_search(of_b.begin(), of_b.end(), domain);
                           });
    };
}

}  // namespace sluice
