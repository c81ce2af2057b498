// SPDX-License-Identifier: Apache-2.0
/// What flows' packets touch, and how many flows are where.
#include "core/fold/flow_prints.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

TEST_CASE("unit.flow_prints.data_and_acks_go_by_two_ports_each_in_a_star") {
    FoldParts parts(two_pairs());
    const FlowPrint& print = parts.prints.of(0);
    REQUIRE(print.units == 4);
    CHECK(print.whole);
    CHECK(print.data == 2);
    CHECK(print.port[0] == parts.port_of(0));
    CHECK(print.port[1] == parts.peer_of(parts.port_of(1)));
    CHECK(print.port[2] == parts.port_of(1));
    CHECK(print.port[3] == parts.peer_of(parts.port_of(0)));
    CHECK(print.src == 0);
    CHECK(print.dst == 1);
}

TEST_CASE("unit.flow_prints.ports_and_hosts_count_their_flows") {
    FoldParts parts(ring_of(4));
    FlowPrints& prints = parts.prints;
    const std::uint64_t before = prints.generation();
    CHECK(prints.at_port(parts.port_of(1)) == 2);  // ACKs of flow 0, data of flow 1
    CHECK(prints.at_host(1) == 2);
    prints.leave(0);
    CHECK(prints.generation() != before);
    CHECK_FALSE(prints.in_service(0));
    CHECK(prints.of(0).units == 0);
    CHECK(prints.known(0).units == 4);
    CHECK(prints.at_port(parts.port_of(1)) == 1);
    CHECK(prints.at_host(1) == 1);
    CHECK_FALSE(prints.in_service(1000));
}

TEST_CASE("unit.flow_prints.cables_join_flows_only_where_a_supervisor_asks_for_it") {
    FoldParts parts(two_pairs());
    for (const bool cables_join : {false, true}) {
        FlowPrints prints(parts.rig.store, cables_join);
        const PortId port = parts.port_of(0);
        CHECK(prints.used_other_way(port) == kNone);
        prints.enter(0);
        CHECK(prints.used_other_way(port) == (cables_join ? parts.peer_of(port) : kNone));
        std::uint32_t visited = 0;
        prints.visit_ports(prints.of(0), [&](PortId) { ++visited; });
        CHECK(visited == (cables_join ? 8U : 4U));
    }
}
