// SPDX-License-Identifier: Apache-2.0
/// How a port is shared: equal flows, weighted classes (DWRR), strict priority of ACKs.
#include <cmath>

#include "tests/support/star_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// Two simultaneous flows of `size` bytes through one bottleneck: by how much of the longer
/// completion time the first one's is later.
double difference_of_two(congestion::Law law, std::int64_t size, std::uint64_t seed) {
    Case given;
    given.topology = build_dumbbell({});
    given.config = config_for(law);
    given.config.seed = seed;
    given.flows = {flow(0, 2, size, 0), flow(1, 3, size, 0)};
    const Outcome outcome = run_windows(given);
    CHECK(outcome.counters.retransmitted_bytes == 0);
    // The cable carries one full frame after another at best.
    CHECK(std::max(outcome.flows[0].finish, outcome.flows[1].finish) > 2 * size / 1000 * kFrame);
    const auto a = static_cast<double>(outcome.flows[0].finish);
    const auto b = static_cast<double>(outcome.flows[1].finish);
    return (a - b) / std::max(a, b);
}

}  // namespace

TEST_CASE("unit.step.sharing.two_equal_flows_within_one_percent") {
    for (const congestion::Law law :
         {congestion::Law::none, congestion::Law::hpcc, congestion::Law::dctcp}) {
        INFO(std::string(congestion::law_name(law)));
        CHECK(std::abs(difference_of_two(law, 10'000'000, 1)) <= 0.01);
        CHECK(std::abs(difference_of_two(law, 40'000'000, 1)) <= 0.01);
    }
}

TEST_CASE("unit.step.sharing.two_equal_flows_under_dcqcn_and_timely") {
    // DCQCN's marks are drawn: single runs differ by a few percent, either way, and no side is
    // preferred. Over 32 seeds the mean of a deviation of 2.5% deviates by 0.44%.
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 32; ++seed) {
        const double difference = difference_of_two(congestion::Law::dcqcn, 5'000'000, seed);
        CHECK(std::abs(difference) <= 0.1);
        sum += difference;
    }
    CHECK(std::abs(sum / 32) <= 0.0132);  // three times that
    // TIMELY has no unique fixed point (Zhu et al., CoNEXT 2016): shares that differ stay so.
    CHECK(std::abs(difference_of_two(congestion::Law::timely, 10'000'000, 1)) <= 0.03);
}

TEST_CASE("unit.step.sharing.dwrr_weights_share_one_to_three") {
    Case given = classes_to_one({1, 2}, 4'000'000);
    given.config.queues.weights[2] = 3;
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    // 4000 packets in turn: class 2 is through after 5333 packets' time, class 1 has 1333 then.
    // At every instant before, each round of 4 frames carries 1 and 3.
    for (Tick at = 20 * kMicrosecond; at < 5300 * kFrame; at += 37 * kMicrosecond) {
        driver.advance(at, rig);
        const auto one = static_cast<std::int64_t>(rig.world.receiver[0].expected);
        const auto three = static_cast<std::int64_t>(rig.world.receiver[1].expected);
        CAPTURE(at);
        CHECK(std::abs(3 * one - three) <= 4);  // within one round
    }
    CHECK(rig.store.counters().pfc_pauses == 0);
}

TEST_CASE("unit.step.sharing.dwrr_counts_bytes_not_packets") {
    // Class 1 sends frames of 1048 bytes, class 2 one-packet flows of 248: with equal weights each
    // class gets half of the bytes, so class 2 sends 4.2 times as many packets.
    Case given = classes_to_one({1}, 400'000);
    StarParams star;
    star.hosts = 3;
    given.topology = build_star(star);
    given.flows = {flow(0, 2, 400'000, 0, 1)};
    for (int i = 0; i < 1200; ++i) {
        given.flows.push_back(flow(1, 2, 200, 0, 2));
    }
    assign_source_ports(given.flows);
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    driver.advance(2 * kMicrosecond + 500 * kFrame, rig);
    std::int64_t small = 0;
    for (std::size_t f = 1; f < given.flows.size(); ++f) {
        small += rig.world.receiver[f].expected * 248;
    }
    const std::int64_t large = rig.world.receiver[0].expected * std::int64_t{1048};
    CHECK(small > 200'000);
    CHECK(std::abs(small - large) <= 2 * 1048);
}

TEST_CASE("unit.step.sharing.equal_classes_in_turn") {
    const Outcome outcome = run_windows(classes_to_one({1, 4, 7}, 1'000'000));
    // 3 x 1000 packets, one class after the other: the last three packets belong to three flows.
    std::vector<Tick> received;
    for (const FlowResult& result : outcome.flows) {
        received.push_back(result.received);
    }
    std::sort(received.begin(), received.end());
    CHECK(received[2] == 2 * kMicrosecond + kFrame + 3000 * kFrame);
    CHECK(received[2] - received[0] == 2 * kFrame);
}

TEST_CASE("unit.step.sharing.strict_acks_overtake_data_in_switches") {
    // Hosts 1 and 2 fill the switch's queue towards host 0, through which the ACKs for host 0's
    // one packet come back.
    StarParams star;
    star.hosts = 4;
    Case given;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::none);
    given.config.congestion.window = false;
    given.config.buffer.size = mebibytes(256);
    given.flows = {flow(1, 0, 1'000'000, 0), flow(2, 0, 1'000'000, 0),
                   flow(0, 3, 1000, 50 * kMicrosecond)};
    // There: two cables. Back: two cables with an ACK of 60 bytes.
    const Tick alone = 2 * (kFrame + kMicrosecond) + 2 * (60 * 80 + kMicrosecond);
    given.config.queues.ack_strict_in_switch = true;
    const Outcome strict = run_windows(given);
    const Tick strict_time = strict.flows[2].finish - strict.flows[2].start;
    // At host 0's NIC ACKs of what it receives go first, at the switch one frame is on the wire.
    CHECK(strict_time >= alone);
    CHECK(strict_time <= alone + 2 * kFrame);
    given.config.queues.ack_strict_in_switch = false;
    const Outcome shared = run_windows(given);
    // When the ACK arrives, 54 us after the start, about half of what two NICs sent still waits.
    CHECK(shared.flows[2].finish - shared.flows[2].start > alone + 300 * kFrame);
}

TEST_CASE("unit.step.sharing.nic_serves_queue_pairs_in_turn") {
    // Four flows of one host to four others: 400 packets round robin, so the last ones leave one
    // after the other.
    StarParams star;
    star.hosts = 5;
    Case given;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::none);
    given.config.congestion.window = false;
    for (NodeId dst = 1; dst < 5; ++dst) {
        given.flows.push_back(flow(0, dst, 100'000, 0));
    }
    const Outcome outcome = run_windows(given);
    std::vector<Tick> received;
    for (const FlowResult& result : outcome.flows) {
        received.push_back(result.received);
    }
    std::sort(received.begin(), received.end());
    CHECK(received[3] == 400 * kFrame + kFrame + 2 * kMicrosecond);
    CHECK(received[3] - received[0] == 3 * kFrame);
}
