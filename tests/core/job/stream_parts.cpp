// SPDX-License-Identifier: Apache-2.0
/// What a streamed job counts and matches with; the job itself: tests/workloads/goal/stream.cpp.
#include <doctest/doctest.h>

#include <map>

#include "core/job/message_matches.h"
#include "core/job/pair_counts.h"
#include "core/random.h"

using namespace sluice;

TEST_CASE("unit.job.stream_parts.pairs_are_counted_few_and_many") {
    PairCounts counts;
    std::map<std::uint32_t, std::uint32_t> expected;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        // First few peers, then all of 1000.
        const std::uint32_t peer = uniform_below(1, 2, i, i < 5000 ? 20 : 1000);
        REQUIRE(counts.next(peer, 1000) == expected[peer]++);
    }
    PairCounts around;
    for (std::uint32_t i = 0; i < 55'536; ++i) around.next(7, 10);
    CHECK(around.next(7, 10) == 0);
}

TEST_CASE("unit.job.stream_parts.the_nth_send_meets_the_nth_recv") {
    MessageMatches matches;
    const auto end = [](StreamOp op) { return MessageMatches::End{op, 0, false}; };
    CHECK(!matches.meet(1, 2, 7, true, end(10)));
    CHECK(!matches.meet(1, 2, 7, true, end(11)));
    CHECK(!matches.meet(1, 2, 8, true, end(12)));
    CHECK(!matches.meet(2, 1, 7, true, end(13)));
    CHECK(matches.waiting() == 4);
    CHECK(matches.arrive(1, 2, 7, 11));
    CHECK(!matches.arrive(1, 2, 7, 99));
    auto met = matches.meet(1, 2, 7, false, end(20));
    REQUIRE(met);
    CHECK(met->op == 10);
    CHECK(!met->arrived);
    met = matches.meet(1, 2, 7, false, end(21));
    REQUIRE(met);
    CHECK(met->op == 11);
    CHECK(met->arrived);
    CHECK(!matches.meet(1, 2, 7, false, end(22)));
    CHECK(matches.waiting() == 3);
}

TEST_CASE("unit.job.stream_parts.many_tags_once_each_are_forgotten") {
    MessageMatches matches;
    for (std::int64_t tag = 0; tag < 100'000; ++tag) {
        REQUIRE(!matches.meet(1, 2, tag, true, {static_cast<StreamOp>(tag), 0, false}));
        if (tag < 100) continue;
        const auto met = matches.meet(1, 2, tag - 100, false, {0, 0, false});
        REQUIRE(met);
        REQUIRE(met->op == static_cast<StreamOp>(tag - 100));
    }
    CHECK(matches.waiting() == 100);
    CHECK(matches.memory_bytes() < 200'000);
}
