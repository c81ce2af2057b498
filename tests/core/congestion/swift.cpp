// SPDX-License-Identifier: Apache-2.0
// Swift by hand, against algorithm 1 and the flow-based scaling of the paper. 100 Gb/s, a base RTT of 8 us and packets of
// 1000 bytes: a window of 100 packets is the line rate.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "core/congestion/congestion.h"

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr Tick kBase = 8 * kMicrosecond;

struct Fixture {
    Parameters parameters = default_parameters(Law::swift, kLine);
    IntRates rates;
    State state;
    Tick now = kMillisecond;
    std::int64_t arrived = 0;
    bool sprayed = false;

    Fixture() {
        state.swift = swift::State{};  // the compiler does not see that start() writes this law's
        start(state, parameters, kLine, 100'000, kBase);
        // A target of 20 us whatever the window and the path.
        parameters.swift.base_target = 20 * kMicrosecond;
        parameters.swift.hop_scale = 0;
        parameters.swift.fs_range = 0;
    }

    /// An ACK `after` the one before, of so many packets more.
    void ack(Tick rtt, std::int64_t packets = 1, Tick after = 0, int links = 4) {
        now += after;
        arrived += packets * 1000;
        Ack event;
        event.now = now;
        event.sent = now - rtt;
        event.acked = arrived;
        event.next = arrived + 50'000;
        event.arrived = arrived;
        event.links = links;
        event.sprayed = sprayed;
        on_ack(state, parameters, rates, event);
    }

    void lose(Tick at, bool timed_out) {
        Loss loss;
        loss.now = at;
        loss.bytes = 1000;
        loss.timed_out = timed_out;
        on_loss(state, parameters, loss);
    }

    double cwnd() const { return state.swift.cwnd; }
};

}  // namespace

