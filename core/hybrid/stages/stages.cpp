// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/stages.h"

#include <utility>

namespace sluice::hybrid {

Stages::Stages(const PhaseParts& parts, SkipExecutor& executor, const RateSource* rates,
               Restorer* restorer, SkipStages& list)
    : loads_(parts.engine.view()), context_{parts, loads_, executor, rates, restorer} {
    const auto add = [&](std::unique_ptr<SkipStage> stage) {
        list.push_back(stage.get());
        owned_.push_back(std::move(stage));
    };
#define SLUICE_STAGE(name) add(make_##name##_stage(context_));
    SLUICE_STAGES(SLUICE_STAGE)
#undef SLUICE_STAGE
}

}  // namespace sluice::hybrid
