// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/stages.h"

#include <utility>

#include "core/hybrid/stages/law_stage.h"
#include "core/hybrid/stages/outside_stage.h"
#include "core/hybrid/stages/queue_stage.h"
#include "core/hybrid/stages/rate_source_stage.h"
#include "core/hybrid/stages/shared_ports_stage.h"

namespace sluice::hybrid {

Stages::Stages(const PhaseParts& parts, SkipExecutor& executor, const RateSource* rates,
               Restorer* restorer, SkipStages& list)
    : loads_(parts.engine.view()) {
    NetworkView& view = parts.engine.view();
    const auto add = [&](auto stage) {
        auto* const added = stage.get();
        list.push_back(added);
        owned_.push_back(std::move(stage));
        return added;
    };
    add(std::make_unique<RateSourceStage>(view, rates));
    add(std::make_unique<LawStage>(view));
    calibration_ = add(
        std::make_unique<CalibrationStage>(parts.engine, loads_, parts.config, rates == nullptr));
    add(std::make_unique<SharedPortsStage>(loads_, parts.config));
    add(std::make_unique<OutsideStage>(view));
    add(std::make_unique<QueueStage>(parts.engine, restorer, parts.report));
    watchers_ =
        add(std::make_unique<WatcherStage>(view, *calibration_, parts.report, parts.config));
    acks_ = add(std::make_unique<AckStage>(view, parts.partitions, parts.groups, executor));
}

}  // namespace sluice::hybrid
