// SPDX-License-Identifier: Apache-2.0
/// Rates that laws change by themselves while nothing else holds them (core/steady/law_courses.h): in a skip they are what
/// the laws do in it.
#pragma once

#include "core/hybrid/skip_stage.h"

namespace sluice::hybrid {

class LawStage final : public SkipStage {
  public:
    /// `view` must outlive this.
    explicit LawStage(const NetworkView& view) : view_(view) {}

    void limit(SkipPlan& plan) override;
    void settle(GroupState& state, Tick dt) override { state.by_law.take(dt, state.rate); }
    void shorten(GroupState& state, Tick dt) override { state.by_law.take(dt, state.rate); }

  private:
    void find_courses(const SkipPlan& plan) const;

    const NetworkView& view_;
};

}  // namespace sluice::hybrid
