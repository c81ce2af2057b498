// SPDX-License-Identifier: Apache-2.0
/// Student's t distribution with a whole number of degrees of freedom, by its finite series (Abramowitz
/// and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4): exact but for rounding.
#pragma once

#include <cstddef>

namespace sluice {

/// The t with P(T <= t) = `probability`, 0 < probability < 1. InternalError outside.
double student_t_quantile(double probability, std::size_t freedom);

}  // namespace sluice
