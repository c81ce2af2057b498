// SPDX-License-Identifier: Apache-2.0
// RCCC's arithmetic by hand. 100 Gb/s and a base RTT of 12 us: 150,000 bytes; frames of 1,000 bytes.
#include <doctest/doctest.h>

#include "core/congestion/congestion.h"

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr Tick kBase = 12 * kMicrosecond;

}  // namespace

TEST_CASE("unit.congestion.rccc.credits_are_one_and_a_half_products") {
    rccc::Parameters p;
    CHECK(rccc::most_credits(p, kLine, kBase, 1000) == 225);
    p.maxwnd = 1;
    CHECK(rccc::most_credits(p, kLine, kBase, 1000) == 150);
    p.base_rtt = 2 * kBase;
    CHECK(rccc::most_credits(p, kLine, kBase, 1000) == 300);
    CHECK(rccc::most_credits(p, kLine, kBase, 1001) == 300);       // 299.7
    CHECK(rccc::most_credits(p, kLine / 1000, kBase, 1000) == 1);  // never none
    CHECK(rccc::most_credits(p, kLine * 100, kBase, 1000) ==
          8191);  // half of what packets can name
}

TEST_CASE("unit.congestion.rccc.pulls_are_paced_below_the_links_rate") {
    // Four frames of 1,000 bytes take 320 ns; at 80% of the rate 400.
    rccc::Parameters p;
    p.pull_rate = 0.8;
    CHECK(rccc::pull_gap(p, 4, 1000, kLine) == 400 * kNanosecond);
    CHECK(rccc::pull_gap(p, 1, 1000, kLine) == 100 * kNanosecond);
}

TEST_CASE("unit.congestion.rccc.the_sender_has_its_links_rate_and_no_window") {
    const Parameters p = default_parameters(Law::rccc, kLine);
    CHECK_FALSE(p.window);
    CHECK(traits(Law::rccc).credits);
    State state;
    start(state, p, kLine, 150'000, kBase);
    Ack ack;
    ack.now = kMillisecond;
    ack.echo = true;
    on_ack(state, p, IntRates{}, ack);
    on_loss(state, p, Loss{kMillisecond, 1000, 0, false});
    CHECK(state.rate == kLine);
    CHECK(window(state, p) > std::int64_t{1} << 60);
}
