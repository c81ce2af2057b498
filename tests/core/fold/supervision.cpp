// SPDX-License-Identifier: Apache-2.0
/// What the phase controller's notes say of copies.
#include "core/fold/supervision.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.supervision.without_a_supervisor_nothing_is_in_the_way") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.lead({0});
    const auto image = parts.pair_up(id, {0}, {1});
    CHECK_FALSE(parts.supervision.exists());
    CHECK(parts.supervision.alike(parts.folds[id], *image, true));
    CHECK(parts.supervision.may_fold_inside({0, 1}));
    CHECK(parts.supervision.holds_together(parts.folds[id]));
}

namespace {

/// Flows 0 and 1 of two_pairs(), the one the copy of the other, each a partition of a supervisor's.
struct Supervised {
    Supervised() {
        for (const FlowSlot flow : {0U, 1U}) {
            const PartitionSet::Entry entry = partitions.enter(flow, partitions.footprint(flow));
            REQUIRE(entry.partition == flow);
        }
        image = parts.pair_up(id, {0}, {1});
    }
    bool alike(bool fresh) const { return supervision.alike(parts.folds[id], *image, fresh); }

    FoldParts parts{two_pairs()};
    std::uint32_t id = parts.lead({0});
    std::unique_ptr<Image> image;
    FlowPartitions partitions{parts.rig.store};
    PartitionPhase lead;
    PartitionPhase copy;
    std::vector<const PartitionPhase*> phases{&lead, &copy};
    CopyNotes notes{partitions, phases, true};
    Supervision supervision{&notes, parts.world, parts.prints};
};

}  // namespace

TEST_CASE("unit.supervision.copies_agree_in_what_is_noted_of_their_partitions") {
    Supervised pair;
    CHECK(pair.supervision.exists());
    CHECK(pair.alike(true));
    pair.copy.changed = 1;
    CHECK_FALSE(pair.alike(true));
    pair.lead.changed = 1;
    CHECK(pair.alike(true));
    pair.lead.dirty = pair.copy.dirty = false;
    CHECK_FALSE(pair.alike(true));  // its detector has seen something that the copy's has not
    CHECK(pair.alike(false));
    pair.copy.whole = false;
    CHECK_FALSE(pair.alike(false));
}

TEST_CASE("unit.supervision.a_partition_is_folded_upon_itself_if_the_notes_allow_it") {
    Supervised pair;
    CHECK(pair.supervision.may_fold_inside({0}));
    CHECK_FALSE(pair.supervision.may_fold_inside({0, 1}));  // two partitions
    CHECK_FALSE(pair.supervision.may_fold_inside({}));
    pair.lead.dirty = false;
    CHECK_FALSE(pair.supervision.may_fold_inside({0}));
    CopyNotes never(pair.partitions, pair.phases, false);
    const Supervision supervision(&never, pair.parts.world, pair.parts.prints);
    CHECK_FALSE(supervision.may_fold_inside({1}));
}

TEST_CASE("unit.supervision.what_has_been_let_go_and_released_is_passed_on") {
    Supervised pair;
    pair.supervision.unfolded(pair.parts.folds[pair.id], *pair.image);
    REQUIRE(pair.notes.separated.size() == 1);
    REQUIRE(pair.notes.separated[0].size() == 1);
    CHECK(pair.notes.separated[0][0].leader == 0);
    CHECK(pair.notes.separated[0][0].image == 1);
    FlowGroups left;
    pair.notes.released = {{0, 1}, {0}};  // flow 0 is in a fold
    pair.supervision.take_released(pair.parts.folds, left);
    CHECK(left == FlowGroups{{1}});
    CHECK(pair.notes.released.empty());
}
