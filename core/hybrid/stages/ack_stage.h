// SPDX-License-Identifier: Apache-2.0
/// ACKs that are no packets (core/hybrid/stages/ack_streams.h): the load that they are goes on at a skip's rates, and groups whose
/// ports carry more of it than before wake.
#pragma once

#include <algorithm>
#include <map>

#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/hybrid/group_table.h"
#include "core/hybrid/skip_executor.h"
#include "core/hybrid/skip_stage.h"

namespace sluice::hybrid {

/// Does nothing where ACKs are packets.
class AckStage final : public SkipStage {
  public:
    /// All must outlive this.
    AckStage(NetworkView& view, const step::FlowPartitions& partitions, GroupTable& groups,
             SkipExecutor& executor)
        : view_(view),
          acks_(view.ack_streams()),
          partitions_(partitions),
          groups_(groups),
          executor_(executor) {}

    void enter(FlowSlot flow, Tick now);
    void leave(FlowSlot flow, Tick now);
    /// Before a group is looked at.
    void measure(const GroupState& state, Tick at);
    /// When the load of flows that have left ends.
    /// Or when that of flows begins that skip from their start on.
    Tick next_cut() const {
        return starting_.empty() ? left_cut_ : std::min(left_cut_, starting_.begin()->first);
    }
    void at_cut(Tick at);
    /// A frame is to leave by `port`, or a flow to start at its host, at `now`.
    void wake_port(PortId port, Tick now);
    /// Ports that other ACKs cross than when last asked, each perhaps several times.
    std::vector<PortId> take_changed();
    /// The run has ended: all ACKs are counted.
    void finish();

    void fall_asleep(GroupState& state, Tick at) override;
    void wake(GroupState& state) override;

  private:
    void wake_overrun(Tick at);
    void start(FlowSlot flow, Tick at);
    void disturb(PartitionId id, Tick now);

    NetworkView& view_;
    AckStreams* acks_;
    const step::FlowPartitions& partitions_;
    GroupTable& groups_;
    SkipExecutor& executor_;
    Tick left_cut_ = kNever;
    std::multimap<Tick, FlowSlot> starting_;  ///< by when their first ACKs arrive
};

}  // namespace sluice::hybrid
