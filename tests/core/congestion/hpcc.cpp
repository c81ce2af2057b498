// SPDX-License-Identifier: Apache-2.0
// HPCC by hand: one 100 Gb/s hop unless said otherwise, T = 6240 ns, W = 78,000 B, INT units of
// 512 B (sent) and 320 B (queued). Results may differ from the real-number derivation by the
// rounding of doubles, so derived rates are asserted to 1 bit/s.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>

#include "core/congestion/congestion.h"
#include "core/congestion/int_record.h"

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr std::int64_t kWindow = 78'000;
constexpr Tick kBaseRtt = 6240 * kNanosecond;

bool near(std::int64_t value, std::int64_t expected) { return std::llabs(value - expected) <= 1; }

struct Fixture {
    Parameters parameters = default_parameters(Law::hpcc, kLine);
    IntRates rates;
    State state;

    Fixture() { rates.bits_per_second[0] = kLine; }

    void begin() { start(state, parameters, kLine, kWindow, kBaseRtt); }

    IntRecord record(std::int64_t ns, std::int64_t sent, std::int64_t queue) const {
        return pack_int(ns * kNanosecond, sent, queue, 0, int_units(4));
    }

    void ack(std::int64_t acked, std::int64_t next, std::initializer_list<IntRecord> hops) {
        Ack event;
        event.acked = acked;
        event.next = next;
        event.hops = hops.begin();
        event.hop_count = static_cast<int>(hops.size());
        on_ack(state, parameters, rates, event);
    }
};

}  // namespace

TEST_CASE("unit.congestion.hpcc.starts_at_line_rate_and_retimes") {
    Fixture f;
    f.begin();
    CHECK(f.state.rate == kLine);
    CHECK(f.state.retime);
    CHECK(window(f.state, f.parameters) == kWindow);
    CHECK(next_timer(f.state, f.parameters) == kNever);
    CHECK(slowest_period(f.parameters) == 0);
}

