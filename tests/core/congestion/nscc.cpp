// SPDX-License-Identifier: Apache-2.0
// NSCC by hand. 100 Gb/s and a base RTT of 12 us, where its factors are 1; packets of 1000 bytes; a target of 12 us.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>

#include "core/congestion/congestion.h"

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr Tick kBase = 12 * kMicrosecond;

struct Fixture {
    Parameters parameters = default_parameters(Law::nscc, kLine);
    IntRates rates;
    State state;
    Tick now = kMillisecond;
    std::int64_t arrived = 0;
    std::int64_t trimmed = 0;

    Fixture() {
        state.nscc = nscc::State{};  // the compiler does not see that start() writes this law's
        start(state, parameters, kLine, 150'000, kBase);
    }

    void ack(Tick delay, bool echo = false, std::int64_t packets = 1, Tick after = 0) {
        now += after;
        arrived += packets * 1000;
        Ack event;
        event.now = now;
        event.sent = now - kBase - delay;
        event.trimmed = trimmed;
        event.acked = arrived;
        event.arrived = arrived;
        event.next = arrived + 50'000;
        event.echo = echo;
        on_ack(state, parameters, rates, event);
    }

    void lose(Tick after = 0, bool timed_out = false) {
        now += after;
        on_loss(state, parameters, Loss{now, 1000, 50'000, timed_out});
    }

    /// A window of so many bytes, with nothing added up yet.
    void settle(double bytes) {
        ack(kBase, true, 0);  // a mark below or at the target, of nothing
        state.nscc.last_decrease = kNever;
        state.nscc.avg_delay = 0;
        rescale(state, parameters, bytes / cwnd());
    }

    double cwnd() const { return state.nscc.cwnd; }
};

}  // namespace

TEST_CASE("unit.congestion.nscc.begins_with_the_largest_window") {
    // 1.5 times 150,000 bytes. A packet leaves only if all of it fits, so not beyond 224,001 in flight.
    Fixture f;
    CHECK(std::llabs(f.state.rate - 150'000'000'000) <= 1);
    CHECK(std::llabs(window(f.state, f.parameters) - 224'001) <= 1);
    f.ack(0);
    CHECK(f.cwnd() == doctest::Approx(225'000));
    CHECK(std::llabs(window(f.state, f.parameters) - 224'001) <= 1);
}

TEST_CASE("unit.congestion.nscc.windows_of_whole_packets_hold_them") {
    // So many packets and not one less: of the rate that stands for them nothing is lost.
    Fixture f;
    for (int packets = 2; packets <= 200; ++packets) {
        f.settle(packets * 1000);
        CHECK(window(f.state, f.parameters) == (packets - 1) * 1000 + 1);
    }
}

TEST_CASE("unit.congestion.nscc.nothing_is_paced") { CHECK_FALSE(Fixture().parameters.pacing); }

TEST_CASE("unit.congestion.nscc.the_smallest_round_trip_is_its_base") {
    // Half of the base RTT: the largest window is half, and delays count from there.
    Fixture f;
    f.parameters.nscc.eta = 0;
    f.ack(-6 * kMicrosecond, true);
    CHECK(f.cwnd() == doctest::Approx(112'500));
    CHECK(f.state.nscc.avg_delay == 0);
    f.ack(0, true);
    CHECK(f.state.nscc.avg_delay == doctest::Approx(0.0125 * 6e6));
}

TEST_CASE("unit.congestion.nscc.a_base_rtt_of_its_own") {
    // 24 us: the largest window is 1.5 x 300,000 bytes, and a loss counts as a delay of 24 us.
    Fixture f;
    f.parameters.nscc.base_rtt = 2 * kBase;
    start(f.state, f.parameters, kLine, 150'000, kBase);
    CHECK(std::llabs(window(f.state, f.parameters) - 449'001) <= 1);
    f.lose();
    CHECK(f.cwnd() == doctest::Approx(449'000));
    CHECK(f.state.nscc.avg_delay == doctest::Approx(0.0125 * 24e6));
}

TEST_CASE("unit.congestion.nscc.below_the_target_it_grows_in_proportion") {
    // alpha = 4 x 1000 bytes / 12 us: at half of the target 2e6 for each packet; nine of them over a window of 1e5.
    Fixture f;
    f.settle(100'000);
    for (int i = 0; i < 8; ++i) {
        f.ack(6 * kMicrosecond);
    }
    CHECK(f.cwnd() == doctest::Approx(100'000));
    f.ack(6 * kMicrosecond);
    CHECK(f.cwnd() == doctest::Approx(100'180));
    f.ack(6 * kMicrosecond, false, 1, kBase);
    CHECK(f.cwnd() == doctest::Approx(100'180));
    f.ack(6 * kMicrosecond, false, 1,
          1);  // more than a base RTT later: eta, and what two packets add
    CHECK(f.cwnd() == doctest::Approx(100'180 + 4e6 / 100'180 + 150));
}

TEST_CASE("unit.congestion.nscc.long_delays_without_marks_let_it_grow_fairly") {
    Fixture f;
    f.settle(100'000);
    for (int i = 0; i < 9; ++i) {
        f.ack(20 * kMicrosecond);
    }
    CHECK(f.cwnd() == doctest::Approx(100'450));  // 5 x 1000 x 1000 x 9 / 1e5
}

TEST_CASE("unit.congestion.nscc.marks_and_delay_cut_it_once_per_round_trip") {
    Fixture f;
    f.parameters.nscc.delay_alpha = 1;
    f.settle(100'000);
    f.ack(24 * kMicrosecond, true, 0);
    CHECK(f.cwnd() == doctest::Approx(60'000));  // 1 - 0.8 x 12 / 24
    f.ack(24 * kMicrosecond, true, 0);
    CHECK(f.cwnd() == doctest::Approx(60'000));
    f.parameters.nscc.eta = 0;
    f.ack(200 * kMicrosecond, true, 0, kBase + 1);
    CHECK(f.cwnd() == doctest::Approx(30'000));  // max_md
}

TEST_CASE("unit.congestion.nscc.marks_without_delay_change_nothing") {
    Fixture f;
    f.settle(100'000);
    for (int i = 0; i < 20; ++i) {
        f.ack(11 * kMicrosecond, true);
    }
    CHECK(f.cwnd() == doctest::Approx(100'000));
}

TEST_CASE("unit.congestion.nscc.an_idle_path_is_filled_fast") {
    Fixture f;
    f.parameters.nscc.alpha = 0;
    f.settle(10'000);
    for (int i = 0; i < 10; ++i) {
        f.ack(500 * kNanosecond);
    }
    CHECK(f.cwnd() == doctest::Approx(10'000));
    f.ack(500 * kNanosecond);
    CHECK(f.cwnd() == doctest::Approx(10'250));
    f.ack(500 * kNanosecond);
    CHECK(f.cwnd() == doctest::Approx(10'500));
    f.ack(2 * kMicrosecond);  // over
    f.ack(500 * kNanosecond);
    CHECK(f.cwnd() == doctest::Approx(10'500));
}

TEST_CASE("unit.congestion.nscc.a_loss_takes_its_bytes_out") {
    Fixture f;
    f.settle(100'000);
    f.lose();
    CHECK(f.cwnd() == doctest::Approx(99'000));
    for (int i = 0; i < 200; ++i) {
        f.lose();
    }
    CHECK(f.cwnd() == doctest::Approx(1000));  // never less than a packet
}

TEST_CASE("unit.congestion.nscc.a_time_out_says_nothing_of_delays") {
    Fixture f;
    f.settle(100'000);
    f.lose(0, true);
    CHECK(f.cwnd() == doctest::Approx(99'000));
    CHECK(f.state.nscc.avg_delay == 0);
    CHECK_FALSE(f.state.nscc.lost);
}

TEST_CASE("unit.congestion.nscc.what_was_trimmed_is_not_in_flight") {
    Fixture f;
    f.settle(200'000);
    f.lose(kMicrosecond);
    f.trimmed = 20'000;
    f.ack(30 * kMicrosecond, true, 1, 2 * kBase + 1);
    CHECK(f.state.nscc.to_ignore == 30'000);
}

TEST_CASE("unit.congestion.nscc.quick_adapt_takes_what_arrived") {
    Fixture f;
    f.settle(200'000);
    f.lose(kMicrosecond);
    CHECK(f.cwnd() == doctest::Approx(199'000));
    f.ack(30 * kMicrosecond, true, 5, kMicrosecond);
    f.ack(30 * kMicrosecond, true, 1, 2 * kBase);
    CHECK(f.cwnd() == doctest::Approx(6000));
    CHECK(f.state.nscc.to_ignore == 50'000);
    // Marks and losses of what was in flight say nothing new.
    f.lose(2 * kBase + 1);
    f.ack(100 * kMicrosecond, true, 1, 2 * kBase + 1);
    CHECK(f.cwnd() == doctest::Approx(6000));
}

TEST_CASE("unit.congestion.nscc.quick_adapt_leaves_windows_that_are_used") {
    Fixture f;
    f.settle(200'000);
    f.lose(kMicrosecond);
    f.ack(11 * kMicrosecond, true, 30, kMicrosecond);  // 30,000 of 28,125
    f.ack(11 * kMicrosecond, true, 1, 2 * kBase);
    CHECK(f.cwnd() > 198'000);
}
