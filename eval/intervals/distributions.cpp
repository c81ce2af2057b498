// SPDX-License-Identifier: Apache-2.0
#include "eval/intervals/distributions.h"

#include <cmath>

#include "core/error.h"
#include "core/results/student_t.h"

namespace sluice::eval {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kTwoPi = 2 * kPi;
constexpr std::size_t kSeriesFreedom = 200;

/// ln of the probability of exactly k successes.
double log_binomial_term(std::size_t k, std::size_t n, double p) {
    const double kd = static_cast<double>(k);
    const double nd = static_cast<double>(n);
    return std::lgamma(nd + 1) - std::lgamma(kd + 1) - std::lgamma(nd - kd + 1) + kd * std::log(p) +
           (nd - kd) * std::log1p(-p);
}

}  // namespace

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(kTwoPi); }

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

double normal_quantile(double probability) {
    if (!(probability > 0 && probability < 1)) {
        throw InternalError("normal_quantile: the probability lies between 0 and 1");
    }
    if (probability == 0.5) return 0;
    // The lower tail only: 1 - p loses digits there, p does not. An approximation within 0.05 first.
    if (probability > 0.5) return -normal_quantile(1 - probability);
    const double l = -2 * std::log(probability);
    double x = -std::sqrt(std::fmax(0.0, l - std::log(std::fmax(1.0, kTwoPi * (l - 1.1)))));
    if (probability > 0.2) x = (probability - 0.5) * std::sqrt(kTwoPi);
    for (int step = 0; step < 20; ++step) {
        const double density = normal_density(x);
        const double u = (normal_cdf(x) - probability) / density;
        const double change = u / (1 + x * u / 2);
        x -= change;
        if (std::fabs(change) <= 1e-15 * (1 + std::fabs(x))) break;
    }
    return x;
}

double t_quantile(double probability, std::size_t freedom) {
    if (freedom <= kSeriesFreedom) return student_t_quantile(probability, freedom);
    const double x = normal_quantile(probability);
    const double x2 = x * x;
    const double v = static_cast<double>(freedom);
    const double g1 = x * (x2 + 1) / 4;
    const double g2 = x * ((5 * x2 + 16) * x2 + 3) / 96;
    const double g3 = x * (((3 * x2 + 19) * x2 + 17) * x2 - 15) / 384;
    const double g4 = x * ((((79 * x2 + 776) * x2 + 1482) * x2 - 1920) * x2 - 945) / 92160;
    return x + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v;
}

double binomial_cdf(std::size_t successes, std::size_t trials, double p) {
    if (!(p >= 0 && p <= 1)) throw InternalError("binomial_cdf: p lies between 0 and 1");
    if (successes >= trials || p == 0) return 1;
    if (p == 1) return 0;
    // Sum the tail that does not hold the mode, so that terms decrease from the first one on.
    const bool lower = static_cast<double>(successes) < static_cast<double>(trials) * p;
    std::size_t k = lower ? successes : successes + 1;
    double term = std::exp(log_binomial_term(k, trials, p));
    double sum = 0;
    const double odds = p / (1 - p);
    while (term > sum * 1e-17) {
        sum += term;
        if (lower) {
            if (k == 0) break;
            term *= static_cast<double>(k) / (static_cast<double>(trials - k + 1) * odds);
            --k;
        } else {
            if (k == trials) break;
            term *= static_cast<double>(trials - k) * odds / static_cast<double>(k + 1);
            ++k;
        }
    }
    return lower ? sum : 1 - sum;
}

}  // namespace sluice::eval
