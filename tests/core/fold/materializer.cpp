// SPDX-License-Identifier: Apache-2.0
/// Copies that are let go are what they would be without symmetry reduction, and go on so.
#include "core/fold/materializer.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.materializer.a_fold_that_is_taken_apart_leaves_no_trace") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.fold_pairs();
    const std::int64_t before = parts.world.egress[parts.port_of(2)].tx_packets;
    parts.advance(30 * kMicrosecond);
    CHECK(parts.world.egress[parts.port_of(2)].tx_packets == before);
    const std::uint64_t hops = parts.materializer.hops();
    CHECK(hops > 0);
    CHECK(parts.materializer.take_apart(id) == FlowGroups{{0}, {1}});
    CHECK(parts.materializer.hops() == hops);
    CHECK(parts.folds.empty());
    CHECK_FALSE(parts.folds.of_flow(0).folded());
    parts.check_as_without();
    parts.advance(50 * kMicrosecond);
    parts.check_as_without();
}

TEST_CASE("unit.materializer.ports_and_hosts_in_use_stay") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.fold_pairs();
    parts.materializer.drop_unused(id);
    REQUIRE(parts.folds.has(id));
    CHECK(parts.folds.of_host(3).folded());
    CHECK(parts.folds.of_flow(1).folded());
}
