// SPDX-License-Identifier: Apache-2.0
/// Parts that are folded upon themselves in the midst of their lives: all-to-alls that messages of others, or the next ones
/// of their own, join while packets are on their way that leave their sheets.
#include "tests/support/exchange_cases.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("unit.folds.exchanges.a_message_to_the_next_group_joins_two_all_to_alls") {
    const ExchangeShape shape{1, 2, 8};
    for (const congestion::Law law : {congestion::Law::hpcc, congestion::Law::dctcp}) {
        for (const Tick joins : {7 * kMicrosecond, 33 * kMicrosecond, 80 * kMicrosecond}) {
            Case given = exchange(shape, law);
            add_all_to_all(given, shape, 0, 0, 200'000, 0);
            add_all_to_all(given, shape, 0, 1, 200'000, 0);
            for (std::uint32_t i = 0; i < shape.hosts; ++i) {
                given.flows.push_back(
                    flow(shape.host(0, 0, i), shape.host(0, 1, i), 300'000, joins));
            }
            assign_source_ports(given.flows);
            INFO(congestion::law_name(law), " ", joins);
            const Folded made = check_folding(given);
            // Of the eight all follow one, but in their first window and in that in which the message comes.
            CHECK(static_cast<double>(made.fold.hops) >
                  0.85 * static_cast<double>(made.outcome.counters.packet_hops));
        }
    }
}

TEST_CASE("unit.folds.exchanges.time_outs_while_packets_are_on_their_way") {
    // A time-out sets a queue pair back before anything has been sent twice: its packets are on their way still, when a
    // message of others ends the fold.
    std::uint64_t hops = 0;
    for (const Tick joins : {8 * kMicrosecond, 9544 * kNanosecond, 11 * kMicrosecond}) {
        for (Tick time_out = 8 * kMicrosecond; time_out < 12 * kMicrosecond;
             time_out += 250 * kNanosecond) {
            const ExchangeShape shape{2, 1, 4};
            Case given;
            given.name = "time-out " + std::to_string(time_out);
            given.topology = build_star({8, {gigabits_per_second(25), kMicrosecond}});
            given.config = config_for(congestion::Law::hpcc, gigabits_per_second(25));
            given.config.format.payload = 4096;
            given.config.nic.retransmit_timeout = time_out;
            given.config.nic.ack_every = 2;
            given.stop = 2 * kMillisecond;
            add_all_to_all(given, shape, 1, 0, 50'000, 0);
            given.flows.push_back(flow(shape.host(1, 0, 0), shape.host(0, 0, 3), 20'000, joins));
            assign_source_ports(given.flows);
            hops += check_folding(given).fold.hops;
        }
    }
    CHECK(hops > 0);
}

TEST_CASE("unit.folds.exchanges.random_ones_are_as_without") {
    std::uint64_t hops = 0;
    std::uint64_t forks = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const Folded made = check_folding(random_exchange(seed, 1, 1));
        hops += made.fold.hops;
        forks += made.fold.forks;
    }
    CHECK(hops > 0);
    CHECK(forks > 0);
}
