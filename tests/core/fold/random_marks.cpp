// SPDX-License-Identifier: Apache-2.0
/// A fold must end before one of its ports could draw a random mark.
#include "core/fold/random_marks.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.random_marks.a_port_may_draw_from_kmin_less_one_frame_on") {
    FoldParts parts(two_pairs(congestion::Law::dcqcn));
    const std::uint32_t id = parts.lead({0});
    REQUIRE(parts.marks.any_watched());
    Egress& egress = parts.world.egress[parts.peer_of(parts.port_of(1))];
    // Host 0 feeds it no faster than it sends. What comes is at most a frame ahead.
    const std::uint32_t frame = parts.world.payload + parts.world.data_overhead;
    egress.queued_bytes = egress.ecn_kmin - frame - 2;
    CHECK_FALSE(parts.marks.may_mark(parts.folds[id]));
    CHECK_FALSE(parts.marks.may_mark(FlowGroup{0}));
    ++egress.queued_bytes;
    CHECK(parts.marks.may_mark(parts.folds[id]));
    CHECK(parts.marks.may_mark(FlowGroup{0}));
    CHECK_FALSE(parts.marks.may_mark(FlowGroup{1}));
}

TEST_CASE("unit.random_marks.a_threshold_draws_nothing") {
    FoldParts parts(two_pairs(congestion::Law::dctcp));
    const std::uint32_t id = parts.lead({0});
    parts.world.egress[parts.peer_of(parts.port_of(1))].queued_bytes = 1'000'000;
    CHECK_FALSE(parts.marks.any_watched());
    CHECK_FALSE(parts.marks.may_mark(parts.folds[id]));
}
