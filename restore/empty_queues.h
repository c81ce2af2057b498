// SPDX-License-Identifier: Apache-2.0
/// Nothing is queued when packets go on: HyGra's ablation (Table IV, "w/o restoration").
#pragma once

#include <vector>

#include "core/hybrid/restorer.h"

namespace sluice::restore {

class EmptyQueues final : public hybrid::Restorer {
  public:
    std::size_t looks() const override { return 1; }
    std::vector<double> depths(const std::vector<hybrid::PortPast>& ports) override {
        return std::vector<double>(ports.size(), 0);
    }
};

}  // namespace sluice::restore
