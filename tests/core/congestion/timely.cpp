// SPDX-License-Identifier: Apache-2.0
// TIMELY by hand, 100 Gb/s defaults: t_low 50 us, t_high 500 us, min_rtt 20 us, ewma 0.875,
// beta 0.8, steps 100 and 500 Mb/s.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>

#include "core/congestion/congestion.h"

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;

bool near(std::int64_t value, std::int64_t expected) { return std::llabs(value - expected) <= 1; }

struct Fixture {
    Parameters parameters = default_parameters(Law::timely, kLine);
    IntRates rates;
    State state;
    std::int64_t acked = 0;
    bool sprayed = false;

    Fixture() {
        state.timely = timely::State{};  // the compiler does not see that start() writes this law's
        start(state, parameters, kLine, 78'000, 6240 * kNanosecond);
    }

    /// An ACK that closes the round trip, with the given round-trip time.
    void round_trip(Tick rtt) {
        acked = state.timely.last_update + 1000;
        ack(acked, acked + 50'000, rtt);
    }

    void ack(std::int64_t acknowledged, std::int64_t next, Tick rtt) {
        Ack event;
        event.now = kMillisecond + rtt;
        event.sent = kMillisecond;
        event.acked = acknowledged;
        event.next = next;
        event.sprayed = sprayed;
        on_ack(state, parameters, rates, event);
    }
};

}  // namespace

TEST_CASE("unit.congestion.timely.first_round_trip_only_records") {
    Fixture f;
    f.ack(1000, 50'000, 600 * kMicrosecond);
    CHECK(f.state.rate == kLine);
    CHECK(f.state.timely.last_update == 50'000);
    CHECK(f.state.timely.last_rtt_ns == 600'000);
    CHECK_FALSE(f.state.retime);
    CHECK(window(f.state, f.parameters) > (std::int64_t{1} << 60));
}

TEST_CASE("unit.congestion.timely.one_update_per_round_trip") {
    Fixture f;
    f.ack(1000, 50'000, 40 * kMicrosecond);
    f.ack(2000, 51'000, 900 * kMicrosecond);
    f.ack(50'000, 99'000, 900 * kMicrosecond);
    CHECK(f.state.rate == kLine);
    CHECK(f.state.timely.last_rtt_ns == 40'000);
}

TEST_CASE("unit.congestion.timely.above_t_high_the_rate_falls_with_the_excess") {
    // rtt 1000 us: 1 - 0.8 (1 - 500 / 1000) = 0.6: 60 Gb/s. Then 625 us: 1 - 0.8 x 0.2 = 0.84.
    Fixture f;
    f.round_trip(40 * kMicrosecond);
    f.round_trip(1000 * kMicrosecond);
    CHECK(near(f.state.rate, 60'000'000'000));
    f.round_trip(625 * kMicrosecond);
    CHECK(near(f.state.rate, 50'400'000'000));
}

TEST_CASE("unit.congestion.timely.rising_rtt_between_the_thresholds_cuts_by_the_gradient") {
    // 100 -> 104 us: diff = 0.875 x 4000 = 3500 ns, gradient 0.175, factor 1 - 0.14 = 0.86.
    // 104 -> 104 us: diff = 0.125 x 3500 = 437.5, gradient 0.021875, factor 0.9825: 84.495 Gb/s.
    Fixture f;
    f.round_trip(100 * kMicrosecond);
    f.round_trip(104 * kMicrosecond);
    CHECK(near(f.state.rate, 86'000'000'000));
    CHECK(f.state.timely.rtt_diff == 3500.0);
    f.round_trip(104 * kMicrosecond);
    CHECK(near(f.state.rate, 84'495'000'000));
    CHECK(f.state.timely.rtt_diff == 437.5);
}

TEST_CASE("unit.congestion.timely.a_gradient_beyond_1_over_beta_leaves_the_minimum") {
    // 100 -> 140 us: diff 35,000 ns, gradient 1.75, factor 1 - 1.4 < 0: min rate.
    Fixture f;
    f.round_trip(100 * kMicrosecond);
    f.round_trip(140 * kMicrosecond);
    CHECK(f.state.rate == f.parameters.min_rate);
}

TEST_CASE("unit.congestion.timely.five_steps_then_hyper_steps") {
    // From 1 Gb/s with falling or low RTT: +100 Mb/s five times, then +500 Mb/s each.
    Fixture f;
    f.round_trip(100 * kMicrosecond);
    f.round_trip(140 * kMicrosecond);
    for (std::int64_t i = 1; i <= 5; ++i) {
        f.round_trip(30 * kMicrosecond);
        CHECK(f.state.rate == 1'000'000'000 + i * 100'000'000);
    }
    f.round_trip(30 * kMicrosecond);
    CHECK(f.state.rate == 2'000'000'000);
    // Between the thresholds a flat or falling RTT increases too.
    f.round_trip(60 * kMicrosecond);  // diff > 0: a cut, which resets the stage
    CHECK(f.state.timely.stage == 0);
    const std::int64_t rate = f.state.rate;
    f.round_trip(55 * kMicrosecond);  // diff = 0.125 x 26,250ish - 4375 < 0
    CHECK(f.state.rate == rate + 100'000'000);
}

TEST_CASE("unit.congestion.timely.increase_stops_at_line_rate") {
    Fixture f;
    f.round_trip(30 * kMicrosecond);
    f.round_trip(30 * kMicrosecond);
    CHECK(f.state.rate == kLine);
    CHECK(f.state.timely.stage == 1);
}

TEST_CASE("unit.congestion.timely.the_thresholds_belong_to_the_gradient_zone") {
    // Exactly 50 us and exactly 500 us, flat: neither below t_low nor above t_high; gradient 0
    // increases.
    for (const Tick rtt : {50 * kMicrosecond, 500 * kMicrosecond}) {
        Fixture f;
        f.state.timely.current_rate = 10'000'000'000;
        f.round_trip(rtt);
        f.round_trip(rtt);
        CHECK(f.state.rate == 10'100'000'000);
    }
}

TEST_CASE("unit.congestion.timely.rtt_is_truncated_to_nanoseconds") {
    Fixture f;
    f.round_trip(100 * kMicrosecond + 999);
    CHECK(f.state.timely.last_rtt_ns == 100'000);
}

TEST_CASE("unit.congestion.timely.of_sprayed_packets_the_mean_of_a_round_trip_counts") {
    // Two paths, of 60 and 100 us, by turns. The ACK that ends a round trip is of one, then of the other: for single packets
    // that is a slope.
    Fixture single;
    Fixture sprayed;
    sprayed.sprayed = true;
    for (Fixture* f : {&single, &sprayed}) {
        for (int trip = 0; trip < 8; ++trip) {
            const std::int64_t end = f->state.timely.last_update;
            for (int i = 200; i > 0; --i) {
                f->ack(end, end + 50'000, ((i + trip) % 2 == 0 ? 60 : 100) * kMicrosecond);
            }
            f->ack(end + 1000, end + 50'000, (trip % 2 == 0 ? 60 : 100) * kMicrosecond);
        }
    }
    CHECK(single.state.rate < kLine / 2);
    CHECK(sprayed.state.rate > kLine * 95 / 100);
}
