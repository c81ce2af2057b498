// SPDX-License-Identifier: Apache-2.0
/// An interval that holds at all looks together: it contains the mean at every N at once with the stated
/// confidence, so that one may look after every trial and stop on what one sees. The price is width:
/// about 1.5 times Student's interval at its best N.
#pragma once

#include "eval/intervals/interval.h"
#include "eval/intervals/moments.h"

namespace sluice::eval {

/// Asymptotic confidence sequence by Robbins' normal mixture (Waudby-Smith, Arbour, Sinha, Kennedy and
/// Ramdas, Ann. Statist. 52, 2024): mean +- s sqrt(2 (N r^2 + 1) / (N r)^2 ln(sqrt(N r^2 + 1) / rho)),
/// with r such that it is narrowest near N = `best_at`. Widened by the ratio of Student's to the normal
/// quantile, since s is estimated. Valid from about 20 values on; two or more, else InternalError.
Interval anytime_interval(const Moments& moments, double confidence, double best_at = 200);

/// The N at which half of its width is `half_width` > 0, for values of this deviation.
double anytime_trials(double deviation, double half_width, double confidence, double best_at = 200);

}  // namespace sluice::eval
