// SPDX-License-Identifier: Apache-2.0
/// Switches that cut payloads: what goes on, what comes back, and that nothing is lost without a word.
#include "core/world/network_check.h"
#include "tests/support/star_support.h"
#include "tests/support/trimmed_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// An incast at a switch that trims.
Case trimmed_incast(congestion::Law law, std::int64_t senders, std::int64_t size) {
    return trimmed(incast(law, senders, size));
}

}  // namespace

TEST_CASE("unit.step.trimming.each_header_is_one_packet_sent_again") {
    for (const congestion::Law law :
         {congestion::Law::dcqcn, congestion::Law::swift, congestion::Law::nscc}) {
        INFO(std::string(congestion::law_name(law)));
        const Case given = trimmed_incast(law, 8, 400'000);
        const TrimmedRun run(given);
        CHECK(run.trimmed > 0);
        CHECK(run.drops == 0);
        CHECK(run.again == run.trimmed * 1000);
        CHECK(run.late == 0);  // nobody had to wait for a time-out
        CHECK(run.deepest <= 40'000 + given.config.trim.queue + 2000);
        // 3.2 MB at 100 Gb/s; DCQCN takes long to recover from so many marks, and NSCC begins with 12 products.
        const Tick ideal =
            3'200 * serialization_time(1048, gigabits_per_second(100), Arithmetic::exact);
        MESSAGE(std::string(congestion::law_name(law)), ": ",
                static_cast<double>(ideal) / static_cast<double>(run.last()), " of the rate, ",
                run.trimmed, " trimmed");
        const double bar = law == congestion::Law::dcqcn  ? 0.4
                           : law == congestion::Law::nscc ? 0.85
                                                          : 0.9;
        CHECK(static_cast<double>(ideal) > bar * static_cast<double>(run.last()));
    }
}

TEST_CASE("unit.step.trimming.headers_without_room_are_lost_and_time_makes_up_for_it") {
    Case given = trimmed_incast(congestion::Law::none, 16, 100'000);
    given.config.trim.queue = 200;
    const TrimmedRun run(given);
    CHECK(run.trimmed > 0);
    CHECK(run.drops > 0);
    CHECK(run.again > 0);
}

TEST_CASE("unit.step.trimming.headers_go_before_what_waits") {
    // A class of its own, served after the data of class 3: the last headers come after the data.
    Case given = trimmed_incast(congestion::Law::none, 4, 50'000);
    const TrimmedRun strict(given);
    given.config.trim.priority = 5;
    given.config.queues.scheduler = Scheduler::strict_priority;
    const TrimmedRun late(given);
    CHECK(strict.trimmed > 0);
    CHECK(late.trimmed > 0);
    CHECK(strict.finish < late.finish);
}

TEST_CASE("unit.step.trimming.any_order_of_execution") {
    ClockCounts counts;
    std::int64_t trimmed = 0;
    for (std::uint64_t seed = 41'000; seed < 41'080; ++seed) {
        Case given = random_case(seed);
        Dice dice(seed);
        given.config.pfc = false;
        given.config.nic.transport = Transport::selective_repeat;
        given.config.nic.back_to_zero = false;
        given.config.nic.reorder_window = 64U << dice.below(5);
        given.config.nic.reorder_threshold = 1 + dice.below(given.config.nic.reorder_window - 1);
        given.config.trim.threshold = step::largest_packet(given.config) + dice.below(30'000);
        given.config.trim.queue = 100 + dice.below(5'000);
        given.config.trim.priority = static_cast<std::uint8_t>(dice.chance(50) ? 0 : dice.below(8));
        const LoadBalance kinds[] = {LoadBalance::ecmp, LoadBalance::spray, LoadBalance::adaptive};
        given.config.load_balance = dice.pick(kinds);
        INFO(given.name);
        const Outcome expected = run_windows(given);
        check_same(expected, run_oracle(given));
        if (seed % 4 == 0) {
            check_same(expected, run_clocks(given, false, counts));
        }
        Rig rig(given);
        step::Driver driver(rig.store, {}, {});
        driver.advance(given.stop, rig);
        for (const PortStatistics& port : rig.store.port_statistics(given.stop)) {
            trimmed += port.trimmed;
        }
    }
    CHECK(trimmed > 100);
}

TEST_CASE("unit.step.trimming.a_threshold_holds_a_packet") {
    Case given = trimmed_incast(congestion::Law::nscc, 2, 1000);
    given.config.trim.threshold = step::largest_packet(given.config);
    CHECK_FALSE(step::network_fault(given.topology, given.config).has_value());
    --given.config.trim.threshold;
    REQUIRE(step::network_fault(given.topology, given.config).has_value());
    CHECK(step::network_fault(given.topology, given.config)->of == step::NetworkFault::Of::trim);
}
