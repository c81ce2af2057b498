// SPDX-License-Identifier: Apache-2.0
/// The messages of each connection, one behind the other: what a queue pair is to the flow level.
/// A message is sent when all bytes of those started before it have left, and does not arrive before
/// them.
#pragma once

#include <algorithm>
#include <vector>

#include "core/flow/flow.h"

namespace sluice::flowlevel {

class ConnectionQueues {
  public:
    /// `flows` must outlive it.
    explicit ConnectionQueues(const std::vector<FlowSpec>& flows)
        : flows_(flows), queues_(connection_count(flows)) {
        if (!queues_.empty()) following_.assign(flows.size(), kNone);
    }

    /// `flow` is started: true if it is sent now, else it waits.
    bool take_turn(FlowId flow) {
        const ConnectionId connection = flows_[flow].queue();
        if (connection == kNone) return true;
        Queue& queue = queues_[connection];
        const bool free = queue.sending == kNone;
        if (free) {
            queue.sending = flow;
        } else {
            following_[queue.last] = flow;
        }
        queue.last = flow;
        return free;
    }
    /// The last byte of `flow` has left. Returns the flow that is sent now, kNone if none waits.
    FlowId pass_turn(FlowId flow) {
        const ConnectionId connection = flows_[flow].queue();
        if (connection == kNone) return kNone;
        return queues_[connection].sending = following_[flow];
    }
    /// When `flow`, of which the last byte would arrive at `at`, has arrived: a short message is
    /// quicker through the network than a long one, but does not overtake it. To be asked once, in
    /// the order in which messages leave.
    Tick arrival(FlowId flow, Tick at) {
        const ConnectionId connection = flows_[flow].queue();
        if (connection == kNone) return at;
        Tick& last = queues_[connection].arrived;
        return last = std::max(last, at);
    }
    std::size_t memory_bytes() const {
        return queues_.capacity() * sizeof(Queue) + following_.capacity() * sizeof(FlowId);
    }

  private:
    struct Queue {
        FlowId sending = kNone;
        FlowId last = kNone;  ///< the one started last
        Tick arrived = 0;
    };
    const std::vector<FlowSpec>& flows_;
    std::vector<Queue> queues_;
    std::vector<FlowId> following_;  ///< by flow: the next of its connection
};

}  // namespace sluice::flowlevel
