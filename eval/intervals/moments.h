// SPDX-License-Identifier: Apache-2.0
/// Mean and central moments of a stream of values, updated value by value (Welford 1962; third and
/// fourth moments as in Pébay, Sandia report SAND2008-6212). The result depends on the order of the
/// values in the last bits only; feed trials in the order of their numbers to get the same bits.
#pragma once

#include <cstddef>
#include <vector>

namespace sluice::eval {

class Moments {
  public:
    Moments() = default;
    explicit Moments(const std::vector<double>& values) {
        for (double value : values) add(value);
    }

    /// A value that is not finite is an InternalError: a failed trial has no value.
    void add(double value);

    std::size_t count() const { return count_; }
    /// Zero without values.
    double mean() const { return mean_; }
    /// Unbiased, divided by N - 1; 0 for fewer than two values.
    double variance() const;
    double deviation() const;
    /// Of the mean: deviation / sqrt(N).
    double standard_error() const;
    /// g1 = m3 / m2^1.5 (m_k divided by N); 0 where all values are equal.
    double skewness() const;
    /// b2 = m4 / m2^2, 3 for a normal distribution; 0 where all values are equal.
    double kurtosis() const;

  private:
    std::size_t count_ = 0;
    double mean_ = 0;
    double m2_ = 0;  ///< sum of (x - mean)^2
    double m3_ = 0;
    double m4_ = 0;
};

}  // namespace sluice::eval
