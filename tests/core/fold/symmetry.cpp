// SPDX-License-Identifier: Apache-2.0
/// Symmetries of parts, and one of each that they take for each other.
#include "core/fold/symmetry.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.symmetry.a_shape_numbers_hosts_and_ports_of_a_part") {
    FoldParts parts(ring_of(4));
    const PartShape shape = parts.parts.shape_of({0, 1, 2, 3});
    CHECK(shape.host == std::vector<NodeId>{0, 1, 2, 3});
    CHECK(shape.unit.size() == 8);  // each host's, and each of its switch
    CHECK(shape.src == std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(shape.dst == std::vector<std::uint32_t>{1, 2, 3, 0});
    CHECK(shape.sent[2] == std::vector<std::uint32_t>{2});
    CHECK(shape.way[0].size() == 4);
}

TEST_CASE("unit.symmetry.a_ring_has_one_for_each_host") {
    FoldParts parts(ring_of(4));
    const PartShape shape = parts.parts.shape_of({0, 1, 2, 3});
    const std::vector<Isomorphism> group = symmetries(parts.world, shape);
    REQUIRE(group.size() == 4);
    CHECK(group[0].host == std::vector<std::uint32_t>{0, 1, 2, 3});
    for (std::size_t i = 1; i < group.size(); ++i) {
        CHECK(group[i].moves_all());
        // Flows go with their hosts, in the order of the ring.
        CHECK(group[i].flow == group[i].host);
        for (std::uint32_t h = 0; h < 4; ++h) {
            CHECK(group[i].host[(h + 1) % 4] == (group[i].host[h] + 1) % 4);
        }
    }
}

TEST_CASE("unit.symmetry.flows_of_other_sizes_have_none") {
    Case given = ring_of(4);
    given.flows[2].size += 1;
    FoldParts parts(std::move(given));
    CHECK(symmetries(parts.world, parts.parts.shape_of({0, 1, 2, 3})).size() == 1);
}

TEST_CASE("unit.symmetry.every_second_host_of_a_ring_may_be_the_same") {
    Case given = ring_of(4);
    given.flows[1].size += 1;
    given.flows[3].size += 1;
    FoldParts parts(std::move(given));
    const PartShape shape = parts.parts.shape_of({0, 1, 2, 3});
    const std::vector<Isomorphism> group = symmetries(parts.world, shape);
    REQUIRE(group.size() == 2);
    CHECK(group[1].host == std::vector<std::uint32_t>{2, 3, 0, 1});
    CHECK(group[1].after(group[1]).host == group[0].host);
}

TEST_CASE("unit.symmetry.two_parts_are_named_by_each_other") {
    FoldParts parts(two_pairs());
    const PartShape one = parts.parts.shape_of({0});
    const PartShape other = parts.parts.shape_of({1});
    const auto found = isomorphism(parts.world, one, 0, other, 0);
    REQUIRE(found.has_value());
    CHECK(found->host == std::vector<std::uint32_t>{0, 1});
    CHECK_FALSE(isomorphism(parts.world, one, 0, other, 1).has_value());  // it sends nothing
}

TEST_CASE("unit.symmetry.the_quotient_of_a_ring_is_one_host") {
    FoldParts parts(ring_of(4));
    const PartShape shape = parts.parts.shape_of({0, 1, 2, 3});
    const auto group = symmetries(parts.world, shape);
    const auto first = first_sheet(parts.given.topology, shape, group, {0, 0, 0, 0});
    REQUIRE(first.has_value());
    CHECK(first->host == std::vector<std::uint32_t>{0});
    CHECK(first->flow == std::vector<std::uint32_t>{0});
    // Its own port, and its switch's to it: what it sends comes back to it.
    CHECK(first->unit.size() == 2);
}