TEST_CASE("unit.congestion.swift.starts_with_a_bandwidth_delay_product") {
    Fixture f;
    CHECK(f.state.rate == kLine);
    CHECK(window(f.state, f.parameters) == 100'000);
    f.ack(10 * kMicrosecond);
    CHECK(f.cwnd() == 100);  // it is not increased beyond
    CHECK(f.state.rate == kLine);
}

TEST_CASE("unit.congestion.swift.above_the_target_it_falls_with_the_excess_once_per_round_trip") {
    // 25 us against 20: 1 - 0.8 x 5 / 25 = 0.84.
    Fixture f;
    f.ack(25 * kMicrosecond);
    CHECK(f.cwnd() == doctest::Approx(84));
    CHECK(std::llabs(f.state.rate - 84'000'000'000) <= 1);
    CHECK(std::llabs(window(f.state, f.parameters) - 84'000) <= 1);
    f.ack(25 * kMicrosecond, 1, 24'999 * kNanosecond);
    CHECK(f.cwnd() == doctest::Approx(84));
    // ACKs that may not decrease do not put the next decrease off.
    f.ack(25 * kMicrosecond, 1, 1 * kNanosecond);
    CHECK(f.cwnd() == doctest::Approx(84 * 0.84));
}

TEST_CASE("unit.congestion.swift.falls_by_max_mdf_at_most") {
    // 200 us: 1 - 0.8 x 0.9 = 0.28, below 1 - 0.5.
    Fixture f;
    f.ack(200 * kMicrosecond);
    CHECK(f.cwnd() == doctest::Approx(50));
}

TEST_CASE("unit.congestion.swift.below_the_target_it_grows_by_ai_per_window") {
    Fixture f;
    f.ack(200 * kMicrosecond);
    double expected = 50;
    for (int i = 0; i < 50; ++i) {
        f.ack(10 * kMicrosecond);
        expected += 1 / expected;
    }
    CHECK(f.cwnd() == doctest::Approx(expected));
    CHECK(f.cwnd() == doctest::Approx(51).epsilon(0.001));  // one packet per window
    const double before = f.cwnd();
    f.ack(10 * kMicrosecond, 5);
    CHECK(f.cwnd() == doctest::Approx(before + 5 / before));
    const double at_target = f.cwnd();
    f.ack(20 * kMicrosecond);  // not below the target: a decrease by nothing
    CHECK(f.cwnd() == at_target);
    f.ack(10 * kMicrosecond, 0);  // of nothing new
    CHECK(f.cwnd() == at_target);
}

TEST_CASE("unit.congestion.swift.less_than_a_packet_is_paced_by_the_round_trip") {
    Fixture f;
    f.parameters.min_rate = 1;
    while (f.cwnd() > 0.5 || f.cwnd() == 0) {
        f.ack(400 * kMicrosecond, 0, 400 * kMicrosecond);
    }
    // A packet of 1000 bytes every 400 us / cwnd.
    CHECK(std::llabs(f.state.rate - static_cast<std::int64_t>(20'000'000 * f.cwnd())) <= 1);
    CHECK(window(f.state, f.parameters) < 1000);  // one packet at a time
    const double before = f.cwnd();
    f.ack(10 * kMicrosecond);
    CHECK(f.cwnd() == doctest::Approx(before + 1));  // ai x packets
}

TEST_CASE("unit.congestion.swift.losses_cut_by_max_mdf_once_per_round_trip") {
    Fixture f;
    f.ack(10 * kMicrosecond);
    f.lose(f.now, false);
    CHECK(f.cwnd() == doctest::Approx(50));
    f.lose(f.now + 9 * kMicrosecond, true);
    CHECK(f.cwnd() == doctest::Approx(50));
    f.lose(f.now + 10 * kMicrosecond, true);
    CHECK(f.cwnd() == doctest::Approx(25));
    CHECK(f.state.swift.retransmit_cnt == 2);
    // Five time-outs in a row: the smallest window. min_rate bounds the rate all the same.
    for (int i = 0; i < 3; ++i) {
        f.lose(f.now + 11 * kMicrosecond, true);
    }
    CHECK(f.cwnd() == f.parameters.swift.min_cwnd);
    CHECK(f.state.rate == f.parameters.min_rate);
    f.ack(10 * kMicrosecond);
    CHECK(f.state.swift.retransmit_cnt == 0);
}

TEST_CASE("unit.congestion.swift.target_scales_with_links_and_flows") {
    // fs_range 10 us, fs_min_cwnd 1, fs_max_cwnd 100: a = 10 / (1 - 0.1), b = -a / 10. At a window of 4: a x 0.4.
    Parameters parameters = default_parameters(Law::swift, kLine);
    swift::Parameters& p = parameters.swift;
    p.fs_range = 10 * kMicrosecond;
    p.fs_min_cwnd = 1;
    p.fs_max_cwnd = 100;
    p.hop_scale = 500 * kNanosecond;
    State state;
    start(state, parameters, kLine, 100'000, kBase);
    const double us = kMicrosecond;
    CHECK(swift::target_delay(state, p, 100, 4) == doctest::Approx(10 * us));
    CHECK(swift::target_delay(state, p, 400, 4) == doctest::Approx(10 * us));
    CHECK(swift::target_delay(state, p, 4, 4) == doctest::Approx((10 + 4 / 0.9) * us));
    CHECK(swift::target_delay(state, p, 1, 4) == doctest::Approx(20 * us));
    CHECK(swift::target_delay(state, p, 0.25, 6) == doctest::Approx(21 * us));
    p.base_target = 25 * kMicrosecond;
    CHECK(swift::target_delay(state, p, 100, 2) == doctest::Approx(26 * us));
}

TEST_CASE("unit.congestion.swift.another_share_is_another_window") {
    Fixture f;
    f.ack(10 * kMicrosecond);
    rescale(f.state, f.parameters, 0.25);
    CHECK(f.cwnd() == doctest::Approx(25));
    CHECK(std::llabs(f.state.rate - 25'000'000'000) <= 1);
    CHECK(f.state.swift.last_decrease == kNever);  // no decision of the law's
    f.ack(25 * kMicrosecond);
    CHECK(f.cwnd() == doctest::Approx(21));
    shift(f.state, f.parameters, kSecond);
    CHECK(f.state.swift.last_decrease == f.now + kSecond);
}

TEST_CASE("unit.congestion.swift.conflicts_are_named") {
    Parameters p = default_parameters(Law::swift, kLine);
    p.swift.fs_min_cwnd = 100;
    CHECK(parameter_error(p) == "swift fs_min_cwnd must be below fs_max_cwnd");
    p = default_parameters(Law::swift, kLine);
    p.swift.beta = 2;
    CHECK(parameter_error(p) == "swift beta must be from 0 to 1");
}

TEST_CASE("unit.congestion.swift.several_paths_have_a_larger_window") {
    // 1.5 products from the beginning, of which the first is the line rate: more paces nothing.
    Fixture f;
    start(f.state, f.parameters, kLine, 100'000, kBase, 1.5);
    CHECK(window(f.state, f.parameters) == 150'000);
    f.ack(10 * kMicrosecond);
    CHECK(f.cwnd() == 150);
    f.ack(25 * kMicrosecond);
    CHECK(f.cwnd() == doctest::Approx(126));
    CHECK(std::llabs(window(f.state, f.parameters) - 126'000) <= 1);
    CHECK(f.state.rate > kLine);
    f.ack(25 * kMicrosecond, 1, kMillisecond);
    f.ack(25 * kMicrosecond, 1, kMillisecond);
    CHECK(f.cwnd() == doctest::Approx(126 * 0.84 * 0.84));
    CHECK(std::llabs(f.state.rate - 88'905'600'000) <= 1);
}

TEST_CASE("unit.congestion.swift.of_sprayed_packets_the_mean_delay_counts") {
    // One in ten by a path on which it takes 50 us, the others 10 us: 14 us, below the target of 20 us. Then all 50 us.
    Fixture f;
    f.sprayed = true;
    for (int i = 0; i < 500; ++i) {
        f.ack((i % 10 == 9 ? 50 : 10) * kMicrosecond, 1, 100 * kNanosecond);
    }
    CHECK(f.cwnd() == 100);
    for (int i = 0; i < 100; ++i) {
        f.ack(50 * kMicrosecond, 1, 100 * kNanosecond);
    }
    CHECK(f.cwnd() < 100);
    Fixture single;  // of one path, every packet may be the one by which it decreases
    for (int i = 0; i < 500; ++i) {
        single.ack((i % 10 == 9 ? 50 : 10) * kMicrosecond, 1, 100 * kNanosecond);
    }
    CHECK(single.cwnd() < 70);
}
