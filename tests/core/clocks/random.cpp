// SPDX-License-Identifier: Apache-2.0
/// Partition clocks change nothing: over random experiments, with and without partitions
/// that are moved forth and back, every hop, flow and port is what one clock and the oracle give.
#include "tests/support/clock_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

void compare_clocks(std::uint64_t first_seed, std::uint64_t count) {
    ClockCounts counts;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        const Case given = random_case(seed);
        INFO(given.name);
        const Outcome expected = run_windows(given);
        check_same(expected, run_clocks(given, false, counts));
        check_same(expected, run_clocks(given, true, counts));
        if (seed % 4 == 0) {
            check_same(expected, run_clocks(given, false, counts, true));
            check_same(expected, run_clocks(given, true, counts, false, step::ClockTuning{}));
            check_same(expected, run_oracle(given));
        }
    }
    MESSAGE(counts.clocks.windows_solo
            << " solo windows, " << counts.clocks.windows_joint << " joint, "
            << counts.clocks.bounded_stretches << " of " << counts.clocks.stretches
            << " stretches bounded, " << counts.clocks.bound_stops << " bound stops, "
            << counts.clocks.merges << " merges, " << counts.clocks.splits << " splits, "
            << counts.zero_skips << " zero skips, " << counts.clocks.most_domains << " domains");
    CHECK(counts.clocks.windows_solo > 0);
    CHECK(counts.clocks.exits > 0);
    CHECK(counts.zero_skips > 0);
}

}  // namespace

TEST_CASE("unit.clock.random_1") { compare_clocks(11000, 40); }
TEST_CASE("unit.clock.random_2") { compare_clocks(12000, 40); }
TEST_CASE("unit.clock.random_3") { compare_clocks(13000, 40); }
TEST_CASE("unit.clock.random_4") { compare_clocks(14000, 40); }

/// A message that waits for the one before on its queue pair enters at an instant that nobody has announced.
TEST_CASE("unit.clock.messages_in_turn_without_an_application") {
    ClockCounts counts;
    std::size_t in_turn = 0;
    for (std::uint64_t seed = 31'040; seed < 31'100; seed += 2) {
        Case given = random_case(seed);
        given.config.load_balance = LoadBalance::ecmp;
        given.config.nic.back_to_zero = false;
        INFO(given.name);
        check_same(run_windows(given), run_clocks(given, false, counts));
        in_turn += std::any_of(given.flows.begin(), given.flows.end(),
                               [](const FlowSpec& spec) { return spec.connection != kNone; });
    }
    CHECK(in_turn > 0);
}

TEST_CASE("unit.clock.applications") {
    ClockCounts counts;
    for (std::uint64_t seed = 15000; seed < 15060; ++seed) {
        Case given = random_case(seed);
        Dice dice(seed);
        Relay relay;
        relay_flows(given, dice, relay);
        INFO(given.name);
        const Outcome expected = run_windows(given);
        check_same(expected, run_clocks(given, false, counts));
        check_same(expected, run_clocks(given, true, counts));
        if (seed % 4 == 0) {
            check_same(expected, run_oracle(given));
        }
    }
    CHECK(counts.clocks.windows_solo > 0);
}
