// SPDX-License-Identifier: Apache-2.0
/// The stages of a run (stage_list.h).
#pragma once

#include <memory>
#include <vector>

#include "core/hybrid/stages/ack_stage.h"
#include "core/hybrid/stages/calibration_stage.h"
#include "core/hybrid/stages/stage_list.h"
#include "core/hybrid/stages/trajectory_stage.h"
#include "core/hybrid/stages/watcher_stage.h"

namespace sluice::hybrid {

class Stages {
  public:
    /// All must outlive this. `list` is filled. `rates` null: they are measured. `restorer` null: queues stay as they are.
    Stages(const PhaseParts& parts, SkipExecutor& executor, const RateSource* rates,
           Restorer* restorer, SkipStages& list);

    PortLoads& loads() { return loads_; }
    // Those to whom a controller speaks besides.
    CalibrationStage& calibration() { return *context_.calibration; }
    TrajectoryStage& trajectories() { return *context_.trajectories; }
    WatcherStage& watchers() { return *context_.watchers; }
    AckStage& acks() { return *context_.acks; }
    const AckStage& acks() const { return *context_.acks; }

  private:
    PortLoads loads_;
    StageContext context_;
    std::vector<std::unique_ptr<SkipStage>> owned_;
};

}  // namespace sluice::hybrid
