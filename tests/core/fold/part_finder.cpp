// SPDX-License-Identifier: Apache-2.0
/// Flows that share ports or hosts are a part, which may be folded if nobody else is there.
#include "core/fold/part_finder.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

namespace {

/// Flows 0 and 1 share host 1; flow 2 is apart.
Case three_flows() {
    Case given = lawless_star(5);
    given.config = config_for(congestion::Law::hpcc);
    given.flows = {flow(0, 1, 10'000'000, 0), flow(1, 2, 10'000'000, 0), flow(3, 4, 10'000'000, 0)};
    assign_source_ports(given.flows);
    return given;
}

}  // namespace

TEST_CASE("unit.part_finder.flows_that_share_a_host_are_one_part") {
    FoldParts parts(three_flows());
    CHECK(parts.parts.parts({{2}, {1}, {0}}) == FlowGroups{{2}, {0, 1}});
    CHECK(parts.parts.parts({{0}, {2}}) == FlowGroups{{0}, {2}});
}

TEST_CASE("unit.part_finder.a_part_stands_apart_among_others_or_is_unfit") {
    FoldParts parts(three_flows());
    const FlowGroups found = parts.parts.parts({{0}, {1}, {2}});
    CHECK(parts.parts.standing(found[0], parts.now) == Standing::apart);
    CHECK(parts.parts.standing({0}, parts.now) == Standing::among_others);
    parts.world.egress[parts.port_of(3)].up = false;
    CHECK(parts.parts.standing(found[1], parts.now) == Standing::unfit);
}

TEST_CASE("unit.part_finder.signatures_of_copies_are_equal") {
    FoldParts pairs(two_pairs());
    CHECK(pairs.parts.signature({0}) == pairs.parts.signature({1}));
    FoldParts other(three_flows());
    CHECK(other.parts.signature({0, 1}) != other.parts.signature({2}));
}
