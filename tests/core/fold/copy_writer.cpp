// SPDX-License-Identifier: Apache-2.0
/// A copy is written from its representative's state.
#include "core/fold/copy_writer.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.copy_writer.a_copy_that_was_stilled_is_written_as_it_was") {
    for (const congestion::Law law : {congestion::Law::hpcc, congestion::Law::dcqcn}) {
        FoldParts parts(two_pairs(law));
        const std::uint32_t id = parts.lead({0});
        const Fold& fold = parts.folds[id];
        const auto image = parts.pair_up(id, {0}, {1});
        REQUIRE(image != nullptr);
        const auto alike = [&] {
            return Likeness(parts.rig.store, parts.folds.places(), fold, *image, parts.now).holds();
        };
        CHECK(alike());
        const CopyWriter writer = parts.materializer.writer_of(fold, *image);
        for (const NodeId host : fold.host) {
            writer.still_host(host);
        }
        for (const PortId port : fold.unit) {
            writer.still_unit(port);
        }
        CHECK(parts.world.wake[2] == kNever);
        CHECK(parts.world.sender_at[1] == kNone);
        CHECK_FALSE(alike());
        for (const NodeId host : fold.host) {
            writer.copy_host(host);
        }
        for (const PortId port : fold.unit) {
            CHECK(writer.copy_egress(port) == 0);
            writer.copy_link(port);
        }
        CHECK(alike());
        CHECK(parts.world.wake[2] == parts.world.wake[0]);
    }
}
