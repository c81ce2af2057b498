// SPDX-License-Identifier: Apache-2.0
/// How one collective runs: on what channels, in what chunks, and what software and protocol take. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "workloads/collective/collective_library.h"

namespace sluice {

struct Execution {
    std::uint32_t channels = 1;
    std::int64_t chunk = 0;  ///< bytes that are pipelined at a time; 0: whole steps
    /// Chunks that a member has sent to another one and that are not acknowledged: two, so that they leave one behind
    /// the other and the next one is there when an acknowledgement is on its way, or as many as NCCL's buffer holds.
    std::size_t in_flight = 2;
    NcclProtocol protocol = NcclProtocol::simple;
    Tick overhead = 0;              ///< once, of every member
    Tick step_overhead = 0;         ///< of a message between servers
    Tick server_step_overhead = 0;  ///< of a message inside one, where the network carries it
    Tick server_hop = 0;            ///< of a message inside one, where that is computed
    /// B/s of a channel from one member to another inside a server, as NCCL shares the links; 0: messages take a member's
    /// links in turn.
    double lane_rate = 0;
};

/// As the options have it.
Execution usual_execution(const CollectiveOptions& options);

/// As NCCL does it. Software inside servers is the GPU type's, where it has measured it, else NCCL's own.
Execution nccl_execution(const NcclPlan& plan, const CollectiveOptions& options,
                         std::size_t members, std::size_t servers);

/// Channels that share the links inside a server fairly: each takes its transfers from one member to another in turn.
class ServerLanes {
  public:
    using Key = std::tuple<CommunicatorId, RankId, RankId>;

    /// An operation of the sender as long as the transfer, behind the lane's last one.
    OpId add(JobGraph& graph, const Key& key, double seconds, Label label);

  private:
    std::map<Key, OpId> last_;
};

}  // namespace sluice
