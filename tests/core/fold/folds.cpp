// SPDX-License-Identifier: Apache-2.0
/// Folding: parts that are copies of each other are executed once, and every flow, port and callback is what
/// it is without.
#include "core/fold/folds.h"

#include "tests/support/fold_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

void add(FoldCounters& sum, const FoldCounters& more) {
    sum.hops += more.hops;
    sum.images += more.images;
    sum.forks += more.forks;
}

FoldCounters compare_copies(std::uint64_t first_seed, std::uint64_t count,
                            const CopiesOptions& options) {
    FoldCounters sum;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        const Copies copies(seed, options);
        const Folded made = check_folding(copies.given);
        add(sum, made.fold);
    }
    return sum;
}

}  // namespace

TEST_CASE("unit.folds.copies_that_stay_alike") {
    CopiesOptions options;
    options.changed = 0;
    for (const bool by_copy : {true, false}) {
        options.by_copy = by_copy;
        const FoldCounters sum = compare_copies(1000, 100, options);
        CHECK(sum.hops > 0);
        CHECK(sum.forks == 0);
    }
}

TEST_CASE("unit.folds.copies_that_part") {
    CopiesOptions options;
    options.changed = 10;
    options.flows = 16;
    const FoldCounters sum = compare_copies(2000, 400, options);
    CHECK(sum.hops > 0);
    CHECK(sum.forks > 10);
}

TEST_CASE("unit.folds.strangers_between_copies") {
    CopiesOptions options;
    options.strangers = 6;
    options.flows = 16;
    const FoldCounters sum = compare_copies(3000, 400, options);
    CHECK(sum.hops > 0);
}

TEST_CASE("unit.folds.flows_that_leave_by_another_port") {
    CopiesOptions options;
    options.servers = true;
    options.changed = 5;
    options.flows = 16;
    const FoldCounters sum = compare_copies(3200, 400, options);
    CHECK(sum.hops > 0);
}

TEST_CASE("unit.folds.sprayed_flows_are_not") {
    CopiesOptions options;
    options.sprayed = true;
    options.changed = 0;
    options.flows = 4;
    for (const bool turned : {false, true}) {
        options.turned = turned;
        compare_copies(9000, 100, options);
    }
}

TEST_CASE("unit.folds.a_part_upon_itself") {
    // One part only: every image is another turn of it.
    CopiesOptions options;
    options.turned = true;
    options.copies = 1;
    options.flows = 3;
    options.changed = 0;
    for (const bool by_copy : {true, false}) {
        options.by_copy = by_copy;
        const FoldCounters sum = compare_copies(6000, 150, options);
        CHECK(sum.hops > 0);
        // By copy a host's flows are not in the order of their ids what the next one's are.
        CHECK((by_copy || sum.forks == 0));
    }
    options.changed = 8;
    const FoldCounters sum = compare_copies(6200, 300, options);
    CHECK(sum.hops > 0);
    CHECK(sum.forks > 10);
}

TEST_CASE("unit.folds.copies_upon_themselves") {
    CopiesOptions options;
    options.turned = true;
    options.copies = 3;
    options.flows = 4;
    for (const std::uint32_t changed : {0U, 3U}) {
        options.changed = changed;
        options.strangers = changed;
        const FoldCounters sum = compare_copies(6500 + changed, 250, options);
        CHECK(sum.hops > 0);
    }
    options.failures = true;
    compare_copies(6800, 100, options);
}

TEST_CASE("unit.folds.rings_that_part_in_themselves_are_still_copies") {
    // Of two rings of four, seven hosts follow the eighth. Then the first host of each ring sends something more:
    // the hosts of a ring are alike no more, the rings are.
    Case given;
    given.topology = build_star({8, {gigabits_per_second(100), kMicrosecond}});
    given.config = config_for(congestion::Law::dctcp);
    for (const Tick start : {Tick{0}, 50 * kMicrosecond}) {
        for (NodeId i = 0; i < 8; i += start == 0 ? 1 : 4) {
            given.flows.push_back(flow(i, i / 4 * 4 + (i + 1) % 4, 2'000'000, start));
        }
    }
    assign_source_ports(given.flows);
    const Folded made = check_folding(given);
    CHECK(made.fold.forks == 6);  // all others but the first of the second ring
    CHECK(made.fold.images == 7 + 1);
}

