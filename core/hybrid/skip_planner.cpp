// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/skip_planner.h"

#include <algorithm>

#include "core/steady/rate_units.h"

namespace sluice::hybrid {

Tick SkipPlanner::plan(GroupState& state, const steady::Verdict& verdict, Tick at) const {
    if (config_.longest_skip > 0 && config_.longest_skip < state.rtt) {
        return 0;  // it costs more than it saves
    }
    if (!state.has_extent) {
        sampler_.list_extent(state);
    }
    const bool allowed = std::all_of(stages_.begin(), stages_.end(),
                                     [&](SkipStage* stage) { return stage->allows(state); });
    if (!allowed || !view_.may_skip(state.group)) {
        return 0;
    }
    SkipPlan plan{state, verdict, at};
    plan.longest = verdict.longest_skip;
    plan.most = config_.longest_skip > 0 ? config_.longest_skip : kNever;
    plan.most = stop_ == kNever ? plan.most : std::min(plan.most, stop_ - at - 1);
    take_measured_rates(plan);
    for (SkipStage* const stage : stages_) {
        stage->limit(plan);
    }
    const Tick dt = length_of(plan);
    // Who follows others may stop anywhere.
    const Tick least = state.trajectory.follows ? 1 : std::max<Tick>(state.rtt, 1);
    if (dt < least || !std::all_of(stages_.begin(), stages_.end(),
                                   [&](SkipStage* stage) { return stage->accepts(plan, dt); })) {
        return 0;
    }
    for (SkipStage* const stage : stages_) {
        stage->settle(state, dt);
    }
    state.marked = verdict.marked;
    return dt;
}

void SkipPlanner::take_measured_rates(const SkipPlan& plan) const {
    const auto payload = static_cast<double>(view_.payload());
    std::vector<double>& rate = plan.state.rate;
    rate.resize(plan.state.group.flows.size());
    for (std::size_t i = 0; i < rate.size(); ++i) {
        rate[i] = plan.verdict.rate[i] / payload / kTicksPerSecond;
    }
}

/// And what ends it; 0: a flow has nothing to skip.
Tick SkipPlanner::length_of(const SkipPlan& plan) const {
    GroupState& state = plan.state;
    Tick dt = std::min(plan.longest, plan.most);
    state.planned_end = PhaseEnd::cap;
    if (state.trajectory.follows) {
        return dt;  // it knows when flows end
    }
    for (std::size_t i = 0; i < state.group.flows.size(); ++i) {
        const std::int64_t left = skippable(view_, state, i);
        if (left <= 0 || !(state.rate[i] > 0)) {
            return 0;
        }
        const double lasts = static_cast<double>(left) / state.rate[i];
        if (lasts < static_cast<double>(dt)) {
            dt = static_cast<Tick>(lasts);
            state.planned_end = PhaseEnd::finisher_near;
        }
    }
    return dt;
}

}  // namespace sluice::hybrid
