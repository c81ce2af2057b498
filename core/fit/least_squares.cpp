// SPDX-License-Identifier: Apache-2.0
#include "core/fit/least_squares.h"

#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

namespace sluice {
namespace {

/// As Eigen asks for a problem.
struct Residuals {
    using Scalar = double;
    using InputType = Eigen::VectorXd;
    using ValueType = Eigen::VectorXd;
    using JacobianType = Eigen::MatrixXd;
    enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

    const LeastSquares& problem;

    int inputs() const { return static_cast<int>(problem.parameters); }
    int values() const { return static_cast<int>(problem.residuals); }
    int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& residuals) const {
        problem.evaluate(x.data(), residuals.data());
        return 0;
    }
};

struct Derivatives : Eigen::NumericalDiff<Residuals> {
    using NumericalDiff::NumericalDiff;
    int df(const Eigen::VectorXd& x, Eigen::MatrixXd& jacobian) const {
        if (!problem.derive) {
            return NumericalDiff::df(x, jacobian);
        }
        problem.derive(x.data(), jacobian.data());
        return 0;
    }
};

}  // namespace

double minimize(const LeastSquares& problem, std::vector<double>& x) {
    Eigen::VectorXd values =
        Eigen::Map<Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
    const Derivatives derivatives(Residuals{problem});
    Eigen::LevenbergMarquardt<const Derivatives> method(derivatives);
    method.parameters.maxfev = problem.most_evaluations;
    method.minimize(values);
    x.assign(values.data(), values.data() + values.size());
    return method.fvec.squaredNorm();
}

}  // namespace sluice
