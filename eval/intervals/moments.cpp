// SPDX-License-Identifier: Apache-2.0
#include "eval/intervals/moments.h"

#include <cmath>

#include "core/error.h"

namespace sluice::eval {

void Moments::add(double value) {
    if (!std::isfinite(value)) throw InternalError("Moments: a value is not finite");
    const double before = static_cast<double>(count_);
    ++count_;
    const double n = static_cast<double>(count_);
    const double delta = value - mean_;
    const double step = delta / n;
    const double term = delta * step * before;
    mean_ += step;
    m4_ += term * step * step * (n * n - 3 * n + 3) + 6 * step * step * m2_ - 4 * step * m3_;
    m3_ += term * step * (n - 2) - 3 * step * m2_;
    m2_ += term;
}

double Moments::variance() const { return count_ < 2 ? 0 : m2_ / static_cast<double>(count_ - 1); }

double Moments::deviation() const { return std::sqrt(variance()); }

double Moments::standard_error() const {
    return count_ == 0 ? 0 : std::sqrt(variance() / static_cast<double>(count_));
}

double Moments::skewness() const {
    if (m2_ <= 0) return 0;
    return std::sqrt(static_cast<double>(count_)) * m3_ / std::pow(m2_, 1.5);
}

double Moments::kurtosis() const {
    if (m2_ <= 0) return 0;
    return static_cast<double>(count_) * m4_ / (m2_ * m2_);
}

}  // namespace sluice::eval
