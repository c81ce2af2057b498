// SPDX-License-Identifier: Apache-2.0
/// Student's t against tables, equivalence by hand and on planted differences, the distance of
/// distributions against sorted values, and its chance against draws.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "core/results/student_t.h"
#include "experiment/comparison/distribution_distance.h"
#include "experiment/comparison/equivalence.h"

using namespace sluice;
using doctest::Approx;

namespace {

using Runs = std::vector<std::vector<double>>;
using Pairs = std::vector<std::pair<double, double>>;

/// Nearly normal with mean 0 and deviation 1: a sum of twelve uniform draws.
double noise(std::uint64_t stream, std::uint64_t n) {
    double sum = -6;
    for (std::uint64_t i = 0; i < 12; ++i) sum += uniform(7, stream, 12 * n + i);
    return sum;
}

/// Pairs whose values differ by these logarithms.
Pairs pairs_of(const std::vector<double>& differences) {
    Pairs pairs;
    for (std::size_t i = 0; i < differences.size(); ++i) {
        const double reference = 1 + static_cast<double>(i);
        pairs.emplace_back(reference, reference * std::exp(differences[i]));
    }
    return pairs;
}

/// Of equally large sets: the mean difference of values of one rank.
double by_rank(std::vector<double> a, std::vector<double> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
    return sum / static_cast<double>(a.size());
}

std::vector<double> joined(const Runs& runs) {
    std::vector<double> all;
    for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
    return all;
}

/// Six pairs of 40 values; a run's values share a shift of the pair's, of its own, and of its mode.
struct Drawn {
    Runs reference;
    Runs other;
};

Drawn draw(std::uint64_t trial, double of_pair, double of_run, double of_mode) {
    Drawn drawn;
    for (std::uint64_t pair = 0; pair < 6; ++pair) {
        const double common = of_pair * noise(1000 + trial, pair);
        for (Runs* side : {&drawn.reference, &drawn.other}) {
            const std::uint64_t stream = 2 * (6 * trial + pair) + (side == &drawn.other ? 1 : 0);
            const double shift =
                common + of_run * noise(5000 + stream, 99) + (side == &drawn.other ? of_mode : 0);
            std::vector<double> run;
            for (std::uint64_t i = 0; i < 40; ++i) run.push_back(shift + noise(9000 + stream, i));
            side->push_back(std::move(run));
        }
    }
    return drawn;
}

}  // namespace

