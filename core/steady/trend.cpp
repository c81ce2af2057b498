// SPDX-License-Identifier: Apache-2.0
#include "core/steady/trend.h"

#include <cmath>

namespace sluice::steady {

Line fit_line(const std::array<double, kBlocks>& blocks) {
    constexpr auto n = static_cast<double>(kBlocks);
    constexpr double middle = (n - 1) / 2;
    constexpr double spread = n * (n * n - 1) / 12;  // sum of squares of (i - middle)
    Line line;
    for (const double block : blocks) {
        line.mean += block / n;
    }
    double moment = 0;
    for (std::size_t i = 0; i < kBlocks; ++i) {
        moment += (static_cast<double>(i) - middle) * (blocks[i] - line.mean);
    }
    const double slope = moment / spread;  // per block
    double squares = 0;
    for (std::size_t i = 0; i < kBlocks; ++i) {
        const double residual = blocks[i] - line.mean - slope * (static_cast<double>(i) - middle);
        squares += residual * residual;
    }
    const double deviation = std::sqrt(squares / (n - 2));
    line.change = slope * n;
    line.change_error = deviation / std::sqrt(spread) * n;
    line.mean_error = deviation / std::sqrt(n);
    return line;
}

}  // namespace sluice::steady
