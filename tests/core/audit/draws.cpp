// SPDX-License-Identifier: Apache-2.0
#include "core/audit/draws.h"

#include <doctest/doctest.h>

using namespace sluice;
using audit::Candidate;
using audit::Draws;

namespace {

/// What is spent on many candidates, a tenth of which may be drawn, where `first` came before them; of what is due.
double spent_after(const Candidate& first) {
    step::World world{};
    world.events = 20'000'000;
    Draws draws(world, 0.1, 0, 1);
    draws.draw(first);
    for (int i = 0; i < 10'000; ++i) {
        const Candidate candidate{1, 1, 1'000};
        const double probability = draws.draw(candidate);
        CHECK(probability >= 0);
        CHECK(probability <= 1);
        draws.spend(probability > 0 ? candidate.cost : 0);
    }
    return draws.spent() / draws.due();
}

}  // namespace

TEST_CASE("unit.audit.draws.what_is_due_is_spent") {
    const double usual = spent_after({1, 1, 1'000});
    CHECK(usual > 0.5);
    CHECK(usual < 1.5);
}

TEST_CASE("unit.audit.draws.a_skip_that_costs_nothing_does_not_free_the_others_of_the_budget") {
    const double after_nothing = spent_after({1, 1, 0});
    CHECK(after_nothing > 0.5);
    CHECK(after_nothing < 1.5);
}

TEST_CASE("unit.audit.draws.what_is_certain_leaves_the_others_their_budget") {
    const double after_certain = spent_after({1, 1, 1e9, 1, true});
    CHECK(after_certain > 0.5);
    CHECK(after_certain < 1.5);
}

TEST_CASE("unit.audit.draws.a_packet_hop_is_twice_the_work_where_acks_are_no_packets") {
    step::World world{};
    Draws draws(world, 0.1, 1e6, 1);
    draws.progress(1);
    CHECK(draws.due() == 1e6);
    step::Wire answers;
    world.answers = &answers;
    CHECK(draws.due() == 5e5);
}
