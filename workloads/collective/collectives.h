// SPDX-License-Identifier: Apache-2.0
/// Collective operations as messages with dependencies, appended to a job's graph.
/// Every step of an algorithm is a flow of its own, on a connection of its group (core/flow/flow.h).
/// Ring. Member i sends to member i + 1. Step s > 0 of a member starts when its receive of step
/// s - 1 is complete, and on nothing else: behind the last byte of the member's previous send, but
/// not behind its last acknowledgement. Receives complete in step order.
/// All-to-all, direct: member i sends to i + 1, i + 2, ... at once, or with at most `window` sends
/// unfinished.
/// A member is done when its last receive is; its own sends may still wait for acknowledgements.
/// A tensor is cut into n parts that differ by at most one byte; an empty part still travels as
/// one byte, since the step's notification does.
/// Not modelled: reduction time, software overhead, channels.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/job/job_graph.h"

namespace sluice {

/// What a collective is called in results, and the bytes of the tensor (Collective::bytes).
struct CollectiveSpec {
    std::string name;
    std::string group;
    OpClass cls = OpClass::other;
    std::int64_t bytes = 0;
};

/// The members in ring order, and for each the operation that it starts after (kNone: at once).
/// The functions below return the operation that is complete when a member is done, in the same
/// order: `after` itself where there is only one member.
struct Members {
    std::vector<RankId> ranks;
    std::vector<OpId> after;
};

/// n - 1 steps of bytes / n. Part i + 1 of the result is at member i.
std::vector<OpId> ring_reduce_scatter(JobGraph& graph, const CollectiveSpec& spec,
                                      const Members& members);

/// n - 1 steps of bytes / n. Member i begins with part i + 1, as ring_reduce_scatter leaves it.
std::vector<OpId> ring_all_gather(JobGraph& graph, const CollectiveSpec& spec,
                                  const Members& members);

/// 2 (n - 1) steps of bytes / n: reduce-scatter, then all-gather.
std::vector<OpId> ring_all_reduce(JobGraph& graph, const CollectiveSpec& spec,
                                  const Members& members);

struct AllToAllOptions {
    /// Sends of a member that may be unfinished at once; 0: all.
    std::uint32_t window = 0;
    /// How long a pair's part takes where it uses no network (inside a server); negative: the
    /// network carries it. Null: always the network.
    std::function<Tick(RankId from, RankId to, std::int64_t bytes)> analytic;
};

/// Every member sends bytes / n to every other one; its own part stays.
std::vector<OpId> all_to_all(JobGraph& graph, const CollectiveSpec& spec, const Members& members,
                             const AllToAllOptions& options = {});

/// One message; a collective instance of two members. `after` is the sender's, `ready` the
/// receiver's (kNone: it may receive at once). Returns both ends.
JobGraph::Pair point_to_point(JobGraph& graph, const CollectiveSpec& spec, RankId from, RankId to,
                              OpId after, OpId ready = kNone);

}  // namespace sluice
