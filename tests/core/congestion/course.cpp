// SPDX-License-Identifier: Apache-2.0
// What a law does by itself, against running its timers one by one.
#include "core/congestion/course.h"

#include <doctest/doctest.h>

using namespace sluice;
using namespace sluice::congestion;

namespace {

constexpr std::int64_t kLine = 100'000'000'000;

State started(const Parameters& parameters) {
    State state;
    start(state, parameters, kLine, 0, 8 * kMicrosecond);
    return state;
}

/// After `marks` marks, a microsecond apart, of which the last was acted upon by `at`.
State marked(const Parameters& parameters, int marks, Tick at) {
    State state = started(parameters);
    const IntRates rates;
    for (int i = 1; i <= marks; ++i) {
        Ack ack;
        ack.now = i * kMicrosecond;
        ack.echo = true;
        ack.acked = i * 1000;
        on_ack(state, parameters, rates, ack);
        if (next_timer(state, parameters) <= ack.now) {
            on_timer(state, parameters, ack.now);
        }
    }
    if (next_timer(state, parameters) <= at) {
        on_timer(state, parameters, at);
    }
    return state;
}

}  // namespace

TEST_CASE("unit.congestion.course.a_flow_that_was_never_marked_stays_at_its_rate") {
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    const Course found = course(started(parameters), parameters, kMillisecond, kSecond);
    CHECK(!found.changes);
    CHECK(found.mean == static_cast<double>(kLine));
}

TEST_CASE("unit.congestion.course.laws_without_timers_have_none") {
    for (const Law law : {Law::hpcc, Law::timely, Law::dctcp, Law::none}) {
        const Parameters parameters = default_parameters(law, kLine);
        CHECK(!course(started(parameters), parameters, kMillisecond, kSecond).changes);
    }
}

TEST_CASE("unit.congestion.course.a_recovery_is_the_mean_of_its_steps") {
    const Parameters parameters = default_parameters(Law::dcqcn, kLine);
    const Tick from = 20 * kMicrosecond;
    const State state = marked(parameters, 12, from);
    REQUIRE(state.rate < kLine);
    for (const Tick dt : {100 * kMicrosecond, 450 * kMicrosecond, 7 * kMillisecond, kSecond}) {
        // The rate at every microsecond, each from a law of its own that sleeps until then.
        double sum = 0;
        const Tick step = dt / 5000;
        for (int i = 0; i < 5000; ++i) {
            State asleep = state;
            const Tick slept = i * step + step / 2;
            Observed seen;
            seen.until = from + slept;
            shift(asleep, parameters, slept);
            advance(asleep, parameters, slept, seen);
            sum += static_cast<double>(asleep.rate);
        }
        const Course found = course(state, parameters, from, dt);
        CAPTURE(dt);
        CHECK(found.changes == (next_timer(state, parameters) < from + dt));
        CHECK(found.mean == doctest::Approx(sum / 5000).epsilon(5e-4));
    }
}
