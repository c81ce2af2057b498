// SPDX-License-Identifier: Apache-2.0
/// Estimates of a sample: exact where all was drawn, unbiased, and intervals that hold the truth as often as they say.
#include "core/audit/estimate.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/random.h"

namespace sluice::audit {
namespace {

TEST_CASE("unit.audit.a_ratio_that_is_the_same_everywhere_has_no_error") {
    StratifiedRatio sample;
    for (std::uint64_t unit = 0; unit < 40; ++unit) {
        const double known = 1 + static_cast<double>(unit % 7);
        sample.count(0, known);
        if (unit % 4 == 0) {
            sample.add(0, unit, 4 * 0.01 * known, 4 * known);
        }
    }
    CHECK(sample.enough());
    CHECK(sample.clusters() == 10);
    CHECK(sample.total().mean == doctest::Approx(0.01 * sample.known()));
    CHECK(sample.total().half == doctest::Approx(0).epsilon(1e-12));
}

TEST_CASE("unit.audit.one_cluster_makes_no_interval") {
    StratifiedRatio sample;
    sample.count(0, 3);
    CHECK(!sample.enough());
    sample.add(0, 7, 1, 3);
    sample.add(0, 7, 2, 3);
    CHECK(!sample.enough());
    sample.add(0, 8, 2, 3);
    CHECK(sample.enough());
}

TEST_CASE("unit.audit.strata_have_ratios_of_their_own") {
    StratifiedRatio sample;
    // Of the second stratum few are drawn: a ratio for all would be nearly the first one's.
    for (std::uint64_t unit = 0; unit < 100; ++unit) {
        sample.count(1, 1);
        sample.count(5, 1);
        if (unit % 2 == 0) {
            sample.add(1, unit, 2 * 0.5, 2);
        }
        if (unit < 5) {
            sample.add(5, 1000 + unit, 0, 20);
        }
    }
    CHECK(sample.total().mean == doctest::Approx(50));
    CHECK(sample.total().half == doctest::Approx(0));
}

TEST_CASE("unit.audit.a_stratum_with_few_clusters_joins_its_neighbour") {
    StratifiedRatio sample;
    for (std::uint64_t unit = 0; unit < 10; ++unit) {
        sample.count(1, 1);
        sample.add(1, unit, 1, 1);
    }
    sample.count(2, 10);  // of which nothing was drawn
    CHECK(sample.total().mean == doctest::Approx(20));
    CHECK(sample.total().half == doctest::Approx(10));
}

TEST_CASE("property.audit.intervals_hold_the_truth") {
    int held = 0;
    constexpr int kTrials = 400;
    double bias = 0;
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
        StratifiedRatio sample;
        double truth = 0;
        for (std::uint64_t unit = 0; unit < 300; ++unit) {
            const int stratum = unit % 3 == 0 ? 1 : 4;
            const double known = 0.1 + uniform(trial, 1, unit);
            const double noise = uniform(trial, 2, unit) - 0.5;
            const double measured = known * (stratum == 1 ? 0.02 : 0.001) + 0.01 * noise;
            truth += measured;
            sample.count(stratum, known);
            const double p = 0.05 + 0.2 * known;
            if (uniform(trial, 3, unit) < p) {
                sample.add(stratum, unit / 2, measured / p, known / p);
            }
        }
        const Interval made = sample.total();
        held += std::abs(made.mean - truth) <= made.half ? 1 : 0;
        bias += (made.mean - truth) / truth / kTrials;
    }
    MESSAGE(held << " of " << kTrials << " held, bias " << bias);
    CHECK(held >= kTrials * 0.92);
    CHECK(std::abs(bias) < 0.02);
}

}  // namespace
}  // namespace sluice::audit
