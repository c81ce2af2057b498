// SPDX-License-Identifier: Apache-2.0
// DCTCP by hand: 100 Gb/s, payload 1000 B, g 1/16, step 615 Mb/s.
#include <doctest/doctest.h>

#include <cstdint>

#include "core/congestion/congestion.h"

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;

struct Fixture {
    Parameters parameters = default_parameters(Law::dctcp, kLine);
    IntRates rates;
    State state;

    Fixture() { start(state, parameters, kLine, 78'000, 6240 * kNanosecond); }

    void ack(std::int64_t acked, std::int64_t next, bool echo) {
        Ack event;
        event.acked = acked;
        event.next = next;
        event.echo = echo;
        on_ack(state, parameters, rates, event);
    }
};

}  // namespace

TEST_CASE("unit.congestion.dctcp.first_cut_halves") {
    // alpha starts at 1: the first mark halves the rate, whatever share is marked.
    Fixture f;
    f.ack(1000, 78'000, false);
    CHECK(f.state.rate == kLine);
    CHECK(f.state.dctcp.batch == 79);
    f.ack(2000, 80'000, true);
    CHECK(f.state.rate == 50'000'000'000);
    CHECK(f.state.dctcp.high_seq == 80'000);
    CHECK(window(f.state, f.parameters) == 39'000);
    CHECK_FALSE(f.state.retime);
}

TEST_CASE("unit.congestion.dctcp.one_cut_per_window_and_alpha_per_window") {
    Fixture f;
    f.ack(1000, 78'000, false);
    for (std::int64_t i = 2; i <= 21; ++i) {
        f.ack(1000 * i, 80'000, true);  // 20 marks, one cut
    }
    CHECK(f.state.rate == 50'000'000'000);
    // Beyond 78,000: alpha = 15/16 + 20/79/16 = 1205/1264; still in the cut's window (80,000), so
    // neither a second cut nor a step.
    f.ack(79'000, 118'000, false);
    CHECK(f.state.dctcp.alpha == doctest::Approx(1205.0 / 1264.0).epsilon(1e-15));
    CHECK(f.state.rate == 50'000'000'000);
    CHECK(f.state.dctcp.batch == 40);  // (118,000 - 79,000) / 1000 + 1
    // Beyond 80,000 the cut's window is over: a mark cuts by alpha / 2 = 1205 / 2528:
    // 50e9 x 1323 / 2528 = 26,166,930,379.7.
    f.ack(81'000, 119'000, true);
    CHECK(f.state.rate == 26'166'930'379);
    CHECK(f.state.dctcp.high_seq == 119'000);
    // Beyond 118,000: alpha = 15/16 x 1205/1264 + 1/40/16, no step inside the window of the cut.
    f.ack(118'500, 140'000, false);
    CHECK(f.state.dctcp.alpha ==
          doctest::Approx(15.0 / 16 * 1205.0 / 1264.0 + 1.0 / 640).epsilon(1e-15));
    CHECK(f.state.rate == 26'166'930'379);
    // The next window has no mark: one step.
    f.ack(141'000, 160'000, false);
    CHECK(f.state.rate == 26'166'930'379 + 615'000'000);
    f.ack(142'000, 161'000, false);
    CHECK(f.state.rate == 26'166'930'379 + 615'000'000);
}

TEST_CASE("unit.congestion.dctcp.share_of_marks_is_at_most_one") {
    // 3 marks in a window counted as 1 packet: alpha stays 1 rather than rising above.
    Fixture f;
    f.ack(500, 900, false);
    CHECK(f.state.dctcp.batch == 1);
    f.ack(600, 900, true);
    f.ack(700, 900, true);
    f.ack(950, 2000, true);
    CHECK(f.state.dctcp.alpha == 1.0);
}

TEST_CASE("unit.congestion.dctcp.never_below_min_rate_nor_above_line_rate") {
    Fixture f;
    std::int64_t acked = 1000;
    for (int i = 0; i < 50; ++i, acked += 1000) {
        f.ack(acked, acked, true);
    }
    CHECK(f.state.rate == f.parameters.min_rate);
    for (int i = 0; i < 500; ++i, acked += 1000) {
        f.ack(acked, acked, false);
    }
    CHECK(f.state.rate == kLine);
}

TEST_CASE("unit.congestion.dctcp.ack_beyond_a_rewound_sender") {
    // After a go-back snd_nxt may lie below the ACK: nothing in flight, a window of one packet.
    Fixture f;
    f.ack(1000, 78'000, false);
    f.ack(79'000, 70'000, false);
    CHECK(f.state.dctcp.batch == 1);
    CHECK(f.state.dctcp.last_update == 70'000);
}
