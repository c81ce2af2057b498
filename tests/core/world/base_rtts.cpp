// SPDX-License-Identifier: Apache-2.0
#include "core/world/base_rtts.h"

#include <doctest/doctest.h>

#include <vector>

#include "core/topology/builders.h"

using namespace sluice;
using namespace sluice::step;

namespace {

FlowSpec spec_between(NodeId src, NodeId dst) {
    FlowSpec spec;
    spec.src = src;
    spec.dst = dst;
    spec.size = 1000;
    return spec;
}

}  // namespace

TEST_CASE("unit.world.base_rtts.pairs_are_of_the_list_or_added_once") {
    const Topology topology = build_star({4, {}});
    NetworkConfig config;
    config.nic.global_base_rtt = false;
    config.congestion.window = true;
    BaseRtts rtts(topology, config, {});
    CHECK(rtts.by_pair());
    CHECK(rtts.largest_window() == 0);  // no flow yet
    const std::vector<FlowSpec> list{spec_between(0, 1)};
    rtts.set_list(list, {});
    // All pairs of a star are alike.
    CHECK(rtts.of(0, list[0]).rtt == rtts.network().rtt);
    CHECK(rtts.largest_window() == rtts.network().bdp.count);

    FlowSpec opened = spec_between(2, 3);
    opened.id = opened_flow_id(2, 0);
    CHECK(!rtts.knows(opened));
    CHECK(rtts.add(opened).rtt == rtts.network().rtt);
    CHECK(rtts.knows(opened));
    CHECK(rtts.of(opened.id, opened).bdp.count == rtts.network().bdp.count);
    CHECK(!rtts.knows(spec_between(3, 2)));
}

TEST_CASE("unit.world.base_rtts.without_a_window_any_number_of_bytes_is_in_flight") {
    const Topology topology = build_star({2, {}});
    NetworkConfig config;
    config.congestion.window = false;
    const BaseRtts rtts(topology, config, {});
    CHECK(rtts.network().bdp.count > 0);
    CHECK(rtts.largest_window() == 0);
}
