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

TEST_CASE("unit.step.equivalence.packet_larger_than_the_threshold") {
    // The reference's headroom, kept under its arithmetic, is too small for short links: 25 Gb/s x
    // 100 ns x 3 = 936 bytes of headroom, 4000 >> 3 = 500 of threshold: neither takes a
    // frame of 1048 bytes, so it is dropped although its ingress has 4096 bytes in reserve.
    Case given;
    StarParams star;
    star.hosts = 3;
    star.host_cable.rate = gigabits_per_second(25);
    star.host_cable.delay = 100 * kNanosecond;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::none);
    given.config.arithmetic = Arithmetic::ns3;
    given.config.buffer.size = Bytes{pfc_share(given.topology, given.config) + 4000};
    given.flows = {flow(0, 2, 3000, 0), flow(1, 2, 200, 0)};
    given.stop = kMillisecond;
    const Outcome windows = run_windows(given);
    CHECK(windows.counters.drops > 0);
    check_same(windows, run_windows(given, true));
    check_same(windows, run_oracle(given));
}

TEST_CASE("unit.step.equivalence.ns3_frames_that_take_no_time") {
    // 49 bytes at 400 Gb/s last 0.98 ns, truncated to 0: several packets of one link arrive at one
    // instant, together with packets of other links.
    Case given;
    DumbbellParams params;
    params.left_hosts = 4;
    params.host_cable.rate = gigabits_per_second(400);
    params.bottleneck.rate = gigabits_per_second(400);
    given.topology = build_dumbbell(params);
    given.config = config_for(congestion::Law::dctcp, gigabits_per_second(400));
    given.config.arithmetic = Arithmetic::ns3;
    for (NodeId src = 0; src < 4; ++src) {
        for (Tick f = 0; f < 12; ++f) {
            given.flows.push_back(
                flow(src, 4 + src % 2, f % 3 == 0 ? 30 + f : 1, f / 4 * kNanosecond));
        }
    }
    assign_source_ports(given.flows);
    given.stop = kMillisecond;
    const Outcome windows = run_windows(given);
    check_same(windows, run_windows(given, true));
    check_same(windows, run_reversed(given));
    check_same(windows, run_oracle(given));
}
