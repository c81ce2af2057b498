// SPDX-License-Identifier: Apache-2.0
#include "core/steady/fair_shares.h"

#include <algorithm>

namespace sluice::steady {

namespace {

/// A port is full at this part of what laws aim at.
constexpr double kFull = 0.9;
/// Rates that differ by less are the same.
constexpr double kUnequal = 0.1;

}  // namespace

bool are_fair(const std::vector<PortUse>& ports, const std::vector<double>& rates) {
    std::vector<bool> fair(rates.size(), false);
    for (const PortUse& port : ports) {
        double sum = 0;
        double most = 0;
        for (const std::uint32_t flow : port.flows) {
            sum += rates[flow];
            most = std::max(most, rates[flow]);
        }
        if (sum < kFull * port.capacity) {
            continue;
        }
        for (const std::uint32_t flow : port.flows) {
            fair[flow] = fair[flow] || rates[flow] >= (1 - kUnequal) * most;
        }
    }
    return std::all_of(fair.begin(), fair.end(), [](bool one) { return one; });
}

}  // namespace sluice::steady
