// SPDX-License-Identifier: Apache-2.0
#include "core/results/student_t.h"

#include <cmath>

#include "core/error.h"

namespace sluice {

namespace {

constexpr double kHalfPi = 1.57079632679489661923;
/// Terms below this no longer change a sum that is at least as large as its first term.
constexpr double kNegligible = 1e-18;
/// Halvings of (0, pi/2): to the last bit of a double.
constexpr int kHalvings = 64;

/// P(|T| <= sqrt(freedom) tan(angle)), 0 <= angle <= pi/2. The series goes by squares of the cosine:
/// over even coefficients for odd degrees of freedom, over odd ones for even.
double central_probability(double angle, std::size_t freedom) {
    const double sine = std::sin(angle);
    const double cosine = std::cos(angle);
    const bool odd = freedom % 2 == 1;
    double term = odd ? cosine : 1;
    double sum = 0;
    for (std::size_t k = odd ? 3 : 2; k <= freedom && term > kNegligible; k += 2) {
        sum += term;
        const auto n = static_cast<double>(k);
        term *= cosine * cosine * (n - 1) / n;
    }
    return odd ? (angle + sine * sum) / kHalfPi : sine * sum;
}

}  // namespace

double student_t_quantile(double probability, std::size_t freedom) {
    if (freedom == 0 || !(probability > 0 && probability < 1)) {
        throw InternalError("Student's t has no such quantile");
    }
    if (probability < 0.5) return -student_t_quantile(1 - probability, freedom);
    const double wanted = 2 * probability - 1;
    double low = 0;
    double high = kHalfPi;
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2;
        (central_probability(middle, freedom) < wanted ? low : high) = middle;
    }
    return std::sqrt(static_cast<double>(freedom)) * std::tan(low);
}

}  // namespace sluice
