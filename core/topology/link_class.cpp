// SPDX-License-Identifier: Apache-2.0
#include "core/topology/link_class.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/topology/forwarding_hosts.h"
#include "core/topology/node_names.h"

namespace sluice {

namespace {

/// Sorts classes: kind first, then the tiers at both ends, the lower first. A class that a host
/// reaches comes before the unattached ones, whose tiers are 0.
struct Key {
    LinkKind kind = LinkKind::fabric;
    std::uint32_t low = 0;
    std::uint32_t high = 0;

    bool attached() const { return kind != LinkKind::fabric || low > 0; }
    bool operator<(const Key& other) const {
        if (kind != other.kind) return kind < other.kind;
        if (attached() != other.attached()) return attached();
        return std::pair{low, high} < std::pair{other.low, other.high};
    }
};

/// A cable from GPU to GPU of a server without NVSwitches.
bool joins_one_server(const Topology& topology, const std::vector<ServerPlace>& places, NodeId a,
                      NodeId b) {
    if (!topology.is_host(a) || !topology.is_host(b)) return false;
    const std::vector<NodeId>& hosts = topology.hosts();
    const auto server = [&](NodeId host) {
        const auto at = std::lower_bound(hosts.begin(), hosts.end(), host) - hosts.begin();
        return places[static_cast<std::size_t>(at)].server;
    };
    return server(a) == server(b);
}

Key key_of(const Topology& topology, const std::vector<std::uint32_t>& tiers,
           const std::vector<ServerPlace>& places, const Link& link) {
    const NodeId a = owner_of(topology, link.a);
    const NodeId b = owner_of(topology, link.b);
    if (a == b) return {LinkKind::host_port, 0, 0};
    if (topology.kind(link.a) == NodeKind::nvswitch ||
        topology.kind(link.b) == NodeKind::nvswitch) {
        return {LinkKind::nvlink, 0, 0};
    }
    if (joins_one_server(topology, places, a, b)) return {LinkKind::nvlink, 0, 0};
    if (topology.is_host(a) || topology.is_host(b)) {
        return {LinkKind::nic, 0, 0};
    }
    const auto [low, high] = std::minmax(tiers[link.a], tiers[link.b]);
    return {LinkKind::fabric, low, high};
}

std::string name_of(const Key& key) {
    if (key.kind == LinkKind::nvlink) return "nvlink";
    if (key.kind == LinkKind::nic) return "nic";
    if (key.kind == LinkKind::host_port) return "host-port";
    if (!key.attached()) return "unattached";
    return tier_name(key.low) + "-" + tier_name(key.high);
}

}  // namespace

std::vector<std::uint32_t> switch_tiers(const Topology& topology) {
    std::vector<std::uint32_t> tiers(topology.node_count(), 0);
    std::vector<NodeId> frontier;
    for (const Link& link : topology.links()) {
        const NodeId a = owner_of(topology, link.a);
        const NodeId b = owner_of(topology, link.b);
        for (const auto& [host, other] : {std::pair{a, b}, std::pair{b, a}}) {
            if (topology.is_host(host) && topology.kind(other) == NodeKind::ethernet &&
                tiers[other] == 0) {
                tiers[other] = 1;
                frontier.push_back(other);
            }
        }
    }
    for (std::uint32_t tier = 2; !frontier.empty(); ++tier) {
        std::vector<NodeId> next;
        for (const NodeId node : frontier) {
            const PortId first = topology.first_port(node);
            for (PortId port = first; port < first + topology.port_count(node); ++port) {
                const NodeId other = owner_of(topology, topology.neighbor(port));
                if (topology.kind(other) == NodeKind::ethernet && tiers[other] == 0) {
                    tiers[other] = tier;
                    next.push_back(other);
                }
            }
        }
        frontier = std::move(next);
    }
    return tiers;
}

LinkClasses::LinkClasses(const Topology& topology) {
    const std::vector<std::uint32_t> tiers = switch_tiers(topology);
    const std::vector<ServerPlace> places = server_places(topology);
    struct Class {
        std::size_t links = 0;
        std::uint32_t number = 0;
    };
    std::map<Key, Class> by_key;
    std::vector<const Class*> of_link;
    of_link.reserve(topology.links().size());
    for (const Link& link : topology.links()) {
        Class& its = by_key[key_of(topology, tiers, places, link)];
        ++its.links;
        of_link.push_back(&its);
    }
    for (auto& [key, its] : by_key) {
        its.number = static_cast<std::uint32_t>(classes_.size());
        classes_.push_back({name_of(key), key.kind, its.links});
    }
    of_link_.reserve(of_link.size());
    for (const Class* const its : of_link) of_link_.push_back(its->number);
}

}  // namespace sluice
