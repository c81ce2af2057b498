// SPDX-License-Identifier: Apache-2.0
/// Tells whoever looks on (phase_watcher.h) of skips.
#pragma once

#include "core/hybrid/phase_config.h"
#include "core/hybrid/phase_report.h"
#include "core/hybrid/phase_watcher.h"
#include "core/hybrid/skip_stage.h"
#include "core/hybrid/stages/calibration_stage.h"
#include "core/hybrid/stages/trajectory_stage.h"

namespace sluice::hybrid {

class WatcherStage final : public SkipStage {
  public:
    /// All must outlive this.
    WatcherStage(const NetworkView& view, const CalibrationStage& calibration,
                 const TrajectoryStage& trajectories, const PhaseReport& report,
                 const PhaseConfig& config)
        : view_(view),
          calibration_(calibration),
          trajectories_(trajectories),
          report_(report),
          config_(config) {}

    void watch(PhaseWatcher& watcher) { watcher_ = &watcher; }
    void left(FlowSlot flow) {
        if (watcher_ != nullptr) {
            watcher_->left(flow);
        }
    }

    bool allows(const GroupState& /*state*/) override {
        return watcher_ == nullptr || watcher_->trusts();
    }
    void fall_asleep(GroupState& state, Tick at) override {
        if (watcher_ != nullptr) {
            watcher_->before_skip(watched(state, at));
        }
    }
    void finish(GroupState& state) override {
        if (watcher_ != nullptr) {
            WatchedSkip skip = watched(state, state.since);
            skip.ends = trajectories_.ends(state, state.until);
            watcher_->after_skip(skip, state.packets);
        }
    }

  private:
    WatchedSkip watched(const GroupState& state, Tick begin) const {
        const bool holds_shares = config_.local() && state.sharing > 1;
        const auto mean_rate = [this, &state](std::size_t flow, Tick first) {
            return state.by_law.holds(flow)
                       ? state.by_law.rate(flow, first)
                       : state.rate[flow] * calibration_.mean_ratio(state, flow, first) *
                             trajectories_.mean_ratio(state, flow, first);
        };
        return {state.id,
                state.group,
                view_.executed_of(state.group),
                state.rate,
                mean_rate,
                begin,
                state.until,
                state.rtt,
                report_.times(),
                holds_shares,
                state.record.predicted ? state.record.entry : kNone,
                {}};
    }

    const NetworkView& view_;
    const CalibrationStage& calibration_;
    const TrajectoryStage& trajectories_;
    const PhaseReport& report_;
    const PhaseConfig& config_;
    PhaseWatcher* watcher_ = nullptr;
};

}  // namespace sluice::hybrid
