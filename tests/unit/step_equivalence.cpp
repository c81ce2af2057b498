// SPDX-License-Identifier: Apache-2.0
/// Every driver of the step functions moves the same packets at the same instants: windows with
/// the per-port short cut, windows in full order, nodes visited backwards, and the oracle, which
/// executes one event at a time in one global order. Compared by hop checksum, flow results and
/// port statistics over random experiments.
#include "tests/unit/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

void compare_drivers(std::uint64_t first_seed, std::uint64_t count) {
    std::uint64_t hops = 0;
    std::uint64_t drops = 0;
    std::uint64_t pauses = 0;
    std::uint64_t marks = 0;
    std::uint64_t again = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        const Case given = random_case(seed);
        INFO(given.name);
        const Outcome windows = run_windows(given);
        check_same(windows, run_windows(given, true));
        check_same(windows, run_reversed(given));
        check_same(windows, run_oracle(given));
        check_same(windows, run_windows(given));
        hops += windows.counters.packet_hops;
        drops += windows.counters.drops;
        pauses += windows.counters.pfc_pauses;
        marks += windows.counters.ecn_marks;
        again += windows.counters.retransmitted_bytes;
    }
    // The cases are worth comparing: all mechanisms were at work.
    MESSAGE(hops << " hops, " << drops << " drops, " << pauses << " pauses, " << marks << " marks, "
                 << again << " bytes sent again");
    CHECK(drops > 0);
    CHECK(pauses > 0);
    CHECK(marks > 0);
    CHECK(again > 0);
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
