// SPDX-License-Identifier: Apache-2.0
/// Episodes that are held, and simulated after all, beside what is folded, and with messages of connections.
#include <algorithm>

#include "tests/support/episode_support.h"
#include "tests/support/fold_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

HybridOutcome run_folded(const Case& given, hybrid::EpisodeMemory* memory, FoldCounters& fold) {
    PhaseConfig config;
    config.skip = false;
    return run_hybrid(given, config, Driver::windows, nullptr, false, false, nullptr, &fold,
                      nullptr, memory);
}

/// At the same switch copies of each other, rings of two hosts whose messages follow each other all the time.
void add_copies(Case& given, std::uint64_t seed, std::uint32_t rounds) {
    const auto hosts = static_cast<NodeId>(given.topology.hosts().size());
    constexpr NodeId kCopies = 4;
    given.topology = build_star({hosts + 2 * kCopies, {gigabits_per_second(100), kMicrosecond}});
    Dice dice(seed);
    const std::int64_t size = 100'000 + dice.below(400'000);
    const Tick gap = (20 + dice.below(40)) * kMicrosecond;
    for (Tick at = 0; at < rounds * kApart; at += gap) {
        for (NodeId copy = 0; copy < kCopies; ++copy) {
            for (NodeId end = 0; end < 2; ++end) {
                FlowSpec spec;
                spec.src = hosts + 2 * copy + end;
                spec.dst = hosts + 2 * copy + 1 - end;
                spec.size = size;
                spec.start = at + 100 * kNanosecond;
                given.flows.push_back(spec);
            }
        }
    }
    assign_source_ports(given.flows);
}

/// Each flow is followed by another message of its connection, soon.
void add_messages(Case& given, std::uint64_t seed) {
    Dice dice(seed);
    const std::size_t count = given.flows.size();
    for (std::size_t f = 0; f < count; ++f) {
        given.flows[f].connection = static_cast<ConnectionId>(f);
        if (dice.chance(60)) {
            FlowSpec next = given.flows[f];
            next.start += dice.below(12'000) * kNanosecond;
            given.flows.push_back(next);
        }
    }
    std::stable_sort(given.flows.begin(), given.flows.end(),
                     [](const FlowSpec& a, const FlowSpec& b) { return a.start < b.start; });
}

}  // namespace

TEST_CASE("unit.hybrid.held_beside.folds_at_the_same_switch_go_on") {
    std::uint64_t missed = 0;
    std::uint64_t images = 0;
    for (std::uint64_t seed = 500; seed < 560; ++seed) {
        Case given = rounds_case(seed, 5, kApart, 0);
        memo::Memo memo(lessons_of(given));
        add_copies(given, seed, 5);
        INFO(given.name);
        hybrid::EpisodeMemory memory(memo, {}, kNothingIsKnown, 1);
        FoldCounters fold;
        const HybridOutcome held = run_folded(given, &memory, fold);
        check_same_but_executed(run_with(given, nullptr).outcome, held.outcome);
        missed += held.phases.episodes.missed;
        images += fold.images;
    }
    CHECK(missed > 50);
    CHECK(images > 100);
}

TEST_CASE("unit.hybrid.held_beside.messages_of_one_connection_keep_their_order") {
    std::uint64_t missed = 0;
    for (std::uint64_t seed = 600; seed < 640; ++seed) {
        Case given = rounds_case(seed, 5, kApart, 0);
        const memo::Content lessons = lessons_of(given);
        add_messages(given, seed);
        INFO(given.name);
        const HybridOutcome alone = run_with(given, nullptr);
        {
            memo::Memo memo(lessons);
            hybrid::EpisodeMemory memory(memo, {}, kNothingIsKnown, 1);
            const HybridOutcome held = run_with(given, &memory);
            check_same_but_executed(alone.outcome, held.outcome);
            missed += held.phases.episodes.missed;
        }
        memo::Memo memo(lessons);
        hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
        const HybridOutcome told = run_with(given, &memory);
        for (std::size_t f = 0; f < given.flows.size(); ++f) {
            CHECK((told.outcome.flows[f].finish != kNever) ==
                  (alone.outcome.flows[f].finish != kNever));
        }
    }
    CHECK(missed > 5);
}