TEST_CASE("unit.congestion.hpcc.first_round_trip_only_records") {
    Fixture f;
    f.begin();
    f.ack(1000, 78'000, {f.record(100, 5120, 3200)});
    CHECK(f.state.rate == kLine);
    CHECK(f.state.hpcc.last_update == 78'000);
    CHECK(f.state.hpcc.hop[0] == f.record(100, 5120, 3200));
    CHECK(f.state.hpcc.u == 1.0);
}

TEST_CASE("unit.congestion.hpcc.fast_reaction_keeps_the_current_rate") {
    // 51,200 B in 4096 ns are 100 Gb/s: u_hop = 1, so u stays 1 and the rate is
    // 100 Gb/s x 0.95 + 50 Mb/s = 95.05 Gb/s, however many fast reactions there are.
    Fixture f;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 0)});
    f.ack(2000, 79'000, {f.record(4096, 51'200, 0)});
    CHECK(near(f.state.rate, 95'050'000'000));
    f.ack(3000, 80'000, {f.record(8192, 102'400, 0)});
    CHECK(near(f.state.rate, 95'050'000'000));
    CHECK(f.state.hpcc.current_rate == kLine);
    CHECK(f.state.hpcc.last_update == 78'000);
    // The first ACK beyond 78,000 B makes 95.05 Gb/s the current rate; the next fast reaction
    // starts from it: 95.05 x 0.95 + 0.05 = 90.3475 Gb/s.
    f.ack(79'000, 156'000, {f.record(12'288, 153'600, 0)});
    CHECK(near(f.state.hpcc.current_rate, 95'050'000'000));
    CHECK(f.state.hpcc.last_update == 156'000);
    f.ack(80'000, 157'000, {f.record(16'384, 204'800, 0)});
    CHECK(near(f.state.rate, 90'347'500'000));
    // Window: 78,000 B x 90.3475 / 100 = 70,471.05 B.
    CHECK(window(f.state, f.parameters) == 70'471);
}

TEST_CASE("unit.congestion.hpcc.without_fast_reaction_acks_between_updates_do_nothing") {
    Fixture f;
    f.parameters.hpcc.fast_reaction = false;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 0)});
    f.ack(2000, 79'000, {f.record(4096, 51'200, 0)});
    CHECK(f.state.rate == kLine);
    CHECK(f.state.hpcc.hop[0] == f.record(0, 0, 0));
}

TEST_CASE("unit.congestion.hpcc.queue_term_takes_the_shorter_of_two_queues") {
    // Queues 16,000 then 32,000 B: the smaller is 16,000 / 78,000 of the window. The link is busy
    // (u 1) and 8192 ns >= T, so u = 94,000 / 78,000 and the rate is
    // 95 Gb/s x 78 / 94 + 50 Mb/s = 78,879,787,234 bit/s.
    Fixture f;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 16'000)});
    f.ack(2000, 79'000, {f.record(8192, 102'400, 32'000)});
    CHECK(near(f.state.rate, 78'879'787'234));
}

TEST_CASE("unit.congestion.hpcc.without_a_window_the_queue_is_measured_in_bdp") {
    // T x line rate = 6240 ns x 100 Gb/s / 8 = 78,000 B: the same as with that window.
    Fixture f;
    f.parameters.window = false;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 16'000)});
    f.ack(2000, 79'000, {f.record(8192, 102'400, 32'000)});
    CHECK(near(f.state.rate, 78'879'787'234));
}

TEST_CASE("unit.congestion.hpcc.average_weighs_by_the_busiest_hops_interval") {
    // Hop 0: 0.5 over 8192 ns. Hop 1: 25,600 B in 1024 ns, u = 2, the busiest, over 1024 ns:
    // u = (1 x (6240 - 1024) + 2 x 1024) / 6240 = 7264 / 6240.
    // Rate = 95 Gb/s x 6240 / 7264 + 50 Mb/s = 81,657,929,515 bit/s (95e9 x 6240 / 7264 =
    // 81,607,929,515.4).
    Fixture f;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 0), f.record(0, 0, 0)});
    f.ack(2000, 79'000, {f.record(8192, 51'200, 0), f.record(1024, 25'600, 0)});
    CHECK(near(f.state.rate, 81'657'929'515));
}

TEST_CASE("unit.congestion.hpcc.five_additive_steps_then_a_multiplicative_one") {
    // A hop at a quarter of its rate over 8192 ns >= T: u = 0.25 at each update. From 10 Gb/s five
    // updates add 50 Mb/s each; the sixth goes to 10.25 Gb/s x 0.95 / 0.25 + 50 Mb/s = 39 Gb/s.
    Fixture f;
    f.begin();
    f.state.hpcc.current_rate = 10'000'000'000;
    f.ack(1, 10, {f.record(0, 0, 0)});
    for (std::int64_t i = 1; i <= 5; ++i) {
        f.ack(10 * i + 1, 10 * i + 10, {f.record(8192 * i, 25'600 * i, 0)});
        CHECK(f.state.rate == 10'000'000'000 + i * 50'000'000);
        CHECK(f.state.hpcc.stage == i);
    }
    f.ack(61, 70, {f.record(8192 * 6, 25'600 * 6, 0)});
    CHECK(near(f.state.rate, 39'000'000'000));
    CHECK(f.state.hpcc.stage == 0);
}

TEST_CASE("unit.congestion.hpcc.makes_its_next_step_where_it_is_told_to") {
    Fixture f;
    f.begin();
    f.state.hpcc.current_rate = 10'000'000'000;
    f.ack(1, 10, {f.record(0, 0, 0)});
    set_increase_stage(f.state, f.parameters, 5, 30);
    CHECK(increase_stage(f.state, f.parameters) == 5);
    f.ack(30, 40, {f.record(8192, 25'600, 0)});
    CHECK(f.state.hpcc.current_rate == 10'000'000'000);
    f.ack(31, 40, {f.record(8192 * 2, 25'600 * 2, 0)});
    CHECK(near(f.state.hpcc.current_rate, 38'050'000'000));  // the jump
    CHECK(f.state.hpcc.last_update == 40);

    // Of a flow that nothing has been acknowledged of, the first ACK is still only recorded.
    f.begin();
    set_increase_stage(f.state, f.parameters, 2, 30);
    f.ack(1, 10, {f.record(0, 0, 0)});
    CHECK(f.state.hpcc.hop[0] == f.record(0, 0, 0));
    CHECK(f.state.rate == kLine);
    CHECK(f.state.hpcc.last_update == 30);
    CHECK(f.state.hpcc.stage == 2);
}

TEST_CASE("unit.congestion.hpcc.compares_the_next_record_with_none_that_it_has_forgotten") {
    Fixture f;
    f.begin();
    f.state.hpcc.current_rate = 10'000'000'000;
    f.ack(1, 10, {f.record(0, 0, 0)});
    forget_records(f.state, f.parameters);
    const std::int64_t rate = f.state.rate;
    f.ack(2, 20, {});
    f.ack(20, 30, {});
    f.ack(21, 40, {f.record(8192, 100'000, 0)});  // as busy as can be
    CHECK(f.state.rate == rate);
    CHECK(f.state.hpcc.hop[0] == f.record(8192, 100'000, 0));
    f.ack(22, 50, {f.record(8192 * 2, 125'600, 0)});
    CHECK(f.state.hpcc.current_rate == 10'050'000'000);
    CHECK(f.state.hpcc.last_update == 50);
    // Of a flow that nothing has been acknowledged of, too.
    f.begin();
    forget_records(f.state, f.parameters);
    f.ack(1, 10, {});
    f.ack(2, 20, {f.record(0, 0, 0)});
    CHECK(f.state.hpcc.hop[0] == f.record(0, 0, 0));
    CHECK(f.state.rate == kLine);
}

TEST_CASE("unit.congestion.hpcc.resumes_with_the_rate_that_it_sends_at") {
    // Fast reaction has slowed it down for a moment; the rate that it decides by is still another.
    Fixture f;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 200'000)});
    f.ack(2000, 79'000, {f.record(4096, 51'200, 200'000)});
    REQUIRE(f.state.rate < f.state.hpcc.current_rate / 2);
    resume(f.state, f.parameters, 2.0, 0);
    CHECK(f.state.hpcc.current_rate == f.state.rate);
    CHECK(f.state.hpcc.u == 0.95);
}

TEST_CASE("unit.congestion.hpcc.stays_between_min_rate_and_line_rate") {
    Fixture f;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 0)});
    // A quarter used: 100 Gb/s + 50 Mb/s is above the line rate.
    f.ack(2000, 79'000, {f.record(8192, 25'600, 0)});
    CHECK(f.state.rate == kLine);
    // 10 MB queued at both records: u above 128, 95 Gb/s / 128 is below 1 Gb/s.
    f.ack(3000, 79'000, {f.record(16'384, 51'200, 10'000'000)});
    f.ack(4000, 79'000, {f.record(24'576, 76'800, 10'000'000)});
    CHECK(f.state.rate == f.parameters.min_rate);
    CHECK(f.state.hpcc.u > 128);
}

TEST_CASE("unit.congestion.hpcc.faster_hop_counts_for_less") {
    // A 400 Gb/s hop that sends 100 Gb/s and queues 16,000 B: u = 1/4 + 16,000 x (1/4) / 78,000
    // = 94,000 / 312,000, below eta: the additive step, cut off at the line rate, so look at u.
    Fixture f;
    f.rates.bits_per_second[0] = 4 * kLine;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 16'000)});
    f.ack(2000, 79'000, {f.record(8192, 102'400, 16'000)});
    CHECK(f.state.hpcc.u == doctest::Approx(94.0 / 312.0).epsilon(1e-12));
}

TEST_CASE("unit.congestion.hpcc.time_wrap_between_records_is_harmless") {
    Fixture plain;
    Fixture wrapped;
    const std::int64_t offset = (1 << 24) - 4000;
    for (Fixture* f : {&plain, &wrapped}) {
        const std::int64_t base = f == &plain ? 0 : offset;
        f->begin();
        f->ack(1000, 78'000, {f->record(base, 0, 16'000)});
        f->ack(2000, 79'000, {f->record(base + 8192, 102'400, 32'000)});
    }
    CHECK(plain.state.rate == wrapped.state.rate);
}

TEST_CASE("unit.congestion.hpcc.sample_feedback_skips_empty_queues_in_fast_reaction") {
    Fixture f;
    f.parameters.hpcc.sample_feedback = true;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 0)});
    f.ack(2000, 79'000, {f.record(4096, 51'200, 0)});
    CHECK(f.state.rate == kLine);
    CHECK(f.state.hpcc.hop[0] == f.record(0, 0, 0));
    // A full update reads it: 102,400 B in 8192 ns since the stored record, u = 1.
    f.ack(79'000, 156'000, {f.record(8192, 102'400, 0)});
    CHECK(near(f.state.rate, 95'050'000'000));
}

TEST_CASE("unit.congestion.hpcc.multi_rate_sends_at_the_slowest_hops_rate") {
    // Hop 0 busy (u 1): 95.05 Gb/s. Hop 1 busy with 16,000 B queued: 78,879,787,234 bit/s.
    Fixture f;
    f.parameters.hpcc.multi_rate = true;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 0), f.record(0, 0, 16'000)});
    f.ack(79'000, 156'000, {f.record(8192, 102'400, 0), f.record(8192, 102'400, 16'000)});
    CHECK(near(f.state.rate, 78'879'787'234));
    CHECK(near(f.state.hpcc.hop_rate[0], 95'050'000'000));
    CHECK(near(f.state.hpcc.hop_rate[1], 78'879'787'234));
    CHECK(f.state.hpcc.hop_rate[2] == kLine);
    // Hop 1's queue is gone (u 1 again): 0.95 of its own 78.88 Gb/s + 50 Mb/s = 74,985,797,872.
    f.ack(157'000, 234'000, {f.record(16'384, 204'800, 0), f.record(16'384, 204'800, 0)});
    CHECK(near(f.state.rate, 74'985'797'872));
    CHECK(near(f.state.hpcc.hop_rate[0], 90'347'500'000));
}

TEST_CASE("unit.congestion.hpcc.multi_rate_respects_rates_of_hops_not_sampled") {
    // As above, then an ACK whose hop 1 is empty: hop 0 alone is read (10 MB queued: min rate);
    // once hop 0 is fine again, the stored rate of hop 1 still bounds the flow.
    Fixture f;
    f.parameters.hpcc.multi_rate = true;
    f.parameters.hpcc.sample_feedback = true;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 0), f.record(0, 0, 16'000)});
    f.ack(79'000, 156'000, {f.record(8192, 102'400, 0), f.record(8192, 102'400, 16'000)});
    f.ack(80'000, 157'000, {f.record(16'384, 128'000, 320), f.record(16'384, 204'800, 0)});
    // Hop 0 used a quarter: additive, 95.05 + 0.05 Gb/s; hop 1 keeps 78.88 Gb/s.
    CHECK(near(f.state.rate, 78'879'787'234));
}

TEST_CASE("unit.congestion.hpcc.no_telemetry_no_reaction") {
    Fixture f;
    f.begin();
    f.ack(1000, 78'000, {});
    f.ack(2000, 79'000, {});
    CHECK(f.state.rate == kLine);
    f.ack(79'000, 156'000, {});
    CHECK(f.state.rate == kLine);
    CHECK(f.state.hpcc.last_update == 156'000);
}

TEST_CASE("unit.congestion.hpcc.longer_paths_than_records_give_no_feedback") {
    Fixture f;
    f.begin();
    const IntRecord r = f.record(8192, 102'400, 32'000);
    f.ack(1000, 78'000, {r, r, r, r, r, r, r, r});
    f.ack(79'000, 156'000, {r, r, r, r, r, r, r, r});
    CHECK(f.state.rate == kLine);
    CHECK(f.state.hpcc.last_update == 156'000);
    CHECK(f.state.hpcc.hop[0] == 0);
}

TEST_CASE("unit.congestion.hpcc.two_records_of_one_instant_change_nothing") {
    // u stays 1, as without news: 95.05 Gb/s, and never a division by zero.
    for (const bool multi_rate : {false, true}) {
        Fixture f;
        f.parameters.hpcc.multi_rate = multi_rate;
        f.begin();
        f.ack(1000, 78'000, {f.record(50, 0, 0)});
        f.ack(79'000, 156'000, {f.record(50, 5120, 3200)});
        CHECK(near(f.state.rate, 95'050'000'000));
    }
}

TEST_CASE("unit.congestion.hpcc.go_back_keeps_the_last_update") {
    // After a NACK snd_nxt is rewound: the update happens, last_update does not move back.
    Fixture f;
    f.begin();
    f.ack(1000, 78'000, {f.record(0, 0, 0)});
    f.ack(79'000, 70'000, {f.record(4096, 51'200, 0)});
    CHECK(near(f.state.hpcc.current_rate, 95'050'000'000));
    CHECK(f.state.hpcc.last_update == 78'000);
}

TEST_CASE("unit.congestion.hpcc.t_is_whole_nanoseconds") {
    Fixture a;
    Fixture b;
    a.begin();
    b.begin();
    b.state.base_rtt = kBaseRtt + 999;
    for (Fixture* f : {&a, &b}) {
        f->ack(1000, 78'000, {f->record(0, 0, 16'000)});
        f->ack(2000, 79'000, {f->record(3000, 102'400, 32'000)});
    }
    CHECK(a.state.rate == b.state.rate);
}

TEST_CASE("unit.congestion.hpcc.a_train_is_as_many_small_steps") {
    // A port that sends 1,024 B each 100 ns, whole INT units, and whose queue grows by a unit: between two records nothing
    // is truncated, so the ACK of four packets is those of each of them.
    const auto at = [](const Fixture& f, std::int64_t k) {
        return f.record(1'000 + 100 * k, 1'024 * k, 320 * k);
    };
    Fixture singly;
    Fixture train;
    for (Fixture* f : {&singly, &train}) {
        f->begin();
        f->ack(1'000, 50'000, {at(*f, 0)});
    }
    for (std::int64_t k = 1; k <= 8; ++k) {
        singly.ack(49'000 + 1'000 * k, 100'000, {at(singly, k)});
    }
    for (std::int64_t k = 4; k <= 8; k += 4) {
        const IntRecord record = at(train, k);
        Ack event;
        event.acked = 49'000 + 1'000 * k;
        event.next = 100'000;
        event.packets = 4;
        event.hops = &record;
        event.hop_count = 1;
        on_ack(train.state, train.parameters, train.rates, event);
    }
    CHECK(train.state.rate == singly.state.rate);
    CHECK(train.state.rate < kLine);
    CHECK(same(train.state, singly.state, train.parameters));
}
