// SPDX-License-Identifier: Apache-2.0
/// Keeps the partitions of a running lane up to date between windows and tells a supervisor.
#pragma once

#include <tuple>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/clocks/supervisor.h"

namespace sluice::step {

class PartitionTracker {
  public:
    /// Makes `store` list the flows that open and close. All must outlive the tracker.
    PartitionTracker(WorldStore& store, FlowPartitions& partitions, Supervisor& supervisor);

    Supervisor& supervisor() { return supervisor_; }
    /// Takes up what opened and closed since the last call, each at its own instant, in order of
    /// time, so that it makes no difference how time was cut into windows. A partition that skips
    /// then skips back to an instant that the present window has passed, which is sound: what it
    /// sends from then on reaches nobody within the window.
    void update();
    /// Links have changed at `now` (the supervisor was told before): flows that go other ways now
    /// change partitions.
    void reroute(Tick now);

  private:
    void enter(FlowSlot flow, Tick now);
    void leave(FlowSlot flow, Tick now);

    using Change = std::tuple<Tick, bool, FlowSlot>;  ///< when, whether it leaves, who

    WorldStore& store_;
    FlowPartitions& partitions_;
    Supervisor& supervisor_;
    std::vector<Change> changes_;  ///< scratch of update()
};

}  // namespace sluice::step
