// SPDX-License-Identifier: Apache-2.0
// Timers of hosts that are paused: in order, once, and only while they are.
#include <doctest/doctest.h>

#include "core/hybrid/paused_hosts.h"

using namespace sluice;
using namespace sluice::hybrid;

TEST_CASE("unit.paused_hosts.timers_come_in_the_order_of_time_and_hosts") {
    PausedHosts paused;
    CHECK(paused.next() == kNever);
    paused.pause(7, 1, 30);
    paused.pause(3, 1, 30);
    paused.pause(5, 2, 10);
    paused.pause(6, 2, kNever);
    CHECK(paused.by(7) == 1);
    CHECK(paused.by(6) == 2);
    CHECK(paused.by(100) == kNone);
    CHECK(paused.next() == 10);
    CHECK(paused.take() == 5);
    CHECK(paused.take() == 3);
    CHECK(paused.next() == 30);
    CHECK(paused.take() == 7);
    CHECK(paused.next() == kNever);
}

TEST_CASE("unit.paused_hosts.a_timer_of_a_host_that_runs_is_not_noted") {
    PausedHosts paused;
    paused.await(4, 5);
    CHECK(paused.next() == kNever);
    paused.pause(4, 1, kNever);
    paused.await(4, 5);
    paused.await(4, kNever);
    CHECK(paused.next() == 5);
}

TEST_CASE("unit.paused_hosts.what_goes_on_takes_its_timers_along") {
    PausedHosts paused;
    paused.pause(1, 1, 5);
    paused.pause(2, 1, 6);
    paused.pause(3, 2, 7);
    paused.resume({1, 2, 9});
    CHECK(paused.by(1) == kNone);
    CHECK(paused.by(3) == 2);
    CHECK(paused.next() == 7);
    CHECK(paused.take() == 3);
}
