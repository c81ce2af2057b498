// SPDX-License-Identifier: Apache-2.0
// DCQCN by hand (100 Gb/s defaults: timers 1 / 4 / 300 us, g 1/256, one recovery stage, steps 20
// and 200 Mb/s), and against a simulation that runs every timer.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "core/congestion/congestion.h"

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;
constexpr Tick kStart = kMillisecond;
constexpr Tick kFirstCheck = kStart + 4 * kMicrosecond + kNanosecond;

void echo(State& state, const Parameters& parameters, Tick now) {
    Ack event;
    event.now = now;
    event.acked = 1000;
    event.next = 2000;
    event.echo = true;
    on_ack(state, parameters, IntRates{}, event);
}

State started(const Parameters& parameters) {
    State state;
    start(state, parameters, kLine, 78'000, 6240 * kNanosecond);
    return state;
}

/// The law with every timer run at its instant, none lazily. Timers of one instant run alpha
/// first, then in the order in which they were set, as in ns-3's event queue.
class EagerDcqcn {
  public:
    EagerDcqcn(const dcqcn::Parameters& p, std::int64_t min_rate)
        : rate(kLine), target(kLine), p_(p), min_rate_(min_rate) {}

    void echo(Tick now) {
        alpha_mark_ = true;
        decrease_mark_ = true;
        if (alpha_at_ == kNever) {
            alpha_mark_ = false;
            alpha_at_ = now + p_.alpha_interval;
            set_decrease(now + p_.decrease_interval + kNanosecond);
            rate = static_cast<std::int64_t>(p_.rate_on_first_cnp * static_cast<double>(rate));
            target = rate;
        }
    }

    Tick next() const { return smaller(alpha_at_, smaller(decrease_at_, increase_at_)); }

    void run_one() {
        const Tick now = next();
        if (alpha_at_ == now) {
            alpha = (1 - p_.gain) * alpha + (alpha_mark_ ? p_.gain : 0.0);
            alpha_mark_ = false;
            alpha_at_ = now + p_.alpha_interval;
        } else if (decrease_at_ == now && (increase_at_ != now || decrease_set_ < increase_set_)) {
            set_decrease(now + p_.decrease_interval);
            if (decrease_mark_) {
                if (p_.clamp_target_rate || stage > 0) {
                    target = rate;
                }
                rate = larger(min_rate_, static_cast<std::int64_t>(static_cast<double>(rate) *
                                                                   (1 - alpha / 2)));
                stage = 0;
                decrease_mark_ = false;
                set_increase(now + p_.increase_interval);
            }
        } else {
            set_increase(now + p_.increase_interval);
            if (stage == p_.fast_recovery_stages) {
                target += p_.additive_rate;
            }
            if (stage > p_.fast_recovery_stages) {
                target += p_.hyper_rate;
            }
            target = smaller(target, kLine);
            rate = rate / 2 + target / 2;
            ++stage;
        }
    }

    std::int64_t rate;
    std::int64_t target;
    double alpha = 1.0;
    std::int64_t stage = 0;

  private:
    void set_decrease(Tick at) {
        decrease_at_ = at;
        decrease_set_ = sets_++;
    }
    void set_increase(Tick at) {
        increase_at_ = at;
        increase_set_ = sets_++;
    }

    dcqcn::Parameters p_;
    std::int64_t min_rate_;
    Tick alpha_at_ = kNever;
    Tick decrease_at_ = kNever;
    Tick increase_at_ = kNever;
    std::int64_t sets_ = 0;
    std::int64_t decrease_set_ = 0;
    std::int64_t increase_set_ = 0;
    bool alpha_mark_ = false;
    bool decrease_mark_ = false;
};

}  // namespace

TEST_CASE("unit.congestion.dcqcn.silent_until_the_first_echo") {
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    CHECK(state.rate == kLine);
    CHECK_FALSE(state.retime);
    CHECK(next_timer(state, parameters) == kNever);
    Ack plain;
    plain.now = kStart;
    plain.acked = 1000;
    plain.next = 2000;
    on_ack(state, parameters, IntRates{}, plain);
    CHECK(next_timer(state, parameters) == kNever);
    CHECK(slowest_period(parameters) == 300 * kMicrosecond);
}

