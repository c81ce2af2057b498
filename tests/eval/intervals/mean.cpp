// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/results/student_t.h"
#include "eval/intervals/distributions.h"
#include "eval/intervals/mean.h"
#include "eval/intervals/ratio.h"

using namespace sluice::eval;
using doctest::Approx;

TEST_CASE("unit.eval.intervals.moments_of_five_values") {
    // 1 2 3 4 10: mean 4; deviations -3 -2 -1 0 6: squares 9+4+1+0+36 = 50, cubes -27-8-1+0+216 = 180,
    // fourth powers 81+16+1+0+1296 = 1394. Variance 50/4; g1 = (180/5)/(50/5)^1.5 = 36/31.6228;
    // b2 = (1394/5)/(50/5)^2 = 2.788.
    const Moments moments({1, 2, 3, 4, 10});
    CHECK(moments.count() == 5);
    CHECK(moments.mean() == Approx(4));
    CHECK(moments.variance() == Approx(12.5));
    CHECK(moments.skewness() == Approx(36 / std::pow(10, 1.5)));
    CHECK(moments.kurtosis() == Approx(2.788));
    CHECK(moments.standard_error() == Approx(std::sqrt(2.5)));
}

TEST_CASE("unit.eval.intervals.moments_keep_small_spread_of_large_values") {
    // 10^9 + {4, 7, 13, 16}: variance (36+9+9+36)/3 = 30, lost by sums of squares in double.
    const Moments moments({1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16});
    CHECK(moments.variance() == Approx(30).epsilon(1e-9));
    CHECK_THROWS_AS(Moments({1, std::numeric_limits<double>::infinity()}), sluice::InternalError);
    CHECK_THROWS_AS(Moments({std::nan("")}), sluice::InternalError);
}

TEST_CASE("unit.eval.intervals.normal_quantile_inverts_the_cdf") {
    // Tables: 1.959964 at 0.975, 2.575829 at 0.995, 1.281552 at 0.9.
    CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-14));
    CHECK(normal_quantile(0.995) == Approx(2.5758293035489).epsilon(1e-12));
    CHECK(normal_quantile(0.1) == Approx(-1.2815515655446).epsilon(1e-12));
    CHECK(normal_quantile(0.5) == 0);
    for (double p : {1e-300, 1e-20, 1e-6, 0.001, 0.05, 0.19, 0.21, 0.49, 0.7}) {
        CHECK(normal_cdf(normal_quantile(p)) == Approx(p).epsilon(1e-11));
    }
    CHECK_THROWS_AS(normal_quantile(0), sluice::InternalError);
    CHECK_THROWS_AS(normal_quantile(1), sluice::InternalError);
}

TEST_CASE("unit.eval.intervals.t_quantile_expansion_meets_the_series") {
    // Beyond 200 degrees of freedom an expansion; the series is exact there, too.
    for (std::size_t freedom : {201, 500, 1001}) {
        for (double p : {0.6, 0.9, 0.975, 0.9995}) {
            CHECK(t_quantile(p, freedom) ==
                  Approx(sluice::student_t_quantile(p, freedom)).epsilon(1e-9));
        }
    }
}

TEST_CASE("unit.eval.intervals.binomial_cdf_of_small_cases") {
    // Bin(4, 1/2): 1, 4, 6, 4, 1 sixteenths. Bin(3, 0.1): 0.729 + 0.243 = 0.972.
    CHECK(binomial_cdf(0, 4, 0.5) == Approx(1.0 / 16));
    CHECK(binomial_cdf(2, 4, 0.5) == Approx(11.0 / 16));
    CHECK(binomial_cdf(3, 4, 0.5) == Approx(15.0 / 16));
    CHECK(binomial_cdf(4, 4, 0.5) == 1);
    CHECK(binomial_cdf(1, 3, 0.1) == Approx(0.972));
}

