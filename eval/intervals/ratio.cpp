// SPDX-License-Identifier: Apache-2.0
#include "eval/intervals/ratio.h"

#include <numeric>

#include "core/error.h"

namespace sluice::eval {

std::vector<double> ratio_values(const std::vector<double>& numerators,
                                 const std::vector<double>& denominators) {
    const double above = std::accumulate(numerators.begin(), numerators.end(), 0.0);
    const double below = std::accumulate(denominators.begin(), denominators.end(), 0.0);
    if (numerators.size() != denominators.size() || !(below > 0)) {
        throw InternalError("a ratio needs as many denominators as numerators, and a positive sum");
    }
    const double ratio = above / below;
    const double mean = below / static_cast<double>(denominators.size());
    std::vector<double> values(numerators.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = ratio + (numerators[i] - ratio * denominators[i]) / mean;
    }
    return values;
}

}  // namespace sluice::eval
