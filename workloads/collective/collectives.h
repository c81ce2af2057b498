// SPDX-License-Identifier: Apache-2.0
/// What a collective is given and gives back, whichever algorithm adds it to a job's graph.
/// Every step of an algorithm is a flow of its own, on a connection of its group (core/flow/flow.h).
/// Ring. Member i sends to member i + 1. Step s > 0 of a member starts when its receive of step
/// s - 1 is complete, and on nothing else: behind the last byte of the member's previous send, but
/// not behind its last acknowledgement. Receives complete in step order.
/// All-to-all, direct: member i sends to i + 1, i + 2, ... at once, or with at most `window` sends
/// unfinished.
/// A member is done when its last receive is; its own sends may still wait for acknowledgements.
/// A tensor is cut into n parts that differ by at most one byte; an empty part still travels as
/// one byte, since the step's notification does.
#pragma once

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
    std::string choice;  ///< Collective::choice
};

/// The members in ring order, and for each the operation that it starts after (kNone: at once).
/// Whatever adds a collective returns the operation that is complete when a member is done, in the
/// same order: `after` itself where there is only one member.
struct Members {
    std::vector<RankId> ranks;
    std::vector<OpId> after;
};

}  // namespace sluice
