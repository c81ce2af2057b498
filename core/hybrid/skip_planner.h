// SPDX-License-Identifier: Apache-2.0
/// Plans skips: which rates a group's flows have in one, and how long it may last.
///
/// It ends at the first of: the earliest finisher's last packets, which are then sent as packets, so that what depends on
/// them starts when it should; the length for which the rates are trusted; a cap; the end of the run.
#pragma once

#include "core/hybrid/group_sampler.h"
#include "core/hybrid/phase_config.h"
#include "core/hybrid/skip_stage.h"

namespace sluice::hybrid {

class SkipPlanner {
  public:
    /// All must outlive this. Nothing is skipped to or beyond `stop`.
    SkipPlanner(const NetworkView& view, const GroupSampler& sampler, const SkipStages& stages,
                const PhaseConfig& config, Tick stop)
        : view_(view), sampler_(sampler), stages_(stages), config_(config), stop_(stop) {}

    /// Of a group that is steady by `verdict`. Returns how long its next skip is, with its rates and why it ends in `state`; 0:
    /// packets go on.
    Tick plan(GroupState& state, const steady::Verdict& verdict, Tick at) const;

  private:
    void take_measured_rates(const SkipPlan& plan) const;
    Tick length_of(const SkipPlan& plan) const;

    const NetworkView& view_;
    const GroupSampler& sampler_;
    const SkipStages& stages_;
    const PhaseConfig& config_;
    Tick stop_;
};

}  // namespace sluice::hybrid
