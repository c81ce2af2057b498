// SPDX-License-Identifier: Apache-2.0
/// HyGra's rates for the phase controller: eq. 2 and 3 (steady_phase.h).
#pragma once

#include "core/hybrid/rate_source.h"

namespace sluice::flowlevel {

class MaxMinRates final : public hybrid::RateSource {
  public:
    std::vector<double> rates(const std::vector<hybrid::RateDemand>& flows,
                              const std::vector<double>& capacities) const override;
};

}  // namespace sluice::flowlevel
