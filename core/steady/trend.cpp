// SPDX-License-Identifier: Apache-2.0
#include "core/steady/trend.h"

#include <cmath>

namespace sluice::steady {

Line fit_line(const std::array<double, kBlocks>& blocks) {
    constexpr auto kCount = static_cast<double>(kBlocks);
    constexpr double kMiddle = (kCount - 1) / 2;
    constexpr double kSpread = kCount * (kCount * kCount - 1) / 12;  // sum of (i - middle)^2
    Line line;
    for (const double block : blocks) {
        line.mean += block / kCount;
    }
    double moment = 0;
    for (std::size_t i = 0; i < kBlocks; ++i) {
        moment += (static_cast<double>(i) - kMiddle) * (blocks[i] - line.mean);
    }
    const double slope = moment / kSpread;  // per block
    double squares = 0;
    for (std::size_t i = 0; i < kBlocks; ++i) {
        const double residual = blocks[i] - line.mean - slope * (static_cast<double>(i) - kMiddle);
        squares += residual * residual;
    }
    const double deviation = std::sqrt(squares / (kCount - 2));
    line.change = slope * kCount;
    line.change_error = deviation / std::sqrt(kSpread) * kCount;
    line.mean_error = deviation / std::sqrt(kCount);
    return line;
}

}  // namespace sluice::steady
