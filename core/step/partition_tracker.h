// SPDX-License-Identifier: Apache-2.0
/// Keeps the partitions of a running lane up to date between windows and tells a supervisor.
#pragma once

#include <vector>

#include "core/step/flow_partitions.h"
#include "core/step/supervisor.h"

namespace sluice::step {

class PartitionTracker {
  public:
    /// Makes `store` list the flows that open and close. All must outlive the tracker.
    PartitionTracker(WorldStore& store, FlowPartitions& partitions, Supervisor& supervisor);

    Supervisor& supervisor() { return supervisor_; }
    /// Takes up what opened and closed since the last call; everything before `now` is executed.
    void update(Tick now);
    /// Links have changed at `now` (the supervisor was told before): flows that go other ways now
    /// change partitions.
    void reroute(Tick now);

  private:
    void enter(FlowId flow, Tick now);
    void leave(FlowId flow, Tick now);

    WorldStore& store_;
    FlowPartitions& partitions_;
    Supervisor& supervisor_;
};

}  // namespace sluice::step
