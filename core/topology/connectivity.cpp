// SPDX-License-Identifier: Apache-2.0
#include "core/topology/connectivity.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

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

Domains find_domains(const Topology& topology) {
    std::vector<NodeId> parent(topology.node_count());
    std::iota(parent.begin(), parent.end(), NodeId{0});
    for (const Link& link : topology.links()) {
        if (!topology.is_host(link.a) && !topology.is_host(link.b)) {
            parent[root_of(parent, link.a)] = root_of(parent, link.b);
        }
    }
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
