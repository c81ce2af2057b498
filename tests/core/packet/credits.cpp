// SPDX-License-Identifier: Apache-2.0
/// Receiver credits: who may send what, and that no loss of packets or pulls keeps a flow from ending.
#include <algorithm>

#include "core/world/network_check.h"
#include "tests/support/star_support.h"
#include "tests/support/trimmed_run.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr std::int64_t kFrame = 1048;

Case pulled(const Case& plain) {
    Case given = trimmed(plain);
    given.config.nic.reorder_threshold = given.config.nic.reorder_window - 1;
    given.config.queues.ack_strict_in_switch = true;
    return given;
}

/// Time of `bytes` of payload in full packets at 100 Gb/s.
Tick time_of(std::int64_t bytes) {
    return bytes / 1000 * serialization_time(kFrame, gigabits_per_second(100), Arithmetic::exact);
}

}  // namespace

TEST_CASE("unit.step.credits.a_lone_flow_has_what_is_pulled") {
    // 4 MB at 0.99 of the rate, which leaves 1% of it out; and half of it at half.
    Case given = pulled(incast(congestion::Law::rccc, 1, 4'000'000));
    const double whole =
        static_cast<double>(time_of(4'000'000)) / static_cast<double>(TrimmedRun(given).last());
    CHECK(whole > 0.96);
    given.config.congestion.rccc.pull_rate = 0.5;
    const double half =
        static_cast<double>(time_of(4'000'000)) / static_cast<double>(TrimmedRun(given).last());
    CHECK(half > 0.48);
    CHECK(half < 0.53);  // what it sent before the first answer is all that nobody granted
}

TEST_CASE("unit.step.credits.an_incast_overflows_only_before_the_first_answer") {
    // Until then each of 16 flows sends what it likes. From then on the last link is not overloaded, for however long.
    const Case given = pulled(incast(congestion::Law::rccc, 16, 1'000'000));
    const TrimmedRun run(given);
    const TrimmedRun longer(pulled(incast(congestion::Law::rccc, 16, 2'000'000)));
    CHECK(run.trimmed > 0);
    CHECK(run.trimmed < 1600);
    CHECK(longer.trimmed == run.trimmed);
    CHECK(run.late == 0);
    CHECK(static_cast<double>(time_of(16'000'000)) > 0.95 * static_cast<double>(run.last()));
    // Equal flows end together.
    const Tick first = *std::min_element(run.finish.begin(), run.finish.end());
    CHECK(run.last() - first < run.last() / 50);
}

TEST_CASE("unit.step.credits.short_messages_need_none") {
    const Case given = pulled(incast(congestion::Law::rccc, 2, 3000));
    const TrimmedRun run(given);
    CHECK(run.last() < 20 * kMicrosecond);
    CHECK(run.late == 0);
}

TEST_CASE("unit.step.credits.losses_of_packets_and_pulls_are_made_up_for") {
    for (const double loss : {0.001, 0.02, 0.1}) {
        Case given = pulled(incast(congestion::Law::rccc, 4, 300'000));
        given.topology = with_links(given.topology, [&](Link& link) { link.loss = loss; });
        const TrimmedRun run(given);  // checks that all end
        CHECK(run.last() < kSecond);
    }
}

TEST_CASE("unit.step.credits.any_order_of_execution") {
    ClockCounts counts;
    for (std::uint64_t seed = 51'000; seed < 51'080; ++seed) {
        Case given = random_case(seed);
        Dice dice(seed);
        given.config.pfc = given.config.pfc && dice.chance(50);
        given.config.nic.transport = Transport::selective_repeat;
        given.config.nic.back_to_zero = false;
        given.config.nic.reorder_window = 64U << dice.below(5);
        given.config.nic.reorder_threshold = 1 + dice.below(given.config.nic.reorder_window - 1);
        given.config.congestion =
            congestion::default_parameters(congestion::Law::rccc, 100'000'000'000);
        given.config.congestion.payload = given.config.format.payload;
        given.config.congestion.rccc.packets_per_pull = 1 + static_cast<int>(dice.below(8));
        if (!given.config.pfc && dice.chance(60)) {
            given.config.trim.threshold = step::largest_packet(given.config) + dice.below(30'000);
        }
        const LoadBalance kinds[] = {LoadBalance::ecmp, LoadBalance::spray, LoadBalance::adaptive,
                                     LoadBalance::entropy};
        given.config.load_balance = dice.pick(kinds);
        INFO(given.name);
        const Outcome expected = run_windows(given);
        check_same(expected, run_oracle(given));
        if (seed % 4 == 0) {
            check_same(expected, run_clocks(given, false, counts));
        }
    }
}

TEST_CASE("unit.step.credits.pulls_take_their_ways_in_turn") {
    // From one leaf to another one over four spines. Back come ACKs and pulls, by each spine as many.
    Case given;
    given.topology = build_leaf_spine({2, 4, 1, 1, {}, {}});
    given.config = config_for(congestion::Law::rccc);
    given.config.nic.transport = Transport::selective_repeat;
    given.config.load_balance = LoadBalance::round_robin;
    given.flows = {flow(0, 1, 4'000'000, 0)};
    given.stop = kSecond;
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    driver.advance(given.stop, rig);
    const std::vector<PortStatistics> statistics = rig.store.port_statistics(given.stop);
    const NodeId leaf =
        given.topology.node_of(given.topology.peer_of(given.topology.first_port(1)));
    std::vector<std::int64_t> sent;
    for (std::uint32_t i = 0; i < given.topology.port_count(leaf); ++i) {
        const PortId port = given.topology.first_port(leaf) + i;
        if (!given.topology.is_host(given.topology.neighbor(port))) {
            sent.push_back(static_cast<std::int64_t>(statistics[port].tx_packets));
        }
    }
    REQUIRE(sent.size() == 4);
    const auto [least, most] = std::minmax_element(sent.begin(), sent.end());
    CHECK(*least > 1000);  // ACKs alone
    CHECK(*most - *least <= 8);
}

TEST_CASE("unit.step.credits.a_trimmed_tail_has_credits_without_asking") {
    // Everything leaves before the first answer. What is trimmed needs credits for which no packet can ask any more.
    for (const std::int64_t size : {5000, 20'000, 40'000}) {
        const TrimmedRun run(pulled(incast(congestion::Law::rccc, 16, size)));
        CHECK(run.trimmed > 20);
        CHECK(run.late == 0);
        CHECK(run.last() < 100 * kMicrosecond);
    }
}
