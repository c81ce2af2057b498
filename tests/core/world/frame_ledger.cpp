// SPDX-License-Identifier: Apache-2.0
#include "core/world/frame_ledger.h"

#include <doctest/doctest.h>

using namespace sluice;
using namespace sluice::step;

TEST_CASE("unit.world.frame_ledger.skipped_and_crossed_frames_are_counted_apart") {
    FrameLedger ledger(3);
    CHECK(ledger.skipped(1).packets == 0);
    CHECK(ledger.crossed(1).bytes == 0);
    ledger.add_skipped(1, {5, 5'000});
    ledger.add_skipped(1, {-2, -2'000});  // rolled back
    ledger.add_crossed(2, {7, 420});
    CHECK(ledger.skipped(1).packets == 3);
    CHECK(ledger.skipped(1).bytes == 3'000);
    CHECK(ledger.skipped(2).packets == 0);
    CHECK(ledger.crossed(2).packets == 7);
    CHECK(ledger.crossed(2).bytes == 420);
    CHECK(ledger.crossed(1).packets == 0);
}

TEST_CASE("unit.world.frame_ledger.what_is_left_beyond_whole_units_is_taken_once") {
    FrameLedger ledger(1);
    CHECK(ledger.take_remainder(0, 128) == 0);
    ledger.add_skipped(0, {3, 300});
    CHECK(ledger.take_remainder(0, 128) == 44);  // 300 = 2 x 128 + 44
    CHECK(ledger.take_remainder(0, 128) == 0);
    CHECK(ledger.skipped(0).bytes == 256);
    CHECK(ledger.skipped(0).packets == 3);
}