TEST_CASE("unit.folds.every_law_upon_itself") {
    for (const congestion::Law law : kLaws) {
        CopiesOptions options;
        options.law = law;
        options.turned = true;
        options.copies = 2;
        options.flows = 3;
        options.changed = 3;
        INFO(congestion::law_name(law));
        const FoldCounters sum = compare_copies(7000, 80, options);
        CHECK(sum.hops > 0);
    }
}

TEST_CASE("unit.folds.links_that_fail") {
    CopiesOptions options;
    options.failures = true;
    options.changed = 1;
    options.flows = 16;
    const FoldCounters sum = compare_copies(3500, 400, options);
    CHECK(sum.hops > 0);
}

TEST_CASE("unit.folds.every_law") {
    for (const congestion::Law law : kLaws) {
        CopiesOptions options;
        options.law = law;
        options.changed = 5;
        INFO(congestion::law_name(law));
        compare_copies(4000, 100, options);
    }
}

TEST_CASE("unit.folds.buffers_that_come_to_matter") {
    // Without windows, what flows may have in a buffer is all that they send.
    std::uint64_t decided = 0;
    for (const congestion::Law law :
         {congestion::Law::dcqcn, congestion::Law::timely, congestion::Law::none}) {
        for (const std::int64_t buffer : {800'000, 1'200'000, 4'000'000}) {
            CopiesOptions options;
            options.law = law;
            options.buffer = buffer;
            options.size = 6.3;
            options.changed = 2;
            options.strangers = 2;
            FoldCounters sum;
            for (std::uint64_t seed = 9200; seed < 9240; ++seed) {
                Copies copies(seed, options);
                copies.given.config.congestion.window = false;
                const Folded made = check_folding(copies.given);
                add(sum, made.fold);
                decided += made.outcome.counters.drops + made.outcome.counters.pfc_pauses;
            }
            INFO(congestion::law_name(law) << ", " << buffer << " bytes");
            CHECK(sum.hops > 0);
        }
    }
    CHECK(decided > 1000);
}

TEST_CASE("unit.folds.a_message_that_takes_a_queue_pair_over_has_a_law_that_knows_other_counters") {
    // Pairs of hosts exchange messages, each pair folded upon itself and the second one after the first. The second one's
    // ports have sent more before. The next messages take queue pairs over that are not idle, with their laws, and in another
    // order at one end than at the other: there the fold ends, before anybody knows the next messages' turns.
    std::uint64_t forks = 0;
    for (Tick next = 20 * kMicrosecond; next < 50 * kMicrosecond; next += kMicrosecond / 2) {
        Case given;
        given.name = "next after " + std::to_string(next);
        given.topology = build_star({4, {gigabits_per_second(100), kMicrosecond}});
        given.config = config_for(congestion::Law::hpcc);
        const std::int64_t whole_units = 4096 * std::int64_t{given.config.format.payload};
        given.flows = {flow(0, 1, whole_units, 0), flow(1, 0, whole_units, 0),
                       flow(2, 3, 2 * whole_units, 0), flow(3, 2, 2 * whole_units, 0)};
        const Tick begin = kMillisecond;
        for (const NodeId a : {NodeId{0}, NodeId{2}}) {
            const NodeId b = a + 1;
            for (FlowSpec spec : {flow(b, a, 400'000, begin), flow(a, b, 400'000, begin + next),
                                  flow(a, b, 400'000, begin), flow(b, a, 400'000, begin + next)}) {
                spec.connection = spec.src;
                given.flows.push_back(spec);
            }
        }
        assign_source_ports(given.flows);
        for (FlowSpec& spec : given.flows) {
            spec.sport = spec.connection == kNone ? spec.sport : 20'000;
        }
        forks += check_folding(given).fold.forks;
    }
    CHECK(forks > 0);
}

TEST_CASE("unit.folds.hops_of_a_host_that_goes_its_own_way_are_counted_up_to_then") {
    // Two pairs of hosts send the same, and fold when the first window is over. In the middle of the next
    // one host of the image starts another flow: its own hops are folded until then, its switch's until the
    // window's end.
    const Tick delay = 10 * kMicrosecond;
    const Tick parts = delay + delay / 2;
    Case given;
    given.topology = build_star({4, {gigabits_per_second(100), delay}});
    given.config = config_for(congestion::Law::dcqcn);
    given.flows = {flow(0, 1, 2'000'000, 0), flow(2, 3, 2'000'000, 0), flow(2, 3, 1000, parts)};
    assign_source_ports(given.flows);
    const std::vector<NodeId>& hosts = given.topology.hosts();
    const PortId from_host = given.topology.first_port(hosts[2]);
    const PortId from_switch = given.topology.peer_of(given.topology.first_port(hosts[3]));
    const auto sent_until = [&](Tick stop, PortId port) {
        Case part = given;
        part.stop = stop;
        return run_windows(part).ports[port].tx_packets;
    };
    Rig rig(given);
    rig.world.digest_hops = false;
    step::Folds folds(rig.store);
    engine::Driver driver(rig.store, given.events, {});
    driver.fold(folds);
    driver.advance(delay, rig);
    REQUIRE(folds.counters().images == 1);
    CHECK(folds.counters().hops == 0);
    driver.advance(2 * delay, rig);
    REQUIRE(folds.counters().forks == 1);
    const std::int64_t of_host = sent_until(parts, from_host) - sent_until(delay, from_host);
    const std::int64_t of_switch =
        sent_until(2 * delay, from_switch) - sent_until(delay, from_switch);
    CHECK(of_host > 50);
    CHECK(of_switch > 100);
    CHECK(folds.counters().hops == static_cast<std::uint64_t>(of_host + of_switch));
}

TEST_CASE("unit.folds.who_comes_among_others_waits_for_them_to_leave") {
    // Two pairs of hosts begin the same while the last ACKs of something else are on their way, as the next step of a
    // job does. These are no copies; when they are gone, the rest is.
    for (const congestion::Law law : {congestion::Law::dcqcn, congestion::Law::dctcp}) {
        const Tick delay = 10 * kMicrosecond;
        Case given;
        given.topology = build_star({4, {gigabits_per_second(100), delay}});
        given.config = config_for(law);
        given.flows = {flow(0, 1, 3'000, 0), flow(2, 3, 5'000, 0), flow(0, 1, 2'000'000, 3 * delay),
                       flow(2, 3, 2'000'000, 3 * delay)};
        assign_source_ports(given.flows);
        const Folded made = check_folding(given);
        INFO(congestion::law_name(law));
        CHECK(made.fold.images == 1);
        // But for the first round trip, half of what all send.
        CHECK(static_cast<double>(made.fold.hops) >
              0.4 * static_cast<double>(made.outcome.counters.packet_hops));
    }
}

TEST_CASE("unit.folds.random_cases_are_as_without") {
    for (std::uint64_t seed = 5000; seed < 5060; ++seed) {
        Case given = random_case(seed);
        check_folding(given);
        Dice dice(seed);
        Relay relay;
        relay_flows(given, dice, relay);
        check_folding(given);
    }
}

TEST_CASE("unit.folds.windows_with_nothing_folded_are_for_several_threads") {
    CopiesOptions options;
    options.changed = 10;
    options.strangers = 6;
    options.flows = 16;
    options.failures = true;
    FoldCounters sum;
    std::uint64_t shared = 0;
    for (std::uint64_t seed = 8000; seed < 8030; ++seed) {
        const Copies copies(seed, options);
        const Folded made = check_folding(copies.given, 2);
        add(sum, made.fold);
        shared += made.shared_windows;
    }
    CHECK(sum.hops > 0);
    CHECK(shared > 0);
}
