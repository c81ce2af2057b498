// SPDX-License-Identifier: Apache-2.0
#include "bench/eval/distributions.h"

#include <fmt/format.h>

#include "core/random.h"

namespace sluice::bench {
namespace {

constexpr double kTwoPi = 6.283185307179586;

std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

Distribution normal(double deviation) {
    return {fmt::format("normal, cv {}", deviation), 1,
            [=](Stream& stream) { return 1 + deviation * stream.normal(); }};
}

Distribution log_normal(double sigma) {
    return {fmt::format("log-normal, sigma {}", sigma), std::exp(sigma * sigma / 2),
            [=](Stream& stream) { return std::exp(sigma * stream.normal()); }};
}

Distribution pareto(double alpha) {
    // The mean of a Pareto distribution with alpha <= 1 is infinite; none is used here.
    return {fmt::format("Pareto, alpha {}", alpha), alpha / (alpha - 1),
            [=](Stream& stream) { return std::pow(stream.uniform(), -1 / alpha); }};
}

/// A base of mean 1, 20 times longer with probability 1%.
Distribution mixture(const std::string& base, const std::function<double(Stream&)>& draw) {
    return {"mixture of " + base, 1.19, [=](Stream& stream) {
                const double value = draw(stream);
                return stream.uniform() < 0.01 ? 20 * value : value;
            }};
}

/// A trial's mean over 50 flows that share a trial's congestion: exp(z_trial + z_flow / 2) each.
Distribution correlated_flows() {
    return {"mean of 50 correlated flows", std::exp(0.5 + 0.125), [](Stream& stream) {
                const double common = stream.normal();
                double sum = 0;
                for (int i = 0; i < 50; ++i) sum += std::exp(common + 0.5 * stream.normal());
                return sum / 50;
            }};
}

}  // namespace

Stream::Stream(std::uint64_t seed) {
    for (std::uint64_t i = 0; i < 4; ++i) state_[i] = random_bits(seed, 0, i);
}

std::uint64_t Stream::bits() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
}

double Stream::uniform() { return (static_cast<double>(bits() >> 12) + 0.5) / 4503599627370496.0; }

double Stream::normal() {
    if (has_spare_) {
        has_spare_ = false;
        return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = kTwoPi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
}

std::vector<Distribution> judged_distributions() {
    const auto log_normal_base = [](Stream& stream) { return std::exp(stream.normal() - 0.5); };
    return {normal(0.3),
            normal(1),
            log_normal(0.5),
            log_normal(1),
            log_normal(1.5),
            log_normal(2),
            pareto(2.1),
            pareto(2.5),
            pareto(3),
            mixture("normal, cv 0.1", [](Stream& stream) { return 1 + 0.1 * stream.normal(); }),
            mixture("normal, cv 0.3", [](Stream& stream) { return 1 + 0.3 * stream.normal(); }),
            mixture("exponential", [](Stream& stream) { return stream.exponential(); }),
            mixture("log-normal, sigma 1", log_normal_base),
            correlated_flows()};
}

std::vector<Distribution> unseen_distributions() {
    // Weibull of shape k: mean Gamma(1 + 1/k), 2 for k = 1/2 and Gamma(1 + 1/0.35) for k = 0.35.
    const auto weibull = [](double shape) {
        return Distribution{fmt::format("Weibull, shape {}", shape), std::tgamma(1 + 1 / shape),
                            [=](Stream& s) { return std::pow(s.exponential(), 1 / shape); }};
    };
    const auto rare = [](double share, double factor) {
        return Distribution{fmt::format("exponential, {:g}% {} times longer", 100 * share, factor),
                            1 + share * (factor - 1), [=](Stream& s) {
                                const double value = s.exponential();
                                return s.uniform() < share ? factor * value : value;
                            }};
    };
    return {weibull(0.5),
            weibull(0.35),
            rare(0.02, 20),
            rare(0.005, 20),
            rare(0.001, 100),
            {"exponential", 1, [](Stream& s) { return s.exponential(); }},
            {"uniform", 0.5, [](Stream& s) { return s.uniform(); }},
            {"log-normal, sigma 1.5, negative", -std::exp(1.125),
             [](Stream& s) { return -std::exp(1.5 * s.normal()); }},
            {"10 minus exponential", 9, [](Stream& s) { return 10 - s.exponential(); }}};
}

std::vector<Distribution> hopeless_distributions() {
    return {pareto(1.2), pareto(1.5), pareto(1.8), pareto(2)};
}

}  // namespace sluice::bench
