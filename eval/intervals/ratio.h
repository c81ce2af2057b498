// SPDX-License-Identifier: Apache-2.0
/// Means pooled over trials are ratios: the mean completion time of all flows is the sum of times over
/// the sum of counts, and both vary from trial to trial.
#pragma once

#include <vector>

namespace sluice::eval {

/// One value a trial whose mean is sum(numerators) / sum(denominators) and whose spread is the ratio's
/// (linearization: ratio + (y_i - ratio x_i) / mean(x)). Any interval or stopping rule for means
/// applies to them; a ratio's bias is O(1/N) and not corrected.
/// Same length, at least one, positive sum of denominators, else InternalError.
std::vector<double> ratio_values(const std::vector<double>& numerators,
                                 const std::vector<double>& denominators);

}  // namespace sluice::eval
