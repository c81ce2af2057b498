// SPDX-License-Identifier: Apache-2.0
/// Percentiles by nearest rank: the p-th percentile of n sorted values is the ceil(p n / 100)-th
/// smallest, always one of the values, never interpolated.
#pragma once

#include <cstddef>
#include <vector>

#include "core/error.h"

namespace sluice {

/// `sorted` ascending and not empty, 0 <= percent <= 100 (0 gives the smallest).
template <typename T>
T percentile(const std::vector<T>& sorted, unsigned percent) {
    if (sorted.empty() || percent > 100) {
        throw InternalError("percentile of nothing, or above 100");
    }
    // n split into hundreds, so that the product cannot overflow.
    const std::size_t hundreds = sorted.size() / 100;
    const std::size_t rest = sorted.size() % 100;
    const std::size_t rank = hundreds * percent + (rest * percent + 99) / 100;
    return sorted[rank == 0 ? 0 : rank - 1];
}

}  // namespace sluice
