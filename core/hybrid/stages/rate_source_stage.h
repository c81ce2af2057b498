// SPDX-License-Identifier: Apache-2.0
/// A rate source's rates in place of the measured ones.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hybrid/rate_source.h"
#include "core/hybrid/skip_stage.h"

namespace sluice::hybrid {

class RateSourceStage final : public SkipStage {
  public:
    /// Both must outlive this. `rates` null: rates are measured.
    RateSourceStage(const NetworkView& view, const RateSource* rates)
        : view_(view), rates_(rates) {}

    void limit(SkipPlan& plan) override;

  private:
    void take_rates(GroupState& state);

    const NetworkView& view_;
    const RateSource* rates_;
    std::vector<std::uint32_t> link_index_;  ///< by port, scratch: kNone between calls
};

}  // namespace sluice::hybrid
