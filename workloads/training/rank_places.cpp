// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/rank_places.h"

#include <algorithm>
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

RankPlaces RankPlaces::on(const Topology& topology, const std::vector<NodeId>& hosts) {
    const std::uint32_t size = std::max(1U, topology.gpus_per_server);
    std::unordered_map<NodeId, std::uint32_t> index;
    for (const NodeId host : topology.hosts()) {
        index.emplace(host, static_cast<std::uint32_t>(index.size()));
    }
    RankPlaces places;
    for (const NodeId host : hosts) {
        places.server.push_back(index.at(host) / size);
        places.rail.push_back(index.at(host) % size);
    }
    if (size > 1) {
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
