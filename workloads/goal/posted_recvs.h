// SPDX-License-Identifier: Apache-2.0
/// The recvs that are posted at each host and wait for a message. As in MPI, a message takes of
/// those that fit it the one posted first; of those posted at one time, the first of the rank's
/// program, whatever the order in which they came here.
/// Costs a hash look-up and a heap's step per operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/goal/goal_schedule.h"
#include "workloads/goal/message_queues.h"

namespace sluice {

class PostedRecvs {
  public:
    /// `source` and `tag` may be kGoalAny.
    void add(std::uint32_t host, std::uint32_t source, std::uint32_t tag, std::int64_t at,
             GoalOp op) {
        Posted& posted = posted_[{host, source, tag}];
        posted.emplace_back(at, op);
        std::push_heap(posted.begin(), posted.end(), std::greater<>());
    }

    /// Takes the first recv that fits a message; kNoGoalOp if there is none. With `wildcards`, also
    /// among those of any source or tag.
    GoalOp take(std::uint32_t host, std::uint32_t source, std::uint32_t tag, bool wildcards) {
        auto best = posted_.end();
        const MessageKey keys[] = {{host, source, tag},
                                   {host, kGoalAny, tag},
                                   {host, source, kGoalAny},
                                   {host, kGoalAny, kGoalAny}};
        for (std::size_t i = 0; i < (wildcards ? std::size(keys) : 1); ++i) {
            const auto found = posted_.find(keys[i]);
            if (found == posted_.end()) continue;
            if (best == posted_.end() || found->second.front() < best->second.front()) best = found;
        }
        if (best == posted_.end()) return kNoGoalOp;
        Posted& posted = best->second;
        const GoalOp op = posted.front().second;
        std::pop_heap(posted.begin(), posted.end(), std::greater<>());
        posted.pop_back();
        if (posted.empty()) posted_.erase(best);
        return op;
    }

    /// Those that no message took, in order of operations.
    std::vector<GoalOp> left() const {
        std::vector<GoalOp> ops;
        for (const auto& [key, posted] : posted_) {
            for (const auto& [at, op] : posted) ops.push_back(op);
        }
        std::sort(ops.begin(), ops.end());
        return ops;
    }

  private:
    /// By time of posting, then by operation: a binary heap, the first on top.
    using Posted = std::vector<std::pair<std::int64_t, GoalOp>>;
    std::unordered_map<MessageKey, Posted, MessageKey::Hash> posted_;
};

}  // namespace sluice
