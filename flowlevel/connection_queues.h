// SPDX-License-Identifier: Apache-2.0
/// The messages of each connection, one behind the other: what a queue pair is to the flow level.
/// A message is sent when all bytes of those started before it have left, and does not arrive before
/// them.
#pragma once

#include <algorithm>
#include <vector>

#include "core/flow/flow.h"
#include "flowlevel/flow_table.h"

namespace sluice::flowlevel {

class ConnectionQueues {
  public:
    /// `flows` must outlive it.
    explicit ConnectionQueues(const FlowTable& flows) : flows_(flows) {}

    /// The flow is started: true if it is sent now, else it waits.
    bool take_turn(FlowSlot flow) {
        const ConnectionId connection = flows_.spec(flow).queue();
        if (connection == kNone) return true;
        if (connection >= queues_.size()) queues_.resize(connection + std::size_t{1});
        if (flow >= following_.size()) following_.resize(flow + std::size_t{1}, kNone);
        following_[flow] = kNone;
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
    FlowSlot pass_turn(FlowSlot flow) {
        const ConnectionId connection = flows_.spec(flow).queue();
        if (connection == kNone) return kNone;
        return queues_[connection].sending = following_[flow];
    }
    /// When `flow`, of which the last byte would arrive at `at`, has arrived: a short message is
    /// quicker through the network than a long one, but does not overtake it. To be asked once, in
    /// the order in which messages leave.
    Tick arrival(FlowSlot flow, Tick at) {
        const ConnectionId connection = flows_.spec(flow).queue();
        if (connection == kNone) return at;
        Tick& last = queues_[connection].arrived;
        return last = std::max(last, at);
    }
    std::size_t memory_bytes() const {
        return queues_.capacity() * sizeof(Queue) + following_.capacity() * sizeof(FlowSlot);
    }

  private:
    struct Queue {
        FlowSlot sending = kNone;
        FlowSlot last = kNone;  ///< the one started last
        Tick arrived = 0;
    };
    const FlowTable& flows_;
    std::vector<Queue> queues_;        ///< by connection
    std::vector<FlowSlot> following_;  ///< by flow: the next of its connection
};

}  // namespace sluice::flowlevel
