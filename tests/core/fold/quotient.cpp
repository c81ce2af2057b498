// SPDX-License-Identifier: Apache-2.0
/// A ring is folded upon itself: one host is executed, and what the others would have done is written from that.
#include "core/fold/quotient_finder.h"

#include "core/fold/quotient_names.h"
#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

namespace {

bool fold_inside(FoldParts& parts, const FlowGroup& part) {
    std::vector<const FlowGroup*> candidates = {&part};
    const bool folded = parts.quotients.fold_inside(candidates, parts.now, parts.now);
    CHECK(candidates.size() == (folded ? 0U : 1U));
    return folded;
}

}  // namespace

TEST_CASE("unit.quotient.a_ring_is_folded_to_one_host") {
    for (const congestion::Law law : {congestion::Law::hpcc, congestion::Law::dctcp}) {
        FoldParts parts(ring_of(4, law));
        REQUIRE(fold_inside(parts, {0, 1, 2, 3}));
        const Fold& fold = parts.folds[0];
        CHECK(fold.turned());
        CHECK(fold.images == 3);
        CHECK(fold.host == std::vector<NodeId>{0});
        CHECK(fold.flow == std::vector<FlowSlot>{0});
        CHECK(fold.is_own(0));
        CHECK(fold.part_of(1) == std::vector<std::uint32_t>{0, 1, 2});
        parts.advance(35 * kMicrosecond);
        parts.materializer.take_apart(0);
        parts.check_as_without();
        parts.advance(60 * kMicrosecond);
        parts.check_as_without();
    }
}

TEST_CASE("unit.quotient.its_flows_go_by_its_own_ports") {
    FoldParts parts(ring_of(4));
    const std::vector<PortId> before(parts.world.route[0].port,
                                     parts.world.route[0].port + 2 * kPathHops);
    REQUIRE(fold_inside(parts, {0, 1, 2, 3}));
    const Turn& turn = parts.folds[0].turn[0];
    REQUIRE(turn.known());
    CHECK(turn.print.src == 0);
    CHECK(turn.print.dst == 0);  // it receives as host 1 does
    for (std::uint32_t i = 0; i < turn.print.units; ++i) {
        CHECK(parts.folds.of_port(turn.print.port[i]).leads());
    }
    CHECK(parts.world.route[0].port[1] == parts.peer_of(parts.port_of(0)));
    // At its destination each sheet's flow is at the next sheet's host.
    CHECK(turn.unit_sheet.back() == std::vector<std::uint32_t>{1, 2, 3, 0});
    CHECK(turn.flow_sheet.back() == std::vector<std::uint32_t>{3, 0, 1, 2});
    parts.materializer.take_apart(0);
    CHECK(std::equal(before.begin(), before.end(), parts.world.route[0].port));
}

TEST_CASE("unit.quotient.names_are_adopted_and_given_back") {
    // Packets of flow 3 are on their way to host 0, at the first sheet's ports: they are flow 0's while it is executed.
    FoldParts parts(ring_of(4));
    const auto flows_to_host = [&] {
        std::vector<FlowSlot> flows;
        Wire& link = parts.world.link[parts.port_of(0)];
        for (std::uint32_t at = link.head; at != link.tail; ++at) {
            flows.push_back(link.at(at).flow);
        }
        return flows;
    };
    const std::vector<FlowSlot> before = flows_to_host();
    CHECK(std::count(before.begin(), before.end(), 3U) > 0);
    REQUIRE(fold_inside(parts, {0, 1, 2, 3}));
    const std::vector<FlowSlot> folded = flows_to_host();
    CHECK(folded == std::vector<FlowSlot>(before.size(), 0));
    const QuotientNames names(parts.rig.store, parts.folds.places(), parts.folds[0]);
    names.restore_units();
    CHECK(flows_to_host() == before);
}

TEST_CASE("unit.quotient.hosts_that_differ_are_left_alone") {
    FoldParts parts(ring_of(4));
    sender_of(parts.world, 2).last_gap += 1;
    CHECK_FALSE(fold_inside(parts, {0, 1, 2, 3}));
    CHECK(parts.folds.empty());
    parts.world.result[1].start += 1;
    CHECK_FALSE(fold_inside(parts, {0, 1, 2, 3}));
}
