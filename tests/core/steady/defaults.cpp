// SPDX-License-Identifier: Apache-2.0
// Defaults of the detectors by hand. 100 Gb/s and 4 us are 50,000 bytes: 50 packets of 1000.
#include <doctest/doctest.h>

#include <cmath>

#include "core/congestion/congestion.h"
#include "core/steady/defaults.h"
#include "core/steady/detector.h"

using namespace sluice;
using namespace sluice::steady;

namespace {

GroupFacts group(congestion::Law law, std::size_t flows) {
    GroupFacts facts;
    facts.congestion = congestion::default_parameters(law, 100'000'000'000);
    facts.base_rtt = 4 * kMicrosecond;
    facts.line_rate = 100'000'000'000;
    facts.payload = 1000;
    facts.flows = flows;
    return facts;
}

}  // namespace

TEST_CASE("unit.steady.defaults.bandwidth_delay_product_in_packets") {
    CHECK(bdp_packets(group(congestion::Law::dctcp, 1)) == doctest::Approx(50));
    GroupFacts empty;
    CHECK(bdp_packets(empty) == 1);
}

TEST_CASE("unit.steady.defaults.wormhole_eq_22_gives_the_amplitude_of_a_sawtooth") {
    // sqrt(7 x 4 / (16 x 50)) = sqrt(0.035)
    CHECK(sawtooth_amplitude(group(congestion::Law::dctcp, 4)) ==
          doctest::Approx(std::sqrt(0.035)));
}

TEST_CASE("unit.steady.defaults.theta_is_5_percent_or_follows_eq_22") {
    CHECK(resolved({}, group(congestion::Law::hpcc, 4)).theta == doctest::Approx(0.05));
    CHECK(resolved({}, group(congestion::Law::dctcp, 4)).theta ==
          doctest::Approx(1.5 * std::sqrt(0.035)));
}

TEST_CASE("unit.steady.defaults.how_long_a_law_may_hold_still") {
    // HPCC: five additive round trips, then the jump, seen one round trip later.
    CHECK(waiting_time(group(congestion::Law::hpcc, 4)) == 28 * kMicrosecond);
    CHECK(waiting_time(group(congestion::Law::dcqcn, 4)) == 300 * kMicrosecond);
    CHECK(waiting_time(group(congestion::Law::dctcp, 4)) == 0);
}

TEST_CASE("unit.steady.defaults.periods_of_sawtooth_laws") {
    CHECK(sawtooth_period(group(congestion::Law::none, 4)) == 0);
    CHECK(sawtooth_period(group(congestion::Law::hpcc, 4)) == 0);
    CHECK(sawtooth_period(group(congestion::Law::dcqcn, 4)) == 1500 * kMicrosecond);
    // Eq. 24: sqrt(4 x 50 / (7 x 4)) = sqrt(7.142857) = 2.672612 round trips
    CHECK(static_cast<double>(sawtooth_period(group(congestion::Law::dctcp, 4))) ==
          doctest::Approx(2.672612 * 4e6));
    // A share of 25 Gb/s in steps of 500 Mb/s, one per t_low / 2 = 25 us.
    CHECK(sawtooth_period(group(congestion::Law::timely, 4)) == 50 * 25 * kMicrosecond);
    CHECK(sawtooth_period(group(congestion::Law::swift, 4)) ==
          3 * group(congestion::Law::swift, 4).base_rtt);
}

TEST_CASE("unit.steady.defaults.a_span_covers_round_trips_timers_and_eight_swings") {
    CHECK(resolved({}, group(congestion::Law::none, 4)).span == 16 * kMicrosecond);
    CHECK(resolved({}, group(congestion::Law::hpcc, 4)).span == 28 * kMicrosecond);
    CHECK(resolved({}, group(congestion::Law::dcqcn, 4)).span == 12 * kMillisecond);
}

TEST_CASE("unit.steady.defaults.every_counter_that_decides_is_observed_for_sixteen_round_trips") {
    for (const std::size_t switches : {1, 3}) {
        GroupFacts facts = group(congestion::Law::hpcc, 2);
        facts.counters = switches;
        CHECK(resolved({}, facts).span == static_cast<Tick>(switches) * 64 * kMicrosecond);
        facts = group(congestion::Law::none, 2);
        facts.counters = switches;
        CHECK(resolved({}, facts).span == 16 * kMicrosecond);
    }
}

TEST_CASE("unit.steady.defaults.what_a_skip_may_cost_and_how_long_a_first_one_is") {
    // The study's tuning half chose both, for every law.
    for (const congestion::Law law : {congestion::Law::none, congestion::Law::hpcc,
                                      congestion::Law::dcqcn, congestion::Law::dctcp}) {
        CHECK(resolved({}, group(law, 4)).tolerance == doctest::Approx(0.1));
        CHECK(resolved({}, group(law, 4)).growth == doctest::Approx(32));
    }
}

TEST_CASE("unit.steady.defaults.what_is_given_stays") {
    DetectorSettings given;
    given.theta = 0.2;
    given.span = kMillisecond;
    given.eps_bw = 0.3;
    given.eps_q = 5000;
    given.stable_rounds = 7;
    given.tolerance = 0.5;
    given.growth = 2;
    const DetectorSettings full = resolved(given, group(congestion::Law::dcqcn, 4));
    CHECK(full.theta == 0.2);
    CHECK(full.span == kMillisecond);
    CHECK(full.eps_bw == 0.3);
    CHECK(full.eps_q == 5000);
    CHECK(full.stable_rounds == 7);
    CHECK(full.tolerance == 0.5);
    CHECK(full.growth == 2);
}

TEST_CASE("unit.steady.defaults.four_samples_per_round_trip_no_closer_than_four_packets") {
    GroupFacts facts = group(congestion::Law::hpcc, 1);
    CHECK(sampling_period(facts) == kMicrosecond);
    facts.base_rtt = 100 * kNanosecond;  // four packets of 80 ns
    CHECK(sampling_period(facts) == 320 * kNanosecond);
    CHECK(sampling_period(GroupFacts{}) == kNanosecond);
}
