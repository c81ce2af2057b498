// SPDX-License-Identifier: Apache-2.0
/// Nonlinear least squares by the Levenberg-Marquardt method (More, 1978; MINPACK's lmder and lmdif, by Eigen).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace sluice {

struct LeastSquares {
    std::size_t parameters = 0;
    std::size_t residuals = 0;  ///< at least as many
    std::function<void(const double* x, double* residuals)> evaluate;
    /// d residual i / d parameter j at [i + j * residuals]. Empty: forward differences of evaluate().
    std::function<void(const double* x, double* jacobian)> derive;
    int most_evaluations = 400;
};

/// Moves `x`, of the problem's parameters, to a minimum nearby. Returns the sum of the residuals' squares there.
double minimize(const LeastSquares& problem, std::vector<double>& x);

}  // namespace sluice
