// SPDX-License-Identifier: Apache-2.0
/// HyGra's equations 2 to 8, worked out by hand.
#include <doctest/doctest.h>

#include <vector>

#include "flowlevel/steady_phase.h"

using namespace sluice::flowlevel;

namespace {

SteadyFlow flow(const std::vector<LinkUse>& links, double instantaneous, double guaranteed,
                double weight, double remaining) {
    SteadyFlow flow;
    flow.links = links;
    flow.instantaneous = instantaneous;
    flow.guaranteed = guaranteed;
    flow.weight = weight;
    flow.remaining = remaining;
    return flow;
}

doctest::Approx about(double value) { return doctest::Approx(value).epsilon(1e-12); }

}  // namespace

TEST_CASE("unit.flowlevel.steady_phase.one_link_is_equation_3") {
    // C = 20. B_init = min(5, 4) = 4, min(3, 8) = 3, min(2, 0) = 0; residue 13 by weights 1, 2, 10.
    const std::vector<SteadyFlow> flows = {
        flow({{0, 1}}, 5, 4, 1, 100), flow({{0, 1}}, 3, 8, 2, 100), flow({{0, 1}}, 2, 0, 10, 100)};
    const SteadyPhase phase = steady_phase(flows, {20}, {0});
    CHECK(phase.rates[0] == about(5));
    CHECK(phase.rates[1] == about(5));
    CHECK(phase.rates[2] == about(10));
    // Eq. 4: 100 / 10 comes first.
    CHECK(phase.duration == about(10));
    CHECK(phase.first == 2);
    CHECK(phase.completions[0] == about(20));
}

TEST_CASE("unit.flowlevel.steady_phase.residue_over_two_links") {
    // Links of 10 and 6. The second flow's path crosses both; B_init 1, 2, 1. Link 1 has 6 - 3 left
    // for two flows, link 0 then 10 - 3.5 for the first.
    const std::vector<SteadyFlow> flows = {flow({{0, 1}}, 1, 1, 1, 13),
                                           flow({{0, 1}, {1, 1}}, 2, 2, 1, 7),
                                           flow({{1, 1}}, 1, 1, 1, 50)};
    const SteadyPhase phase = steady_phase(flows, {10, 6}, {0, 0});
    CHECK(phase.rates[0] == about(6.5));
    CHECK(phase.rates[1] == about(3.5));
    CHECK(phase.rates[2] == about(2.5));
    // Both end after 2: the first of the list is named.
    CHECK(phase.duration == about(2));
    CHECK(phase.first == 0);
}

TEST_CASE("unit.flowlevel.steady_phase.initial_rates_beyond_capacity_are_cut_in_proportion") {
    const std::vector<SteadyFlow> flows = {flow({{0, 1}}, 9, 9, 1, 90),
                                           flow({{0, 1}}, 3, 3, 5, 90)};
    const SteadyPhase phase = steady_phase(flows, {8}, {0});
    CHECK(phase.rates[0] == about(6));
    CHECK(phase.rates[1] == about(2));
}

TEST_CASE("unit.flowlevel.steady_phase.queues_on_the_path_delay_completion_but_not_the_phase") {
    // Eq. 7: 30 bytes at 10 and 8 bytes at 4 are 3 + 2; eq. 8 adds them to 40 / 4.
    SteadyFlow one = flow({{0, 1}, {1, 1}}, 0, 0, 1, 40);
    one.queues = {0, 1};
    const SteadyPhase phase = steady_phase({one}, {10, 4}, {30, 8});
    CHECK(phase.rates[0] == about(4));
    CHECK(phase.duration == about(10));
    CHECK(phase.completions[0] == about(15));
}

TEST_CASE("unit.flowlevel.steady_phase.headers_caps_and_dead_links") {
    // 1.25 bytes on the link per byte: 10 / 1.25 = 8 for one flow of cap 3 and one without.
    SteadyFlow slow = flow({{0, 1.25}}, 5, 5, 1, 9);
    slow.cap = 3;
    const SteadyFlow fast = flow({{0, 1.25}}, 0, 0, 1, 20);
    const SteadyFlow dead = flow({{1, 1}}, 1, 1, 1, 1);
    const SteadyPhase phase = steady_phase({slow, fast, dead}, {10, 0}, {0, 5});
    CHECK(phase.rates[0] == about(3));
    CHECK(phase.rates[1] == about(5));
    CHECK(phase.rates[2] == 0);
    CHECK(phase.completions[2] == kUnlimited);
    CHECK(phase.duration == about(3));
    const SteadyPhase none = steady_phase({dead}, {10, 0}, {0, 0});
    CHECK(none.duration == kUnlimited);
    CHECK(none.first == 1);
}
