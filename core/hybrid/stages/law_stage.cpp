// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/law_stage.h"

#include <algorithm>
#include <vector>

#include "core/hybrid/stages/stage_list.h"

namespace sluice::hybrid {

void LawStage::limit(SkipPlan& plan) {
    constexpr int kRounds = 3;  // rates and the length depend on each other
    GroupState& state = plan.state;
    find_courses(plan);
    for (int round = 0; round < kRounds && !state.by_law.empty(); ++round) {
        const double left = std::min(time_left(view_, state), static_cast<double>(plan.longest));
        state.by_law.take(static_cast<Tick>(left), state.rate);
    }
}

/// Which flows' rates their laws change by themselves.
void LawStage::find_courses(const SkipPlan& plan) const {
    GroupState& state = plan.state;
    state.by_law.clear();
    if (!steady::LawCourses::concern(view_.law())) {
        return;
    }
    std::vector<steady::LawFlow> flows;
    for (std::size_t f = 0; f < state.group.flows.size(); ++f) {
        const FlowSlot flow = state.group.flows[f];
        flows.push_back({&view_.law_state(flow), &state.readings[f], view_.base_rtt(flow)});
    }
    state.by_law.find({&view_.law(), view_.payload(), view_.data_bytes()}, flows, plan.verdict,
                      plan.at);
}

std::unique_ptr<SkipStage> make_law_stage(StageContext& context) {
    return std::make_unique<LawStage>(context.view());
}

}  // namespace sluice::hybrid
