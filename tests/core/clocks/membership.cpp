// SPDX-License-Identifier: Apache-2.0
/// Flows that open, close and leave, as they are listed between windows.
#include "core/clocks/membership.h"

#include <algorithm>
#include <tuple>

#include "core/clocks/window_loop.h"
#include "tests/support/star_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

using Kind = step::Membership::ChangeKind;
using Presence = step::Membership::Presence;

/// Runs windows until nothing is left; `look(now)` after each.
template <class Look>
void run_all(Rig& rig, Look&& look) {
    for (Tick begin = step::next_instant(rig.world); begin != kNever;
         begin = step::next_instant(rig.world)) {
        const Tick end = begin + rig.world.lookahead;
        step::run_window(rig.world, begin, end, rig);
        look(end);
    }
}

}  // namespace

TEST_CASE("unit.membership.changes_are_listed_once_in_order_of_time_and_ids") {
    const Case given = incast(congestion::Law::none, 3, 50'000);
    Rig rig(given);
    step::Membership membership(rig.store);
    std::vector<FlowId> opened;
    std::vector<FlowId> closed;
    run_all(rig, [&](Tick now) {
        const auto changes = membership.list_changes();
        CHECK(std::is_sorted(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
            return std::tie(a.at, a.kind, a.id) < std::tie(b.at, b.kind, b.id);
        }));
        for (const step::Membership::Change& change : changes) {
            CHECK(change.at < now);
            if (change.kind == Kind::opened) {
                CHECK(membership.presence(change.place) == Presence::absent);
                membership.open(change.place);
                opened.push_back(change.id);
            } else {
                CHECK(membership.presence(change.place) == Presence::open);
                CHECK(membership.close(change.place, now));  // sent once, in order: nothing is left
                membership.leave(change.place);
                closed.push_back(change.id);
            }
        }
        CHECK(membership.list_changes().empty());
    });
    CHECK(opened == std::vector<FlowId>{0, 1, 2});
    CHECK(closed.size() == 3);
    CHECK(membership.finished().size() == 3);
    CHECK(membership.statistics().entries == 3);
    CHECK(membership.statistics().exits == 3);
    CHECK(membership.statistics().searches == 0);
}

TEST_CASE(
    "unit.membership.a_flow_under_which_links_have_changed_lingers_until_it_is_searched_for") {
    const Case given = incast(congestion::Law::none, 2, 50'000);
    Rig rig(given);
    step::Membership membership(rig.store, true);
    std::vector<FlowId> gone;
    bool lingered = false;
    run_all(rig, [&](Tick now) {
        for (const step::Membership::Change& change : membership.list_changes()) {
            if (change.kind == Kind::opened) {
                membership.open(change.place);
                const std::size_t strays = membership.stray_all().size();
                CHECK(membership.strays() == strays);
                CHECK(membership.is_stray(change.place));
            } else {
                CHECK_FALSE(membership.close(change.place, now));
                CHECK(membership.presence(change.place) == Presence::lingering);
                lingered = true;
            }
        }
        for (const FlowSlot flow : membership.search(now)) {
            gone.push_back(rig.world.id[flow]);
            membership.leave(flow);
            CHECK(membership.presence(flow) == Presence::absent);
        }
    });
    // What the last windows have left is not searched for at once.
    for (const FlowSlot flow : membership.search(kSecond)) {
        gone.push_back(rig.world.id[flow]);
        membership.leave(flow);
    }
    CHECK(lingered);
    CHECK(gone.size() == 2);
    CHECK(membership.strays() == 0);
    CHECK(membership.statistics().searches > 0);
}