TEST_CASE("unit.congestion.dcqcn.first_cut_comes_4_us_and_1_ns_after_the_first_echo") {
    // Alpha starts at 1 and is updated unmarked at 1, 2, 3, 4 us: (255/256)^4. The cut leaves
    // 1 - alpha / 2 = 4,361,683,967 / 2^33 of 100 Gb/s: 50,776,684,272.x bit/s.
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    echo(state, parameters, kStart);
    CHECK(state.rate == kLine);
    CHECK(next_timer(state, parameters) == kFirstCheck);
    on_timer(state, parameters, kFirstCheck);
    CHECK(state.dcqcn.alpha == 4'228'250'625.0 / 4'294'967'296.0);
    CHECK(state.rate == 50'776'684'272);
    CHECK(state.dcqcn.target_rate == kLine);
    CHECK(next_timer(state, parameters) == kFirstCheck + 300 * kMicrosecond);
}

TEST_CASE("unit.congestion.dcqcn.recovery_additive_hyper") {
    // After the cut to 50,776,684,272 with target 100 Gb/s: recovery halves the distance; the next
    // step adds 20 Mb/s to a target already at line rate, so only halves again. With the target
    // put to 80 Gb/s instead: 65,388,342,136; then 80.02: 72,704,171,068; then 80.22.
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    echo(state, parameters, kStart);
    on_timer(state, parameters, kFirstCheck);
    state.dcqcn.target_rate = 80'000'000'000;
    Tick due = kFirstCheck + 300 * kMicrosecond;
    on_timer(state, parameters, due);
    CHECK(state.rate == 65'388'342'136);
    CHECK(state.dcqcn.target_rate == 80'000'000'000);
    due += 300 * kMicrosecond;
    CHECK(next_timer(state, parameters) == due);
    on_timer(state, parameters, due);
    CHECK(state.dcqcn.target_rate == 80'020'000'000);
    CHECK(state.rate == 32'694'171'068 + 40'010'000'000);
    due += 300 * kMicrosecond;
    on_timer(state, parameters, due);
    CHECK(state.dcqcn.target_rate == 80'220'000'000);
    CHECK(state.rate == 36'352'085'534 + 40'110'000'000);
}

TEST_CASE("unit.congestion.dcqcn.halves_are_truncated_apart") {
    // 3 / 2 + 5 / 2 is 1 + 2, not 4.
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    echo(state, parameters, kStart);
    on_timer(state, parameters, kFirstCheck);
    state.rate = 3;
    state.dcqcn.target_rate = 5;
    on_timer(state, parameters, kFirstCheck + 300 * kMicrosecond);
    CHECK(state.rate == 3);
}

TEST_CASE("unit.congestion.dcqcn.increase_timer_rests_once_recovered") {
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    echo(state, parameters, kStart);
    int timers = 0;
    for (Tick due = next_timer(state, parameters); due != kNever && timers < 1000;
         due = next_timer(state, parameters)) {
        on_timer(state, parameters, due);
        ++timers;
    }
    // 49.2e9 / 2^k < 1 after 36 halvings, and each may lose a bit/s.
    CHECK(timers < 45);
    CHECK(state.rate >= kLine - 1);
    // The next echo starts again: the check that follows it on the 4 us grid of the first.
    const Tick later = kStart + 100 * kMillisecond + 2 * kMicrosecond;
    echo(state, parameters, later);
    CHECK(next_timer(state, parameters) ==
          kStart + 100 * kMillisecond + 4 * kMicrosecond + kNanosecond);
    const std::int64_t before = state.rate;
    on_timer(state, parameters, next_timer(state, parameters));
    CHECK(state.rate < before);
    CHECK(state.dcqcn.target_rate == before);
}

TEST_CASE("unit.congestion.dcqcn.an_echo_at_a_checks_instant_counts_for_it") {
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    echo(state, parameters, kStart);
    on_timer(state, parameters, kFirstCheck);
    const Tick third = kFirstCheck + 8 * kMicrosecond;
    echo(state, parameters, third);
    CHECK(next_timer(state, parameters) == third);
    State late = started(parameters);
    echo(late, parameters, kStart);
    on_timer(late, parameters, kFirstCheck);
    echo(late, parameters, third + 1);
    CHECK(next_timer(late, parameters) == third + 4 * kMicrosecond);
}

TEST_CASE("unit.congestion.dcqcn.an_echo_at_an_alpha_updates_instant_counts_for_it") {
    // Echo at 1 us: the update at 1 us is marked, those at 2, 3, 4 us are not:
    // alpha = 1 x (255/256)^3.
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    echo(state, parameters, kStart);
    echo(state, parameters, kStart + kMicrosecond);
    on_timer(state, parameters, kFirstCheck);
    CHECK(state.dcqcn.alpha == 16'581'375.0 / 16'777'216.0);
}

TEST_CASE("unit.congestion.dcqcn.increase_precedes_a_decrease_of_the_same_instant") {
    // 300 us is a multiple of 4 us: both fall on the first check + 300 us. The increase runs
    // first, so the cut applies to the increased rate, which becomes the target.
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    echo(state, parameters, kStart);
    on_timer(state, parameters, kFirstCheck);
    const Tick both = kFirstCheck + 300 * kMicrosecond;
    echo(state, parameters, both - kMicrosecond);
    CHECK(next_timer(state, parameters) == both);
    on_timer(state, parameters, both);
    CHECK(state.dcqcn.target_rate == 25'388'342'136 + 50'000'000'000);
    CHECK(state.dcqcn.stage == 0);
    CHECK(next_timer(state, parameters) == both + 300 * kMicrosecond);
}

TEST_CASE("unit.congestion.dcqcn.clamping_the_target_and_the_first_rate") {
    Parameters parameters = default_parameters(Law::dcqcn, kLine);
    parameters.dcqcn.clamp_target_rate = true;
    parameters.dcqcn.rate_on_first_cnp = 0.5;
    State state = started(parameters);
    echo(state, parameters, kStart);
    CHECK(state.rate == 50'000'000'000);
    CHECK(state.dcqcn.target_rate == 50'000'000'000);
    state.dcqcn.target_rate = kLine;
    on_timer(state, parameters, kFirstCheck);
    CHECK(state.dcqcn.target_rate == 50'000'000'000);
}

TEST_CASE("unit.congestion.dcqcn.never_below_min_rate") {
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    for (Tick now = kStart; now < kStart + kMillisecond; now += 500 * kNanosecond) {
        while (next_timer(state, parameters) < now) {
            on_timer(state, parameters, next_timer(state, parameters));
        }
        echo(state, parameters, now);
    }
    CHECK(state.rate == parameters.min_rate);
}

TEST_CASE("unit.congestion.dcqcn.a_long_silence_is_cheap_and_exact") {
    // After 100 s without an echo alpha has decayed to the denormal that rounds to itself; 100
    // million updates must not be run one by one (a hundred times over: this test would not end).
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State state = started(parameters);
    echo(state, parameters, kStart);
    for (int i = 1; i <= 100; ++i) {
        const Tick now = kStart + i * 100 * kSecond;
        on_timer(state, parameters, now - 1);
        echo(state, parameters, now);
        CHECK(state.dcqcn.alpha < 1e-300);
        CHECK(state.dcqcn.alpha_due == now);
        // The update at the echo's instant is marked: alpha = g; the check comes 1 ns later.
        CHECK(next_timer(state, parameters) == now + kNanosecond);
        on_timer(state, parameters, now + kNanosecond);
        CHECK(state.dcqcn.alpha == 1.0 / 256);
    }
}

TEST_CASE("unit.congestion.dcqcn.late_on_timer_catches_up_in_order") {
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    State prompt = started(parameters);
    State late = started(parameters);
    echo(prompt, parameters, kStart);
    echo(late, parameters, kStart);
    const Tick end = kStart + 2 * kMillisecond;
    while (next_timer(prompt, parameters) <= end) {
        on_timer(prompt, parameters, next_timer(prompt, parameters));
    }
    on_timer(late, parameters, end);
    CHECK(late.rate == prompt.rate);
    CHECK(late.dcqcn.stage == prompt.dcqcn.stage);
    CHECK(next_timer(late, parameters) == next_timer(prompt, parameters));
}

TEST_CASE("unit.congestion.dcqcn.lazy_timers_equal_eager_ones") {
    // Random intervals (multiples of 100 ns, so that timers meet), gains and bursts of echoes with
    // silences between, echoes placed on timers' instants too. After each event the rate, at each
    // echo and cut alpha, are those of running every timer.
    std::mt19937_64 random(20150817);
    const auto pick = [&random](std::int64_t low, std::int64_t high) {
        return low +
               static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
    };
    std::int64_t cuts = 0;
    for (int run = 0; run < 300; ++run) {
        Parameters parameters = default_parameters(Law::dcqcn, kLine);
        dcqcn::Parameters& p = parameters.dcqcn;
        const Tick grid = 100 * kNanosecond;
        p.alpha_interval = pick(1, 20) * grid;
        p.decrease_interval = pick(1, 60) * grid;
        p.increase_interval = pick(1, 300) * grid;
        if (run % 10 == 0) {
            p.increase_interval = p.decrease_interval;
        }
        if (run % 10 == 1) {
            p.increase_interval = 2 * p.decrease_interval;
        }
        if (run % 10 == 2) {
            p.decrease_interval = 2 * p.increase_interval;
        }
        p.gain = 1.0 / static_cast<double>(pick(2, 256));
        p.fast_recovery_stages = static_cast<int>(pick(0, 5));
        p.clamp_target_rate = pick(0, 1) == 1;
        p.rate_on_first_cnp = pick(0, 1) == 1 ? 1.0 : 0.75;
        State lazy = started(parameters);
        EagerDcqcn eager(p, parameters.min_rate);
        Tick now = kStart;
        for (int event = 0; event < 300; ++event) {
            now += pick(0, 9) == 0 ? pick(0, 5000) * grid : pick(0, 30) * (grid / 2);
            if (pick(0, 2) == 0 && lazy.dcqcn.started) {
                // On the 1 ns shifted grid of the decrease checks.
                now += (kStart + kNanosecond - now % grid + grid) % grid;
            }
            while (next_timer(lazy, parameters) < now) {
                const Tick due = next_timer(lazy, parameters);
                on_timer(lazy, parameters, due);
                while (eager.next() <= due) {
                    eager.run_one();
                }
                REQUIRE(lazy.rate == eager.rate);
                REQUIRE(lazy.dcqcn.target_rate == eager.target);
                if (lazy.dcqcn.stage == 0) {
                    REQUIRE(lazy.dcqcn.alpha == eager.alpha);
                    ++cuts;
                }
            }
            while (eager.next() < now) {
                eager.run_one();
            }
            REQUIRE(lazy.rate == eager.rate);
            echo(lazy, parameters, now);
            eager.echo(now);
            REQUIRE(lazy.dcqcn.alpha == eager.alpha);
            REQUIRE(lazy.rate == eager.rate);
        }
    }
    CHECK(cuts > 10'000);
}
