// SPDX-License-Identifier: Apache-2.0
// A law that sleeps through a steady phase (advance) against one that gets every ACK and runs every
// timer of it: equal to the last bit, in a sequence space that skipped as many packets.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>

#include "core/congestion/congestion.h"

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr std::int64_t kPayload = 1000;

/// A flow of which an ACK comes every `gap`, with `flight` packets in flight as it finds them.
struct Steady {
    Parameters parameters;
    IntRates rates;
    State state;
    std::int64_t acked = 0;  ///< packets
    std::int64_t flight = 50;
    Tick now = kMillisecond;
    Tick gap = 87 * kNanosecond;
    Tick rtt = 4'321 * kNanosecond;

    explicit Steady(Law law) : parameters(default_parameters(law, kLine)) {
        start(state, parameters, kLine, 78'000, 6240 * kNanosecond);
    }

    void ack(bool echo = false) {
        ++acked;
        now += gap;
        Ack event;
        event.now = now;
        event.sent = now - rtt;
        event.acked = acked * kPayload;
        event.next = (acked + flight) * kPayload;
        event.echo = echo;
        if (next_timer(state, parameters) < now) {
            on_timer(state, parameters, now - 1);
        }
        on_ack(state, parameters, rates, event);
    }

    void acks(std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            ack();
        }
    }

    /// The same phase asleep: `count` ACKs that never come.
    void sleep(std::int64_t count, double marked = 0) {
        const Tick dt = count * gap;
        now += dt;
        Observed seen;
        seen.until = now;
        seen.packets = count;
        seen.acked = acked * kPayload;
        seen.flight = flight * kPayload;
        seen.marked = marked;
        shift(state, parameters, dt);
        advance(state, parameters, dt, seen);
    }
};

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// A mark of the law that slept, where its flow would be.
std::int64_t placed(std::int64_t mark, std::int64_t skipped) { return mark + skipped * kPayload; }

}  // namespace

