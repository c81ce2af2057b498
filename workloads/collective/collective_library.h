// SPDX-License-Identifier: Apache-2.0
/// Collectives by kind, algorithm and placement, as operations of a job's graph: what NCCL is to a
/// training framework.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/collective/collectives.h"
#include "workloads/model/intra_node.h"

namespace sluice {

enum class CollectiveAlgorithm : std::uint8_t {
    automatic,  ///< inside one server: `computed` if that is on, else ring; across: ring
    ring,
    tree,              ///< double binary tree (all-reduce, broadcast, reduce)
    halving_doubling,  ///< recursive; powers of two (all-reduce, reduce-scatter, all-gather)
    direct,            ///< all pairs at once
    pairwise,          ///< all-to-all in n - 1 steps, one peer each
    hierarchical,      ///< inside servers, then across them by rail, then inside again
    nvls,              ///< reduction and multicast in the server's NVSwitches
    pxn,               ///< all-to-all through the server's member on the destination's rail
    computed,          ///< one server: the calibrated linear model, no flows
};

const char* to_string(CollectiveAlgorithm algorithm);

/// Where ranks are and how collectives run; the same for a whole job.
struct CollectiveOptions {
    std::vector<CollectiveAlgorithm> algorithms;  ///< by CollectiveKind; missing: automatic
    /// The server of a rank, and its index (rail) in it.
    std::function<std::uint32_t(RankId)> server;
    std::function<std::uint32_t(RankId)> rail;
    bool computed_in_server = true;  ///< false: the network carries traffic inside servers
    IntraNode intra_node;
    std::uint32_t channels = 1;  ///< the tensor is split over so many copies of the algorithm
    std::int64_t chunk = 0;      ///< bytes that are pipelined at a time; 0: whole steps
    Tick overhead = 0;           ///< software, once per collective and member, before it sends
    Tick step_overhead = 0;      ///< of each step on top of the network's
    std::uint32_t window = 0;    ///< all-to-all: unfinished sends of a member; 0: all
};

/// Appends collectives to one graph. Results are those of collectives.h: per member the operation
/// that is complete when the member is done, `after` itself where there is one member.
class CollectiveLibrary {
  public:
    CollectiveLibrary(JobGraph& graph, CollectiveOptions options);

    /// `algorithm` overrides the options'. ConfigError if the algorithm cannot do that: it says
    /// which can. Broadcast and reduce: the root is member 0.
    std::vector<OpId> add(CollectiveKind kind, const CollectiveSpec& spec, const Members& members,
                          CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic);

    /// All-to-all where member i sends bytes[i * n + j] to member j (skewed experts).
    std::vector<OpId> add_uneven_all_to_all(const CollectiveSpec& spec, const Members& members,
                                            const std::vector<std::int64_t>& bytes);

    /// One message: a flow, or the linear model's time where both are in one server and that is
    /// computed. See point_to_point() for `after` and `ready`.
    JobGraph::Pair add_point_to_point(const CollectiveSpec& spec, RankId from, RankId to,
                                      OpId after, OpId ready = kNone);

    const CollectiveOptions& options() const { return options_; }

  private:
    JobGraph& graph_;
    CollectiveOptions options_;
};

}  // namespace sluice