TEST_CASE("unit.comparison.student_t_is_that_of_the_tables") {
    const struct {
        double probability;
        std::size_t freedom;
        double t;
    } table[] = {{0.95, 1, 6.313752},   {0.95, 2, 2.919986},   {0.95, 3, 2.353363},
                 {0.95, 5, 2.015048},   {0.95, 11, 1.795885},  {0.95, 30, 1.697261},
                 {0.95, 120, 1.657651}, {0.975, 10, 2.228139}, {0.995, 4, 4.604095},
                 {0.8, 5, 0.919544},    {0.6, 7, 0.263167}};
    for (const auto& [probability, freedom, t] : table) {
        CAPTURE(freedom);
        CHECK(student_t_quantile(probability, freedom) == Approx(t).epsilon(1e-6));
        CHECK(student_t_quantile(1 - probability, freedom) == Approx(-t).epsilon(1e-6));
    }
    // Cauchy, and the closed form of two degrees of freedom: 1/2 + t / (2 sqrt(2 + t^2)).
    CHECK(student_t_quantile(0.75, 1) == Approx(1));
    CHECK(student_t_quantile(0.5 - std::sqrt(2.0) / 4, 2) == Approx(-std::sqrt(2.0)));
    // Near the normal's 1.644854, to the first order of 1/n.
    CHECK(student_t_quantile(0.95, 10'000) == Approx(1.645006).epsilon(1e-6));
    CHECK_THROWS_AS(student_t_quantile(1, 5), InternalError);
    CHECK_THROWS_AS(student_t_quantile(0.5, 0), InternalError);
}

TEST_CASE("unit.comparison.equivalence_by_hand") {
    // Mean 0.002, squares 10e-6 over 5: deviation sqrt(2e-6), half width 2.015048 sqrt(2e-6 / 6).
    const Pairs pairs = pairs_of({0.001, 0.003, 0.002, 0.0, 0.002, 0.004});
    const Equivalence wide = test_equivalence(pairs, 0.005);
    CHECK(wide.pairs == 6);
    CHECK(wide.sd == Approx(std::sqrt(2e-6)));
    CHECK(wide.bias == Approx(std::expm1(0.002)));
    CHECK(wide.low == Approx(std::expm1(0.002 - 0.001163388)));
    CHECK(wide.high == Approx(std::expm1(0.002 + 0.001163388)));
    CHECK(wide.verdict == Verdict::equivalent);
    CHECK(!wide.pairs_needed);
    CHECK(test_equivalence(pairs, 0.0005).verdict == Verdict::biased);
    // (1.645 + 0.842) sqrt(2e-6) / (0.002497 - 0.002) squared is 50, with the t of 50 a few more.
    const Equivalence narrow = test_equivalence(pairs, 0.0025);
    CHECK(narrow.verdict == Verdict::not_resolved);
    REQUIRE(narrow.pairs_needed);
    CHECK(*narrow.pairs_needed >= 50);
    CHECK(*narrow.pairs_needed <= 54);
    // Margins are factors: what is 1% more one way round is 1% less the other.
    const Pairs one_percent{{1, 1.01}, {1, 1.01}, {1.01, 1.01 * 1.01}};
    Pairs turned = one_percent;
    for (auto& [reference, value] : turned) std::swap(reference, value);
    CHECK(test_equivalence(one_percent, 0.0101).verdict == Verdict::equivalent);
    CHECK(test_equivalence(turned, 0.0101).verdict == Verdict::equivalent);
    CHECK(test_equivalence(one_percent, 0.0099).verdict == Verdict::biased);
    CHECK(test_equivalence(turned, 0.0099).verdict == Verdict::biased);
}

TEST_CASE("unit.comparison.equivalence_of_the_same_of_a_bias_and_of_noise") {
    std::vector<double> calm;
    std::vector<double> wild;
    for (std::uint64_t i = 0; i < 6; ++i) {
        calm.push_back(0.0005 * noise(1, i));
        wild.push_back(0.05 * noise(2, i));
    }
    const Equivalence same = test_equivalence(pairs_of({0, 0, 0, 0, 0, 0}), 0.005);
    CHECK(same.verdict == Verdict::equivalent);
    CHECK(same.bias == 0);
    CHECK(same.low == 0);
    CHECK(same.high == 0);
    CHECK(test_equivalence(pairs_of(calm), 0.005).verdict == Verdict::equivalent);
    std::vector<double> planted = calm;
    for (double& difference : planted) difference += std::log(1.02);
    CHECK(test_equivalence(pairs_of(planted), 0.005).verdict == Verdict::biased);
    CHECK(test_equivalence(pairs_of(planted), 0.01).bias == Approx(0.02).epsilon(0.05));
    const Equivalence noisy = test_equivalence(pairs_of(wild), 0.005);
    CHECK(noisy.verdict == Verdict::not_resolved);
    CHECK(noisy.low < -0.005);
    CHECK(noisy.high > 0.005);
    // Right at the margin no number of runs that anybody makes can tell.
    const double edge = std::log(1.005);
    CHECK(!test_equivalence(pairs_of({edge - 0.001, edge + 0.001}), 0.005).pairs_needed);
    CHECK_THROWS_AS(test_equivalence({{1, 1}}, 0.01), InternalError);
    CHECK_THROWS_AS(test_equivalence({{1, 1}, {1, 0}}, 0.01), InternalError);
    CHECK_THROWS_AS(test_equivalence({{1, 1}, {1, 1}}, 0), InternalError);
}

TEST_CASE("unit.comparison.equivalence_is_wrong_as_rarely_as_it_says") {
    // A true bias of exactly the margin: each of the two tests may say "equivalent" in 5% of cases.
    const double margin = 0.01;
    std::size_t wrong = 0;
    constexpr std::uint64_t kTrials = 2000;
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
        std::vector<double> differences;
        for (std::uint64_t i = 0; i < 6; ++i) {
            differences.push_back(std::log1p(margin) + 0.002 * noise(100 + trial, i));
        }
        if (test_equivalence(pairs_of(differences), margin).verdict == Verdict::equivalent) ++wrong;
    }
    CHECK(wrong >= kTrials * 35 / 1000);
    CHECK(wrong <= kTrials * 65 / 1000);
}

TEST_CASE("unit.comparison.distance_is_that_of_ranks") {
    CHECK(distribution_distance({{0, 1, 3}}, {{10, 2, 0}}).distance == Approx(8.0 / 3));
    CHECK(distribution_distance({{5}}, {{5}}).distance == 0);
    CHECK(distribution_distance({{5}}, {{-5}}).distance == Approx(10));
    // Runs of different lengths count alike: a half at 0 and a half at 4 against all at 1.
    CHECK(distribution_distance({{0, 4}}, {{1, 1, 1}}).distance == Approx((1 + 3) / 2.0));
    const Drawn drawn = draw(0, 1, 0.5, 0.3);
    CHECK(distribution_distance(drawn.reference, drawn.other).distance ==
          Approx(by_rank(joined(drawn.reference), joined(drawn.other))));
    // More values than cells: a shift is a shift wherever it is cut.
    Runs many(1);
    for (std::uint64_t i = 0; i < 9000; ++i) many[0].push_back(noise(3, i));
    Runs shifted = many;
    for (double& value : shifted[0]) value += 0.01;
    CHECK(distribution_distance(many, shifted).distance == Approx(0.01).epsilon(0.001));
    CHECK_THROWS_AS(distribution_distance({}, {}), InternalError);
    CHECK_THROWS_AS(distribution_distance({{1}}, {{1}, {1}}), InternalError);
    CHECK_THROWS_AS(distribution_distance({{1}}, {{}}), InternalError);
    CHECK_THROWS_AS(distribution_distance({{1}}, {{std::nan("")}}), InternalError);
}

TEST_CASE("unit.comparison.distance_beyond_chance") {
    const Drawn same = draw(1, 1, 0.5, 0);
    const DistributionDistance nothing = distribution_distance(same.reference, same.reference);
    CHECK(nothing.distance == 0);
    CHECK(nothing.p_value == 1);
    CHECK(nothing.exchanges == 32);
    // A shift far beyond the runs' own: the one arrangement of 32 that was seen.
    const Drawn shifted = draw(1, 0, 0.1, 3);
    const DistributionDistance found = distribution_distance(shifted.reference, shifted.other);
    CHECK(found.p_value == Approx(1.0 / 32));
    CHECK(found.distance == Approx(3).epsilon(0.1));
    CHECK(found.by_chance < found.distance / 2);
    // Twenty pairs are sampled.
    Runs low;
    Runs high;
    for (std::uint64_t i = 0; i < 20; ++i) {
        low.push_back({noise(4, i)});
        high.push_back({noise(5, i) + 20});
    }
    const DistributionDistance sampled = distribution_distance(low, high);
    CHECK(sampled.exchanges == kSampledExchanges);
    CHECK(sampled.p_value <= 0.001);
    CHECK(distribution_distance(low, high).by_chance == sampled.by_chance);
}

TEST_CASE("unit.comparison.distance_alarms_as_rarely_as_it_says") {
    // The run is the unit: 40 values that share their run's shift are not 40 draws, and runs of a
    // pair that have much in common are not independent.
    for (const double of_pair : {0.0, 2.0}) {
        std::size_t alarms = 0;
        constexpr std::uint64_t kTrials = 400;
        for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
            const Drawn drawn = draw(10 + trial, of_pair, 1, 0);
            if (distribution_distance(drawn.reference, drawn.other).p_value <= 0.05) ++alarms;
        }
        CAPTURE(of_pair);
        CHECK(alarms <= kTrials * 65 / 1000);
    }
}
