// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/near_facts.h"

#include <doctest/doctest.h>

namespace sluice::hybrid {

TEST_CASE("unit.near_facts.the_first_stands_for_those_near_it") {
    NearFacts facts;
    CHECK(facts.stand_in(8'000'000) == 8'000'000);
    CHECK(facts.stand_in(8'000'800) == 8'000'000);
    CHECK(facts.stand_in(7'992'001) == 8'000'000);
    CHECK(facts.stand_in(8'008'000) == 8'000'000);
    CHECK(facts.stand_in(8'008'001) == 8'008'001);
    CHECK(facts.stand_in(8'006'000) == 8'008'001);
    CHECK(facts.stand_in(8'003'000) == 8'000'000);
    CHECK(facts.known().size() == 2);
}

TEST_CASE("unit.near_facts.what_is_no_length_stands_for_itself") {
    NearFacts facts;
    for (const std::int64_t fact : {0, -1, 1, 2, -1'000'000, -1'000'001}) {
        CHECK(facts.stand_in(fact) == fact);
    }
}

TEST_CASE("unit.near_facts.what_was_known_before_counts") {
    NearFacts facts;
    facts.add(1000);
    CHECK(facts.stand_in(1001) == 1000);
    CHECK(facts.stand_in(1002) == 1002);
}

}  // namespace sluice::hybrid
