// SPDX-License-Identifier: Apache-2.0
/// Trains: one unit for several packets. What they carry is exact: bytes, packets, order, losslessness. A flow that
/// neither others nor its window disturb takes as long as by packets, to the picosecond; others about as long.
#include "core/packet/trains.h"

#include <algorithm>
#include <numeric>

#include "core/world/network_check.h"
#include "tests/support/star_support.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr std::uint32_t kLongest = 8;

Outcome by_trains(Case given) {
    given.config.train = kLongest;
    return run_windows(given);
}

std::int64_t total(const Outcome& outcome, std::int64_t PortStatistics::*count) {
    return std::accumulate(
        outcome.ports.begin(), outcome.ports.end(), std::int64_t{0},
        [&](std::int64_t sum, const PortStatistics& port) { return sum + port.*count; });
}

Tick last_finish(const Outcome& outcome) {
    Tick last = 0;
    for (const FlowResult& flow : outcome.flows) {
        last = std::max(last, flow.finish);
    }
    return last;
}

}  // namespace

TEST_CASE("unit.step.trains.lone_flow_takes_as_long_as_by_packets") {
    // Whether its window limits it or not.
    for (const congestion::Law law :
         {congestion::Law::none, congestion::Law::dcqcn, congestion::Law::dctcp}) {
        for (const bool window : {false, true}) {
            for (const std::int64_t size : {1, 1'000, 100'001, 3'000'000}) {
                Case given = incast(law, 1, size);
                given.config.congestion.window = window;
                const Outcome packets = run_windows(given);
                const Outcome trains = by_trains(given);
                INFO(given.name << ", " << size << " bytes, window " << window);
                CHECK(trains.flows[0].received == packets.flows[0].received);
                CHECK(trains.flows[0].finish == packets.flows[0].finish);
            }
        }
    }
}

TEST_CASE("unit.step.trains.leave_a_short_message_its_turns") {
    // Beside a long message of the same NIC, and of another one, it takes about as long as by packets.
    for (const std::uint32_t senders : {1U, 2U}) {
        Case given = incast(congestion::Law::none, senders, 3'000'000);
        given.flows.push_back(given.flows[0]);
        given.flows.back().src = given.flows[senders - 1].src;
        given.flows.back().size = 20'000;
        given.flows.back().start = 50'000'000;
        assign_source_ports(given.flows);
        const Outcome packets = run_windows(given);
        const Outcome trains = by_trains(given);
        const auto time = [](const Outcome& outcome) {
            return static_cast<double>(outcome.flows.back().received - 50'000'000);
        };
        CHECK(time(trains) == doctest::Approx(time(packets)).epsilon(0.05));
    }
}

TEST_CASE("unit.step.trains.carry_the_same_bytes_and_packets") {
    for (const congestion::Law law : kLaws) {
        if (congestion::traits(law).follows_delay) {
            continue;  // refused by scenarios
        }
        const Case given = incast(law, 4, 2'000'000);
        const Outcome packets = run_windows(given);
        const Outcome trains = by_trains(given);
        INFO(given.name);
        CHECK(trains.counters.drops == 0);
        CHECK(trains.counters.retransmitted_bytes == 0);
        if (packets.counters.pfc_pauses == 0 && trains.counters.pfc_pauses == 0) {
            CHECK(total(trains, &PortStatistics::tx_bytes) ==
                  total(packets, &PortStatistics::tx_bytes));
            CHECK(total(trains, &PortStatistics::tx_packets) ==
                  total(packets, &PortStatistics::tx_packets));
        }
        CHECK(trains.counters.packet_hops < packets.counters.packet_hops);
        // The sink's cable is what limits them. HPCC does not see what the port owes, and leaves less of it free.
        CHECK(last_finish(trains) == doctest::Approx(last_finish(packets)).epsilon(0.03));
    }
}

TEST_CASE("unit.step.trains.lose_nothing_where_buffers_are_small") {
    for (const congestion::Law law : kLaws) {
        Case given = incast(law, 16, 1'000'000);
        given.config.buffer.size = Bytes{pfc_share(given.topology, given.config) + 300'000};
        const Outcome outcome = by_trains(given);
        INFO(given.name);
        CHECK(outcome.counters.drops == 0);
        for (const FlowResult& result : outcome.flows) {
            CHECK(result.finish != kNever);
            CHECK(result.retransmitted == 0);
        }
    }
}

TEST_CASE("unit.step.trains.go_back_within_a_train") {
    // Without PFC a small buffer loses trains; what is sent again is cut otherwise than before.
    Case given = incast(congestion::Law::none, 8, 1'000'000);
    given.config.pfc = false;
    given.config.buffer.size = Bytes{400'000};
    const Outcome outcome = by_trains(given);
    CHECK(outcome.counters.drops > 0);
    for (const FlowResult& result : outcome.flows) {
        CHECK(result.finish != kNever);
    }
}

TEST_CASE("unit.step.trains.length_follows_window_and_message") {
    step::World world{};
    step::HostPort port{};
    NetworkConfig config;
    world.payload = 1000;
    world.train = kLongest;
    world.host_port = &port;
    world.config = &config;
    step::Sender sender;
    sender.port = 0;
    sender.packets = 10'000;
    sender.window = 1'000'000;
    const auto length_at = [&](std::uint32_t next) {
        sender.next = sender.high = next;
        return step::train_length(world, sender, 0);
    };
    CHECK(length_at(0) == 1);
    CHECK(length_at(31) == 1);
    CHECK(length_at(64) == 4);
    CHECK(length_at(5'000) == kLongest);
    CHECK(length_at(9'999) == 1);
    CHECK(length_at(10'000 - 64) == 4);
    sender.window = 48'000;  // three packets are a sixteenth
    CHECK(length_at(5'000) == 3);
    sender.window = 1'000;
    CHECK(length_at(5'000) == 1);
    sender.window = 1'000'000;
    sender.next = 4'000;  // it has gone back
    sender.high = 5'000;
    CHECK(step::train_length(world, sender, 0) == 1);
    world.train = 1;
    CHECK(length_at(5'000) == 1);
}

TEST_CASE("unit.step.trains.are_no_longer_than_a_packet_can_tell") {
    // 64 packets of 9,000 bytes are more than 65,535 bytes; 64 of 1,000 bytes at 20 Mb/s take more than 4.29 ms.
    for (const bool slow : {false, true}) {
        Case given = incast(congestion::Law::dcqcn, 2, slow ? 300'000 : 20'000'000);
        given.config.congestion.window = false;
        given.config.nic.retransmit_timeout = 0;
        if (slow) {
            StarParams star;
            star.hosts = 3;
            star.host_cable.rate = Rate{20'000'000};
            given.topology = build_star(star);
        } else {
            given.config.format.payload = 9'000;
        }
        given.config.train = 64;
        const std::uint32_t longest = step::longest_train(given.topology, given.config);
        CHECK(longest > 1);
        CHECK(longest < 64);
        const Outcome outcome = run_windows(given);
        CHECK(outcome.counters.drops == 0);
        for (const FlowResult& result : outcome.flows) {
            CHECK(result.finish != kNever);
            CHECK(result.retransmitted == 0);
        }
    }
}
