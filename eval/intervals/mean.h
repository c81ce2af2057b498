// SPDX-License-Identifier: Apache-2.0
/// Intervals for the mean of independent values, one a trial. At least two values, else InternalError.
#pragma once

#include "eval/intervals/interval.h"
#include "eval/intervals/moments.h"

namespace sluice::eval {

/// mean +- v_(1-rho/2) s / sqrt(N), normal quantile v (CCEval, eq. 1): the paper's.
Interval normal_interval(const Moments& moments, double confidence);

/// The same with Student's t of N - 1 degrees of freedom: exact for normal values.
Interval student_interval(const Moments& moments, double confidence);

/// Corrected for skewness by Hall's monotone cubic transformation of the t statistic (Hall, J. R.
/// Statist. Soc. B 54, 1992): coverage error O(1/N) instead of O(1/sqrt(N)) on each side. Student's t
/// where the sample is symmetric; a longer upper arm where it is skewed to the right. An arm is open
/// (infinite) where a value's skewness is so large that the transformation has no inverse on that
/// side: the sample says nothing about it yet.
Interval skewed_interval(const Moments& moments, double confidence);

/// What is added to an interval because the sample shows less of a tail than there is, and because the
/// moment to stop is chosen by the sample. Measured, not derived (bench/eval/coverage).
struct Correction {
    /// Arms are those of an interval that misses this share of what is asked for: 0.5 of 5% is 2.5%.
    double miss_factor = 0.5;
    /// The sample's skewness is taken times this: on average a sample shows too little of it.
    double skewness_factor = 1.25;
};

/// skewed_interval with a correction; it carries `confidence`, which it keeps where the plain one does not.
Interval corrected_interval(const Moments& moments, double confidence,
                            const Correction& correction = {});

/// Half the width of corrected_interval in units of the deviation, for N values of this skewness.
double corrected_half_width(double count, double skewness, double confidence,
                            const Correction& correction);

}  // namespace sluice::eval
