// SPDX-License-Identifier: Apache-2.0
/// What a part would be the copy of.
#include "core/fold/pairing.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.pairing.hosts_and_ports_are_named_by_their_flows") {
    FoldParts parts(two_pairs());
    const std::uint32_t id = parts.lead({0});
    const auto image = parts.pair_up(id, {0}, {1});
    REQUIRE(image != nullptr);
    const Renaming names(parts.rig.store, parts.folds.places(), parts.folds[id], *image);
    CHECK(names.flow(0) == 1);
    CHECK(names.host(0) == 2);
    CHECK(names.host(1) == 3);
    CHECK(names.unit(parts.port_of(1)) == parts.port_of(3));
    CHECK(names.unit(parts.peer_of(parts.port_of(0))) == parts.peer_of(parts.port_of(2)));
}

TEST_CASE("unit.pairing.contradictory_names_are_refused") {
    // There and back is no copy of twice there.
    Case given = lawless_star(4);
    given.flows = {flow(0, 1, 10'000'000, 0), flow(1, 0, 10'000'000, 0), flow(2, 3, 10'000'000, 0),
                   flow(2, 3, 10'000'000, 0)};
    assign_source_ports(given.flows);
    FoldParts parts(std::move(given));
    const std::uint32_t id = parts.lead({0, 1});
    CHECK(parts.pair_up(id, {0, 1}, {2, 3}) == nullptr);
    CHECK(parts.pair_up(id, {0, 1}, {2}) == nullptr);
}
