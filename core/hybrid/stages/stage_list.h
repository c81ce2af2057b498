// SPDX-License-Identifier: Apache-2.0
/// The list of stages, in the order in which skips pass through them. One is a source file that defines make_NAME_stage(),
/// of a class derived from SkipStage; it joins by a line below.
#pragma once

#include <memory>

#include "core/hybrid/phase_parts.h"
#include "core/hybrid/rate_source.h"
#include "core/hybrid/restorer.h"
#include "core/hybrid/skip_executor.h"
#include "core/hybrid/skip_stage.h"
#include "core/hybrid/stages/port_loads.h"

// clang-format off
#define SLUICE_STAGES(STAGE) \
    STAGE(rate_source)       \
    STAGE(law)               \
    STAGE(calibration)       \
    STAGE(trajectory)        \
    STAGE(shared_ports)      \
    STAGE(outside)           \
    STAGE(queue)             \
    STAGE(watcher)           \
    STAGE(ack)
// clang-format on

namespace sluice::hybrid {

class AckStage;
class CalibrationStage;
class TrajectoryStage;
class WatcherStage;

/// What stages may work with. All but this outlives them.
struct StageContext {
    PhaseParts parts;
    PortLoads& loads;
    SkipExecutor& executor;
    const RateSource* rates;  ///< null: they are measured
    Restorer* restorer;       ///< null: queues stay as they are
    // Those to whom a controller speaks besides, who enter themselves.
    CalibrationStage* calibration = nullptr;
    TrajectoryStage* trajectories = nullptr;
    WatcherStage* watchers = nullptr;
    AckStage* acks = nullptr;

    NetworkView& view() const { return parts.engine.view(); }
};

#define SLUICE_STAGE(name) std::unique_ptr<SkipStage> make_##name##_stage(StageContext& context);
SLUICE_STAGES(SLUICE_STAGE)
#undef SLUICE_STAGE

}  // namespace sluice::hybrid
