// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/rank_places.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "core/topology/connectivity.h"

namespace sluice {

RankPlaces RankPlaces::packed(RankId ranks, std::uint32_t gpus_per_server) {
    const std::uint32_t size = std::max(1U, gpus_per_server);
    RankPlaces places;
    places.server.reserve(ranks);
    places.rail.reserve(ranks);
    for (RankId rank = 0; rank < ranks; ++rank) {
        places.server.push_back(rank / size);
        places.rail.push_back(rank % size);
    }
    return places;
}

namespace {

/// Null where all are one.
JobGraph::QueuePairs queue_pairs_of(const Topology& topology, const std::vector<NodeId>& hosts,
                                    std::uint32_t network_pairs) {
    const bool one_port = std::all_of(hosts.begin(), hosts.end(),
                                      [&](NodeId host) { return topology.port_count(host) < 2; });
    if (one_port && network_pairs < 2) return nullptr;
    const auto ports = std::make_shared<const HostPorts>(topology);
    return [ports, hosts, network_pairs](RankId from, RankId to) {
        const HostPorts::Count count = ports->between(hosts[from], hosts[to]);
        return count.nvlink || network_pairs == 0 ? count.ports : network_pairs;
    };
}

}  // namespace

RankPlaces RankPlaces::on(const Topology& topology, const std::vector<NodeId>& hosts,
                          std::uint32_t network_pairs) {
    const std::vector<ServerPlace> all = server_places(topology);
    std::unordered_map<NodeId, std::uint32_t> index;
    for (const NodeId host : topology.hosts()) {
        index.emplace(host, static_cast<std::uint32_t>(index.size()));
    }
    RankPlaces places;
    for (const NodeId host : hosts) {
        places.server.push_back(all[index.at(host)].server);
        places.rail.push_back(all[index.at(host)].rail);
    }
    places.queue_pairs = queue_pairs_of(topology, hosts, network_pairs);
    if (topology.gpus_per_server > 1) {
        if (const auto joined = joined_hosts(topology)) {
            places.joined = [joined, hosts](RankId a, RankId b) {
                return joined(hosts[a], hosts[b]);
            };
        }
    }
    return places;
}

bool RankPlaces::in_one_server(const std::vector<RankId>& ranks) const {
    return std::all_of(ranks.begin(), ranks.end(),
                       [&](RankId rank) { return server[rank] == server[ranks.front()]; });
}

}  // namespace sluice
