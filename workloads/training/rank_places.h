// SPDX-License-Identifier: Apache-2.0
/// Where the ranks of a job are: the server of each and its index (rail) in it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/job/job_graph.h"
#include "core/topology/topology.h"

namespace sluice {

struct RankPlaces {
    std::vector<std::uint32_t> server;  ///< by rank
    std::vector<std::uint32_t> rail;    ///< by rank
    /// JobGraph::set_queue_pairs(); null: over one.
    JobGraph::QueuePairs queue_pairs;
    /// Whether the network joins two ranks' hosts; null: it joins all.
    std::function<bool(RankId, RankId)> joined;

    /// Ranks fill servers of `gpus_per_server` one after the other.
    static RankPlaces packed(RankId ranks, std::uint32_t gpus_per_server);
    /// Rank r is hosts[r]; servers are the topology's. `network_pairs`: queue pairs of a connection
    /// over the network, 0: as many as the sender has ports for it; inside servers always so.
    static RankPlaces on(const Topology& topology, const std::vector<NodeId>& hosts,
                         std::uint32_t network_pairs = 0);

    bool in_one_server(const std::vector<RankId>& ranks) const;
};

}  // namespace sluice
