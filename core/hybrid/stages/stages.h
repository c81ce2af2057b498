// SPDX-License-Identifier: Apache-2.0
/// The stages of a run, in the order in which skips pass through them: a new one is a line in stages.cpp.
#pragma once

#include <memory>
#include <vector>

#include "core/hybrid/phase_parts.h"
#include "core/hybrid/rate_source.h"
#include "core/hybrid/restorer.h"
#include "core/hybrid/skip_executor.h"
#include "core/hybrid/skip_stage.h"
#include "core/hybrid/stages/ack_stage.h"
#include "core/hybrid/stages/calibration_stage.h"
#include "core/hybrid/stages/port_loads.h"
#include "core/hybrid/stages/watcher_stage.h"

namespace sluice::hybrid {

class Stages {
  public:
    /// All must outlive this. `list` is filled. `rates` null: they are measured. `restorer` null: queues stay as they are.
    Stages(const PhaseParts& parts, SkipExecutor& executor, const RateSource* rates,
           Restorer* restorer, SkipStages& list);

    PortLoads& loads() { return loads_; }
    // Those to whom a controller speaks besides.
    CalibrationStage& calibration() { return *calibration_; }
    WatcherStage& watchers() { return *watchers_; }
    AckStage& acks() { return *acks_; }
    const AckStage& acks() const { return *acks_; }

  private:
    PortLoads loads_;
    CalibrationStage* calibration_;
    WatcherStage* watchers_;
    AckStage* acks_;
    std::vector<std::unique_ptr<SkipStage>> owned_;
};

}  // namespace sluice::hybrid
