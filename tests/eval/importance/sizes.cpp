// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"
#include "eval/importance/size_model.h"
#include "eval/intervals/distributions.h"

using namespace sluice;
using namespace sluice::eval;
using doctest::Approx;

namespace {

/// WebSearch (HPCC), bytes and shares.
SizeCdf web_search() {
    return SizeCdf({{0, 0},
                    {10000, 0.15},
                    {20000, 0.2},
                    {30000, 0.3},
                    {50000, 0.4},
                    {80000, 0.53},
                    {200000, 0.6},
                    {1e6, 0.7},
                    {2e6, 0.8},
                    {5e6, 0.9},
                    {1e7, 0.97},
                    {3e7, 1}});
}

}  // namespace

TEST_CASE("unit.eval.sizes.a_cdf_is_linear_between_its_points") {
    // Uniform on [0, 10] with 0.5, then on [10, 30]: mean 0.5 * 5 + 0.5 * 20 = 12.5.
    const SizeCdf cdf({{0, 0}, {10, 0.5}, {30, 1}});
    CHECK(cdf.mean() == Approx(12.5));
    CHECK(cdf.share(5) == Approx(0.25));
    CHECK(cdf.share(20) == Approx(0.75));
    CHECK(cdf.quantile(0.75) == Approx(20));
    CHECK(cdf.density(5) == Approx(0.05));
    CHECK(cdf.density(20) == Approx(0.025));
    CHECK(cdf.density(40) == 0);
    CHECK_THROWS_AS(SizeCdf({{0, 0}}), ConfigError);
    CHECK_THROWS_AS(SizeCdf({{0, 0.1}, {1, 1}}), ConfigError);
    CHECK_THROWS_AS(SizeCdf({{0, 0}, {2, 0.5}, {1, 1}}), ConfigError);
    CHECK_THROWS_AS(SizeCdf({{0, 0}, {1, 0.9}}), ConfigError);
}

TEST_CASE("unit.eval.sizes.the_fit_finds_a_log_normal_distribution_again") {
    // Points on the distribution itself; the last one is cut to 1.
    const LogNormal truth{10, 1.5};
    std::vector<SizeCdf::Point> points{{0, 0}};
    for (double z = -2.5; z <= 2.5; z += 0.25) {
        points.push_back({std::exp(10 + 1.5 * z), normal_cdf(z)});
    }
    points.push_back({std::exp(10 + 1.5 * 5), 1});
    const SizeFit fit = fit_log_normal(SizeCdf(points));
    CHECK(fit.log_normal.mu == Approx(truth.mu).epsilon(1e-6));
    CHECK(fit.log_normal.sigma == Approx(truth.sigma).epsilon(1e-6));
    CHECK(fit.rms_distance < 1e-6);
}

TEST_CASE("unit.eval.sizes.the_fit_is_a_minimum_and_says_how_far_off_it_is") {
    const SizeCdf cdf = web_search();
    const SizeFit fit = fit_log_normal(cdf);
    const auto squares = [&](double mu, double sigma) {
        double sum = 0;
        for (const auto& point : cdf.points()) {
            if (point.size > 0)
                sum += std::pow(LogNormal{mu, sigma}.share(point.size) - point.share, 2);
        }
        return sum;
    };
    const double best = squares(fit.log_normal.mu, fit.log_normal.sigma);
    for (double step : {-0.01, 0.01}) {
        CHECK(squares(fit.log_normal.mu + step, fit.log_normal.sigma) > best);
        CHECK(squares(fit.log_normal.mu, fit.log_normal.sigma + step) > best);
    }
    CHECK(fit.rms_distance == Approx(std::sqrt(best / 11)));
    // No curve through jumps of up to 13% is exact, and a log-normal tail has no end: its mean is four times
    // that of a file that ends at 30 MB.
    CHECK(fit.max_distance > fit.rms_distance);
    CHECK(fit.max_distance < 0.15);
    CHECK(fit.mean_ratio == Approx(fit.log_normal.mean() / cdf.mean()));
    CHECK(fit.mean_ratio > 3);
    CHECK_THROWS_AS(fit_log_normal(SizeCdf({{1, 0}, {2, 1}})), ConfigError);
}

TEST_CASE("unit.eval.sizes.mapped_sizes_have_the_real_distribution") {
    const SizeModel mapped(SizeKind::Mapped, web_search());
    // The median lies between 50,000 (40%) and 80,000 (53%): 50,000 + 10/13 * 30,000.
    CHECK(mapped.size(0) == Approx(50000 + 30000 * 10.0 / 13));
    CHECK(mapped.size(normal_quantile(0.9)) == Approx(5e6));
    CHECK(mapped.size(40) == Approx(3e7));
    CHECK(mapped.log_correction(0) == 0);
}

TEST_CASE("unit.eval.sizes.corrections_weigh_the_fit_back_to_the_real_distribution") {
    // Means under the real distribution from z on a grid: sum of phi(z) dz exp(correction) f(size).
    const SizeModel model(SizeKind::Reweighted, web_search());
    double mass = 0;
    double mean = 0;
    const double step = 1e-4;
    for (double z = -8; z < 8; z += step) {
        const double weight = normal_density(z) * step * std::exp(model.log_correction(z));
        mass += weight;
        mean += weight * model.size(z);
    }
    CHECK(mass == Approx(1).epsilon(0.001));
    CHECK(mean == Approx(web_search().mean()).epsilon(0.001));
    // Beyond the file's end nothing counts.
    CHECK(std::isinf(model.log_correction(8)));
}
