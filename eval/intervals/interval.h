// SPDX-License-Identifier: Apache-2.0
/// An estimate with a two-sided confidence interval. It need not be symmetric.
#pragma once

#include <cmath>
#include <limits>

#include "core/error.h"

namespace sluice::eval {

struct Interval {
    double estimate = 0;
    double low = 0;
    double high = 0;
    double confidence = 0.95;  ///< 1 - rho in CCEval

    /// (high - low) / 2, the accuracy of CCEval, section 4.1.1; infinite for an open end.
    double half_width() const { return (high - low) / 2; }
    /// Of the estimate's absolute value; infinite if that is 0, unless the interval is a point.
    double relative_half_width() const {
        if (high == low) return 0;
        if (estimate == 0) return std::numeric_limits<double>::infinity();
        return half_width() / std::fabs(estimate);
    }
    bool contains(double value) const { return low <= value && value <= high; }
};

/// InternalError unless 0 < confidence < 1.
inline void check_confidence(double confidence) {
    if (!(confidence > 0 && confidence < 1)) {
        throw InternalError("a confidence level lies between 0 and 1");
    }
}

}  // namespace sluice::eval