TEST_CASE("unit.congestion.advance.dctcp_by_windows_is_dctcp_by_acks") {
    std::mt19937_64 random(11);
    for (int round = 0; round < 2000; ++round) {
        Steady awake(Law::dctcp);
        awake.flight = static_cast<std::int64_t>(random() % 60);
        for (std::uint64_t i = random() % 400; i > 0; --i) {
            awake.ack(random() % 5 == 0);
        }
        awake.ack();
        if (random() % 2 == 0) {  // else it may be in a cut's window, below the line rate
            awake.acks(20'000);
        }
        Steady asleep = awake;
        const auto count = static_cast<std::int64_t>(random() % 3000);
        awake.acks(count);
        asleep.sleep(count);
        const auto& a = awake.state.dctcp;
        const auto& b = asleep.state.dctcp;
        REQUIRE(same_bits(a.alpha, b.alpha));
        CHECK(a.batch == b.batch);
        CHECK(a.marked == b.marked);
        CHECK(a.reduced == b.reduced);
        CHECK(awake.state.rate == asleep.state.rate);
        CHECK(a.last_update == placed(b.last_update, count));
        CHECK(a.high_seq == placed(b.high_seq, count));
        CHECK(echoes(awake.state, awake.parameters) == echoes(asleep.state, asleep.parameters));
    }
}

TEST_CASE("unit.congestion.advance.dctcp_a_long_phase_ends_in_an_alpha_of_nothing") {
    // A second at 400 Gb/s: alpha decays to a denormal that rounds to itself.
    Steady awake(Law::dctcp);
    awake.acks(1);
    Steady asleep = awake;
    awake.acks(2'000'000);
    asleep.sleep(2'000'000);
    CHECK(awake.state.dctcp.alpha < 1e-300);
    CHECK(same_bits(awake.state.dctcp.alpha, asleep.state.dctcp.alpha));
    CHECK(awake.state.dctcp.last_update == placed(asleep.state.dctcp.last_update, 2'000'000));
}

TEST_CASE("unit.congestion.advance.dctcp_a_sawtooth_keeps_its_place_and_alpha_finds_its_share") {
    // Half of the windows' packets marked in one window of four, 50 packets each.
    Steady flow(Law::dctcp);
    flow.flight = 49;
    const auto sawtooth = [](Steady& of, int windows) {
        for (int i = 0; i < windows * 50; ++i) {
            of.ack(of.acked / 50 % 4 == 0 && of.acked % 2 == 0);
        }
    };
    sawtooth(flow, 400);
    const double regime = flow.state.dctcp.alpha;
    CHECK(regime > 0.08);
    CHECK(regime < 0.2);
    const std::int64_t mark = flow.state.dctcp.last_update;
    const std::int64_t rate = flow.state.rate;
    flow.sleep(10'000, 0.125);
    CHECK(flow.state.dctcp.alpha == doctest::Approx(regime).epsilon(0.35));
    CHECK(flow.state.rate == rate);
    CHECK(flow.state.dctcp.last_update == mark);
    // From far above it goes down as alpha does, but not below what these marks make of it.
    flow.state.dctcp.alpha = 0.9;
    Steady shortly = flow;
    shortly.sleep(500, 0.125);
    CHECK(shortly.state.dctcp.alpha > 0.4);
    CHECK(shortly.state.dctcp.alpha < 0.7);
    flow.sleep(10'000, 0.125);
    CHECK(flow.state.dctcp.alpha == doctest::Approx(regime).epsilon(0.35));
    flow.state.dctcp.alpha = 0.001;
    flow.sleep(10'000, 0.125);
    CHECK(flow.state.dctcp.alpha == doctest::Approx(regime).epsilon(0.35));
}

TEST_CASE("unit.congestion.advance.dcqcn_runs_its_timers") {
    std::mt19937_64 random(12);
    int recovering = 0;
    for (int round = 0; round < 1000; ++round) {
        Steady awake(Law::dcqcn);
        awake.parameters.dcqcn.increase_interval = (5 + random() % 50) * kMicrosecond;
        for (std::uint64_t i = random() % 300; i > 0; --i) {
            awake.ack(random() % 9 == 0);
        }
        awake.acks(static_cast<std::int64_t>(50 + random() % 20'000));
        Steady asleep = awake;
        const auto count = static_cast<std::int64_t>(random() % 5000);
        const std::int64_t rate = awake.state.rate;
        awake.acks(count);
        asleep.sleep(count);
        on_timer(awake.state, awake.parameters, awake.now - 1);
        const auto& a = awake.state.dcqcn;
        const auto& b = asleep.state.dcqcn;
        REQUIRE(same_bits(a.alpha, b.alpha));
        CHECK(a.alpha_due == b.alpha_due);
        CHECK(a.decrease_due == b.decrease_due);
        CHECK(a.increase_due == b.increase_due);
        CHECK(a.target_rate == b.target_rate);
        CHECK(a.stage == b.stage);
        CHECK(a.alpha_marked == b.alpha_marked);
        CHECK(awake.state.rate == asleep.state.rate);
        recovering += rate != awake.state.rate ? 1 : 0;
    }
    CHECK(recovering > 100);
}

TEST_CASE("unit.congestion.advance.dcqcn_with_echoes_stands_still") {
    Steady flow(Law::dcqcn);
    for (int i = 0; i < 5000; ++i) {
        flow.ack(i % 400 == 0);
    }
    const State before = flow.state;
    flow.sleep(4000, 1.0 / 400);
    const Tick dt = 4000 * flow.gap;
    CHECK(flow.state.rate == before.rate);
    CHECK(flow.state.dcqcn.alpha == before.dcqcn.alpha);
    CHECK(flow.state.dcqcn.increase_due == before.dcqcn.increase_due + dt);
    CHECK(flow.state.dcqcn.alpha_due == before.dcqcn.alpha_due + dt);
}

TEST_CASE("unit.congestion.advance.timely_by_round_trips_is_timely_by_acks") {
    std::mt19937_64 random(13);
    for (int round = 0; round < 500; ++round) {
        Steady awake(Law::timely);
        awake.flight = static_cast<std::int64_t>(random() % 60);
        for (std::uint64_t i = 1 + random() % 400; i > 0; --i) {
            awake.rtt = static_cast<Tick>(4'000 + random() % 3000) * kNanosecond;
            awake.ack();
        }
        // Until the rate is back at the line's and the last round trip is like those to come.
        awake.acks(awake.flight + 2);
        Steady asleep = awake;
        const auto count = static_cast<std::int64_t>(random() % 3000);
        awake.acks(count);
        asleep.sleep(count);
        REQUIRE(same_bits(awake.state.timely.rtt_diff, asleep.state.timely.rtt_diff));
        CHECK(awake.state.timely.stage == asleep.state.timely.stage);
        CHECK(awake.state.timely.last_rtt_ns == asleep.state.timely.last_rtt_ns);
        CHECK(awake.state.timely.last_update == placed(asleep.state.timely.last_update, count));
        CHECK(awake.state.rate == asleep.state.rate);
    }
}

TEST_CASE("unit.congestion.advance.timely_in_a_swing_stands_still") {
    Steady flow(Law::timely);
    flow.acks(60);
    flow.rtt = 600 * kMicrosecond;  // above t_high: every round trip like this one cuts
    flow.acks(60);
    CHECK(flow.state.rate < kLine);
    const State before = flow.state;
    flow.sleep(5000);
    CHECK(flow.state.rate == before.rate);
    CHECK(flow.state.timely.rtt_diff == before.timely.rtt_diff);
    CHECK(flow.state.timely.last_update == before.timely.last_update);
}

TEST_CASE("unit.congestion.advance.no_packets_and_no_time_change_nothing") {
    for (const Law law : {Law::hpcc, Law::dcqcn, Law::timely, Law::dctcp, Law::none}) {
        CAPTURE(law_name(law));
        Steady flow(law);
        for (int i = 0; i < 500; ++i) {
            flow.ack(i == 100);
        }
        on_timer(flow.state, flow.parameters, flow.now - 1);
        const State before = flow.state;
        flow.sleep(0);
        CHECK(flow.state.rate == before.rate);
        CHECK(next_timer(flow.state, flow.parameters) == next_timer(before, flow.parameters));
        CHECK(flow.state.dctcp.alpha == before.dctcp.alpha);
    }
}

TEST_CASE("unit.congestion.a_law_wakes_with_another_share") {
    for (const Law law : {Law::hpcc, Law::dcqcn, Law::timely, Law::dctcp}) {
        INFO(law_name(law));
        Steady flow(law);
        flow.state.rate = kLine / 2;
        if (law == Law::hpcc) {
            flow.state.hpcc.current_rate = kLine / 4;
        } else if (law == Law::dcqcn) {
            flow.state.dcqcn.target_rate = kLine / 4 * 3;
            flow.state.dcqcn.increase_due = flow.now + kMillisecond;
        } else if (law == Law::timely) {
            flow.state.timely.current_rate = flow.state.rate;
        }
        State same = flow.state;
        rescale(same, flow.parameters, 1.0);
        CHECK(std::memcmp(&same, &flow.state, sizeof same) == 0);
        State less = flow.state;
        rescale(less, flow.parameters, 0.5);
        CHECK(less.rate == kLine / 4);
        if (law == Law::hpcc) {
            CHECK(less.hpcc.current_rate == kLine / 8);
            CHECK(window(less, flow.parameters) == 78'000 / 4);
        } else if (law == Law::dcqcn) {
            CHECK(less.dcqcn.target_rate == kLine / 8 * 3);
        } else if (law == Law::timely) {
            CHECK(less.timely.current_rate == less.rate);
        }
        rescale(less, flow.parameters, 1e-9);
        CHECK(less.rate == flow.parameters.min_rate);
        rescale(less, flow.parameters, 1e9);
        CHECK(less.rate == kLine);
    }
    Steady recovered(Law::dcqcn);
    rescale(recovered.state, recovered.parameters, 0.5);
    CHECK(recovered.state.rate == kLine);
}
