// SPDX-License-Identifier: Apache-2.0
/// Parts among others wait for these to leave.
#include "core/fold/waiting_parts.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

namespace {

FlowGroups ready(WaitingParts& waiting) {
    FlowGroups groups;
    waiting.take_ready(groups);
    return groups;
}

}  // namespace

TEST_CASE("unit.waiting_parts.are_ready_when_somebody_has_left") {
    FoldParts parts(ring_of(4));
    parts.waiting.wait({0});
    CHECK(ready(parts.waiting).empty());
    parts.waiting.note_leaving(parts.prints.of(2));  // shares no port and host with flow 0
    CHECK(ready(parts.waiting).empty());
    parts.waiting.note_leaving(parts.prints.of(1));
    CHECK(ready(parts.waiting) == FlowGroups{{0}});
    parts.waiting.note_leaving(parts.prints.of(1));
    CHECK(ready(parts.waiting).empty());
}

TEST_CASE("unit.waiting_parts.whose_own_flow_has_left_are_not_ready") {
    FoldParts parts(ring_of(4));
    parts.waiting.wait({0, 1});
    parts.waiting.note_leaving(parts.prints.of(1));
    parts.prints.leave(1);
    CHECK(ready(parts.waiting).empty());
}

TEST_CASE("unit.waiting_parts.who_comes_to_their_ports_takes_their_place") {
    FoldParts parts(ring_of(4));
    parts.waiting.wait({0});
    parts.waiting.wait({1});
    parts.waiting.note_leaving(parts.prints.of(0));
    CHECK(ready(parts.waiting) == FlowGroups{{1}});
}

TEST_CASE("unit.waiting_parts.stop_when_nothing_comes_of_it") {
    FoldParts parts(ring_of(4));
    const auto wins = [&] {
        parts.waiting.wait({0});
        parts.waiting.note_leaving(parts.prints.of(1));
        return !ready(parts.waiting).empty();
    };
    int waited = 0;
    while (waited < 1000 && wins()) {
        ++waited;
    }
    CHECK(waited == 64);
    parts.waiting.note_won(1);
    CHECK(wins());
    CHECK_FALSE(wins());
}