TEST_CASE("unit.eval.intervals.symmetric_intervals") {
    // 1 to 5: mean 3, s = sqrt(2.5), standard error sqrt(0.5); t of 4 degrees of freedom 2.776445.
    const Moments moments({1, 2, 3, 4, 5});
    const Interval normal = normal_interval(moments, 0.95);
    CHECK(normal.half_width() == Approx(1.959964 * std::sqrt(0.5)));
    CHECK(normal.relative_half_width() == Approx(1.959964 * std::sqrt(0.5) / 3));
    const Interval student = student_interval(moments, 0.95);
    CHECK(student.high == Approx(3 + 2.776445 * std::sqrt(0.5)));
    CHECK(student.low == Approx(3 - 2.776445 * std::sqrt(0.5)));
    // No skewness: Hall's interval is Student's.
    CHECK(skewed_interval(moments, 0.95).high == Approx(student.high));
    CHECK_THROWS_AS(student_interval(Moments({1}), 0.95), sluice::InternalError);
    CHECK_THROWS_AS(student_interval(moments, 1), sluice::InternalError);
}

TEST_CASE("unit.eval.intervals.skewness_moves_the_interval_to_the_tail") {
    // 90 zeros and 10 ones: m2 = 0.09, m3 = 0.9 * 0.1 * 0.8 = 0.072, g1 = 0.072 / 0.027 = 8/3, so
    // lambda = 0.2667. t of 99: y = 1.984217. Upper arm -3/l (cbrt(1 + l (-y - l/6)) - 1) with
    // l (-y - l/6) = -0.54098: cbrt(0.45902) = 0.77140: arm 2.5718 standard errors.
    // Lower: l (y - l/6) = 0.51727: cbrt = 1.14907: arm 1.6771.
    std::vector<double> values(100, 0.0);
    for (int i = 0; i < 10; ++i) values[static_cast<std::size_t>(i)] = 1;
    const Moments moments(values);
    const Interval interval = skewed_interval(moments, 0.95);
    CHECK((interval.high - 0.1) / moments.standard_error() == Approx(2.5718).epsilon(2e-4));
    CHECK((0.1 - interval.low) / moments.standard_error() == Approx(1.6771).epsilon(2e-4));
    // The mirror image has mirrored arms.
    for (double& value : values) value = -value;
    const Interval mirrored = skewed_interval(Moments(values), 0.95);
    CHECK(mirrored.low == Approx(-interval.high));
    CHECK(mirrored.high == Approx(-interval.low));
    // One value of 100 is all there is of a tail: lambda = 0.98, no upper end yet.
    std::vector<double> one(100, 0.0);
    one[0] = 1;
    CHECK(std::isinf(skewed_interval(Moments(one), 0.95).high));
}

TEST_CASE("unit.eval.intervals.the_correction_halves_what_is_missed") {
    // Symmetric values: the corrected 95% interval is Student's 97.5% one.
    const Moments moments({1, 2, 3, 4, 5});
    const Interval interval = corrected_interval(moments, 0.95);
    CHECK(interval.half_width() == Approx(student_interval(moments, 0.975).half_width()));
    CHECK(interval.confidence == 0.95);
    CHECK(corrected_half_width(5, 0, 0.95, {}) * moments.deviation() ==
          Approx(interval.half_width()));
}

TEST_CASE("unit.eval.intervals.a_pooled_mean_is_a_ratio") {
    // Trials of 1, 2 and 3 flows with sums 2, 2 and 8: pooled mean 12/6 = 2, whereas the mean of the
    // trials' means is (2 + 1 + 8/3)/3 = 1.889. Values 2 + (y - 2 x)/2: 2, 1, 3: s = 1,
    // standard error 1/sqrt(3), t of 2 degrees of freedom 4.302653.
    const std::vector<double> values = ratio_values({2, 2, 8}, {1, 2, 3});
    CHECK(values == std::vector<double>{2, 1, 3});
    const Interval interval = student_interval(Moments(values), 0.95);
    CHECK(interval.estimate == Approx(2));
    CHECK(interval.half_width() == Approx(4.302653 / std::sqrt(3)));
    CHECK_THROWS_AS(ratio_values({1}, {1, 2}), sluice::InternalError);
    CHECK_THROWS_AS(ratio_values({1}, {0}), sluice::InternalError);
}
