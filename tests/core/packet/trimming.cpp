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
    CHECK(strict.last() < late.last());
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
        given.config.trim.victim = dice.chance(50) ? TrimVictim::drawn : TrimVictim::arriving;
        given.config.trim.reference_rate = gigabits_per_second(dice.chance(50) ? 100 : 0);
        const LoadBalance kinds[] = {LoadBalance::ecmp, LoadBalance::spray, LoadBalance::adaptive};
        given.config.load_balance = dice.pick(kinds);
        INFO(given.name);
        const Outcome expected = run_windows(given);
        check_same(expected, run_oracle(given));
        if (seed % 4 == 0) {
            check_same(expected, run_clocks(given, false, counts));
        }
        Rig rig(given);
        engine::Driver driver(rig.store, {}, {});
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

TEST_CASE("unit.step.trimming.drawn_victims_are_the_arriving_or_the_newest_waiting_packet") {
    // One packet is being sent, two wait, and a fourth arrives at the full queue.
    NetworkConfig config = config_for(congestion::Law::none);
    config.pfc = false;
    config.nic.transport = Transport::selective_repeat;
    config.trim.threshold = 2 * 1048;
    config.trim.victim = TrimVictim::drawn;
    std::int64_t newest = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Case given;
        StarParams params;
        params.hosts = 5;
        given.topology = build_star(params);
        given.config = config;
        given.config.seed = seed;
        for (NodeId src = 0; src < 4; ++src) {
            given.flows.push_back(flow(src, 4, 1000, src * 10 * kNanosecond));
        }
        assign_source_ports(given.flows);
        given.stop = kSecond;
        const TrimmedRun run(given);
        CHECK(run.trimmed == 1);
        CHECK(run.again == 1000);
        // Flow 0 is being sent and flow 1 waits at the head: the last to end is 2 or 3.
        const bool drew = run.finish[2] > run.finish[3];
        newest += drew ? 1 : 0;
        CHECK(run.last() == std::max(run.finish[2], run.finish[3]));
    }
    CHECK(newest > 150);
    CHECK(newest < 250);
}

TEST_CASE("unit.step.trimming.a_header_is_cut_no_further_and_a_short_packet_makes_no_room") {
    Case given =
        trimmed_incast(congestion::Law::none, 16, 100'500);  // the last packet is half a one
    given.config.trim.victim = TrimVictim::drawn;
    given.config.trim.priority = 3;  // headers wait among the data
    const TrimmedRun run(given);
    CHECK(run.trimmed > 0);
    CHECK(run.deepest <= 40'000 + run.trimmed * 48);
}

TEST_CASE("unit.step.trimming.thresholds_follow_the_rates_of_ports") {
    // 40 kB at 100 Gb/s: a queue to a host at 25 Gb/s may have 10 kB, one to a host at 1 Gb/s a packet.
    for (const auto& [gigabits, bytes] : {std::pair{100, 40'000}, {25, 10'000}, {1, 1048}}) {
        Case given = trimmed_incast(congestion::Law::none, 8, 60'000);
        given.topology = Topology{};
        for (int host = 0; host < 9; ++host) {
            given.topology.add_node(NodeKind::host);
        }
        const NodeId hub = given.topology.add_node(NodeKind::ethernet);
        for (NodeId host = 0; host < 9; ++host) {
            const Rate rate = gigabits_per_second(host == 8 ? gigabits : 100);
            given.topology.add_link({host, hub, rate, kMicrosecond, 0});
        }
        given.topology.finish();
        given.config.trim.reference_rate = gigabits_per_second(100);
        const TrimmedRun run(given);
        CHECK(run.trimmed > 0);
        // Headers wait in a queue of their own, by default 25 kB, and count here, too.
        CHECK(run.deepest > bytes);
        CHECK(run.deepest <= bytes + given.config.trim.queue);
        given.config.trim.queue = 0;
        const TrimmedRun bare(given);
        CHECK(bare.deepest <= bytes);
        CHECK(bare.deepest > bytes - 1048);
    }
}
