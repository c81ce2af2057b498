// SPDX-License-Identifier: Apache-2.0
#include "core/world/ecn_point.h"

#include <algorithm>
#include <cstdlib>

namespace sluice::step {

EcnPoint ecn_point(const EcnConfig& config, Rate rate) {
    const auto distance = [&](const EcnPoint& point) {
        return std::abs(point.rate.bits_per_second - rate.bits_per_second);
    };
    EcnPoint nearest = *std::min_element(
        config.points.begin(), config.points.end(),
        [&](const EcnPoint& a, const EcnPoint& b) { return distance(a) < distance(b); });
    if (nearest.rate != rate) {
        const double scale = static_cast<double>(rate.bits_per_second) /
                             static_cast<double>(nearest.rate.bits_per_second);
        nearest.kmin.count =
            static_cast<std::int64_t>(static_cast<double>(nearest.kmin.count) * scale);
        nearest.kmax.count =
            static_cast<std::int64_t>(static_cast<double>(nearest.kmax.count) * scale);
    }
    return nearest;
}

}  // namespace sluice::step
