// SPDX-License-Identifier: Apache-2.0
/// HyGra's equations 2 and 3, worked out by hand.
#include <doctest/doctest.h>

#include <vector>

#include "flowlevel/steady_phase.h"

using namespace sluice::flowlevel;

namespace {

SteadyFlow flow(const std::vector<LinkUse>& links, double instantaneous, double guaranteed,
                double weight) {
    SteadyFlow flow;
    flow.links = links;
    flow.instantaneous = instantaneous;
    flow.guaranteed = guaranteed;
    flow.weight = weight;
    return flow;
}

doctest::Approx about(double value) { return doctest::Approx(value).epsilon(1e-12); }

}  // namespace

TEST_CASE("unit.flowlevel.steady_phase.one_link_is_equation_3") {
    // C = 20. B_init = min(5, 4) = 4, min(3, 8) = 3, min(2, 0) = 0; residue 13 by weights 1, 2, 10.
    const std::vector<SteadyFlow> flows = {flow({{0, 1}}, 5, 4, 1), flow({{0, 1}}, 3, 8, 2),
                                           flow({{0, 1}}, 2, 0, 10)};
    const std::vector<double> rates = steady_rates(flows, {20});
    CHECK(rates[0] == about(5));
    CHECK(rates[1] == about(5));
    CHECK(rates[2] == about(10));
}

TEST_CASE("unit.flowlevel.steady_phase.residue_over_two_links") {
    // Links of 10 and 6. The second flow's path crosses both; B_init 1, 2, 1. Link 1 has 6 - 3 left
    // for two flows, link 0 then 10 - 3.5 for the first.
    const std::vector<SteadyFlow> flows = {flow({{0, 1}}, 1, 1, 1), flow({{0, 1}, {1, 1}}, 2, 2, 1),
                                           flow({{1, 1}}, 1, 1, 1)};
    const std::vector<double> rates = steady_rates(flows, {10, 6});
    CHECK(rates[0] == about(6.5));
    CHECK(rates[1] == about(3.5));
    CHECK(rates[2] == about(2.5));
}

TEST_CASE("unit.flowlevel.steady_phase.initial_rates_beyond_capacity_are_cut_in_proportion") {
    const std::vector<SteadyFlow> flows = {flow({{0, 1}}, 9, 9, 1), flow({{0, 1}}, 3, 3, 5)};
    const std::vector<double> rates = steady_rates(flows, {8});
    CHECK(rates[0] == about(6));
    CHECK(rates[1] == about(2));
}

TEST_CASE("unit.flowlevel.steady_phase.headers_caps_and_dead_links") {
    // 1.25 bytes on the link per byte: 10 / 1.25 = 8 for one flow of cap 3 and one without.
    SteadyFlow slow = flow({{0, 1.25}}, 5, 5, 1);
    slow.cap = 3;
    const SteadyFlow fast = flow({{0, 1.25}}, 0, 0, 1);
    const SteadyFlow dead = flow({{1, 1}}, 1, 1, 1);
    const std::vector<double> rates = steady_rates({slow, fast, dead}, {10, 0});
    CHECK(rates[0] == about(3));
    CHECK(rates[1] == about(5));
    CHECK(rates[2] == 0);
}
