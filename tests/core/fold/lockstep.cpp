// SPDX-License-Identifier: Apache-2.0
/// Hosts of copies do what their representative's do, or diverge.
#include "core/fold/lockstep.h"

#include "core/world/skip.h"
#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

namespace {

constexpr Tick kDue = 25 * kMicrosecond;

/// Notes at which hosts its timers end.
class Noting : public Application {
  public:
    void on_begin(NodeId, HostServices&) override {}
    void on_received(NodeId, FlowId, Tick, HostServices&) override {}
    void on_sent(NodeId, FlowId, Tick, HostServices&) override {}
    void on_timer(NodeId host, std::uint64_t, Tick, HostServices&) override {
        called.push_back(host);
    }
    std::vector<NodeId> called;
};

/// Two pairs of hosts, folded, with timers of an application.
struct Pairs {
    Pairs() : parts(with_application(noting)), id(parts.fold_pairs()) {}

    static Case with_application(Noting& noting) {
        Case given = two_pairs();
        given.application = &noting;
        return given;
    }
    void set_timer(NodeId host) {
        push_timer(parts.world.memory, parts.world.host[host],
                   {kDue, TimerKind::application, kNone, 7});
        refresh_wake(parts.world, host);
        parts.folds.update_due(0);
    }

    Noting noting;
    FoldParts parts;
    std::uint32_t id;
    FlowGroups left;
    Lockstep lockstep{parts.rig.store,  parts.folds,       parts.members,
                      parts.divergence, parts.supervision, left};
};

}  // namespace

TEST_CASE("unit.lockstep.a_timer_of_both_is_taken_by_both") {
    Pairs pairs;
    pairs.set_timer(0);
    push_timer(pairs.parts.world.memory, pairs.parts.world.host[2],
               {kDue, TimerKind::application, kNone, 9});
    pairs.parts.world.callbacks.meet_paused(pairs.parts.world, 0, kDue, true);
    REQUIRE(pairs.parts.folds.has(pairs.id));
    pairs.parts.world.callbacks.go_on_together(pairs.parts.world, 0, kDue);
    CHECK(pairs.noting.called == std::vector<NodeId>{2});  // host 0 is about to do it
    CHECK(pairs.parts.world.host[2].timers.count == 0);
    CHECK(pairs.parts.divergence.count() == 0);
}

TEST_CASE("unit.lockstep.a_timer_of_one_alone_ends_its_copy_between_windows") {
    for (const NodeId host : {NodeId{0}, NodeId{2}}) {
        Pairs pairs;
        if (host == 0) {
            pairs.set_timer(0);
        } else {
            push_timer(pairs.parts.world.memory, pairs.parts.world.host[2],
                       {kDue, TimerKind::application, kNone, 7});
        }
        pairs.parts.world.callbacks.meet_paused(pairs.parts.world, 0, kDue, host == 0);
        CHECK_FALSE(pairs.parts.folds.has(pairs.id));
        CHECK(pairs.parts.divergence.count() == 1);
        CHECK(pairs.parts.world.sender_at[1] != kNone);
    }
}

TEST_CASE("unit.lockstep.a_host_that_diverges_in_a_window_goes_on_as_without") {
    Pairs pairs;
    FoldParts& parts = pairs.parts;
    push_timer(parts.world.memory, parts.world.host[2], {kDue, TimerKind::application, kNone, 7});
    parts.members.wake_for_copies(pairs.id);
    parts.advance(kDue + 1);  // the window ends there
    REQUIRE(parts.divergence.pending());
    parts.divergence.finish_window(parts.now, pairs.left);
    CHECK_FALSE(parts.divergence.pending());
    CHECK_FALSE(parts.folds.has(pairs.id));
    CHECK(pairs.noting.called == std::vector<NodeId>{2});
    parts.check_as_without();
}
