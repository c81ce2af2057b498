// SPDX-License-Identifier: Apache-2.0
/// Every driver of the step functions moves the same packets at the same instants: windows with
/// the per-port short cut, windows in full order, nodes visited backwards, and the oracle, which
/// executes one event at a time in one global order. Compared by hop checksum, flow results and
/// port statistics over random experiments.
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

void compare_drivers(std::uint64_t first_seed, std::uint64_t count) {
    MechanismTally tally;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        const Case given = random_case(seed);
        INFO(given.name);
        const Outcome windows = run_windows(given);
        check_same(windows, run_windows(given, true));
        check_same(windows, run_reversed(given));
        check_same(windows, run_oracle(given));
        check_same(windows, run_windows(given));
        tally.add(windows.counters);
    }
    tally.check();
}

}  // namespace

TEST_CASE("unit.step.equivalence.random_1") { compare_drivers(1000, 32); }
TEST_CASE("unit.step.equivalence.random_2") { compare_drivers(2000, 32); }
TEST_CASE("unit.step.equivalence.random_3") { compare_drivers(3000, 32); }
TEST_CASE("unit.step.equivalence.random_4") { compare_drivers(4000, 32); }
TEST_CASE("unit.step.equivalence.random_5") { compare_drivers(5000, 32); }
TEST_CASE("unit.step.equivalence.random_6") { compare_drivers(6000, 32); }
TEST_CASE("unit.step.equivalence.random_7") { compare_drivers(7000, 32); }
TEST_CASE("unit.step.equivalence.random_8") { compare_drivers(8000, 32); }
