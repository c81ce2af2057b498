// SPDX-License-Identifier: Apache-2.0
#include "flowlevel/max_min_rates.h"

#include "flowlevel/steady_phase.h"

namespace sluice::flowlevel {

std::vector<double> MaxMinRates::rates(const std::vector<hybrid::RateDemand>& flows,
                                       const std::vector<double>& capacities) const {
    std::vector<SteadyFlow> shares(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
        for (const hybrid::RateDemand::Use& use : flows[i].links) {
            shares[i].links.push_back({use.link, use.coefficient});
        }
        shares[i].instantaneous = flows[i].instantaneous;
        shares[i].guaranteed = flows[i].guaranteed;
    }
    return steady_rates(shares, capacities);
}

}  // namespace sluice::flowlevel
