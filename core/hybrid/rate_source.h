// SPDX-License-Identifier: Apache-2.0
/// Where the rates of flows in a steady phase come from when they are not measured: the seam between
/// the phase controller and a flow level.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace sluice::hybrid {

/// A flow of a steady phase. Rates are bytes of payload per picosecond.
struct RateDemand {
    /// What it puts on a link per byte of payload, by its data or its ACKs.
    struct Use {
        std::uint32_t link = 0;
        double coefficient = 1;
    };
    std::vector<Use> links;
    double instantaneous = 0;  ///< B_inst: its rate now
    /// B_min: what an equal division of its links guarantees it.
    double guaranteed = std::numeric_limits<double>::infinity();
};

class RateSource {
  public:
    virtual ~RateSource() = default;
    /// The rate of each flow; `capacities` by link, bytes per picosecond.
    virtual std::vector<double> rates(const std::vector<RateDemand>& flows,
                                      const std::vector<double>& capacities) const = 0;
};

}  // namespace sluice::hybrid
