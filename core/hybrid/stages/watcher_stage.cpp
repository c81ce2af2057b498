// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/watcher_stage.h"

#include "core/hybrid/stages/stage_list.h"

namespace sluice::hybrid {

std::unique_ptr<SkipStage> make_watcher_stage(StageContext& context) {
    auto stage =
        std::make_unique<WatcherStage>(context.view(), *context.calibration, *context.trajectories,
                                       context.parts.report, context.parts.config);
    context.watchers = stage.get();
    return stage;
}

}  // namespace sluice::hybrid
