// SPDX-License-Identifier: Apache-2.0
/// Whether what flows have of the ports that they share is what their laws bring them to, or they are still on their way.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::steady {

/// A port and who leaves by it.
struct PortUse {
    double capacity = 0;               ///< that laws aim at, in the rates' unit
    std::vector<std::uint32_t> flows;  ///< by number
};

/// Max-min fair, nearly: each flow leaves by a full port of which nobody has more. Congestion laws bring flows there, HPCC by
/// additive steps that take thousands of round trips, and look flat meanwhile.
bool are_fair(const std::vector<PortUse>& ports, const std::vector<double>& rates);

}  // namespace sluice::steady
