// SPDX-License-Identifier: Apache-2.0
/// Trajectories that outlive their run: what the memo keeps of them, who recalls them, and what runs do that follow them.
#include "core/calibration/trajectory_memory.h"

#include <algorithm>
#include <limits>
#include <ostream>

#include "core/random.h"
#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;
using hybrid::GroupKey;
using hybrid::Trajectory;
using hybrid::TrajectoryMemory;

namespace {

constexpr Tick kStep = 4 * kMicrosecond;

/// Of flows that sway about `slope` each.
Trajectory swaying(std::size_t flows, std::size_t steps, double slope) {
    Trajectory made(flows, kStep, {1e9, 128});
    for (std::size_t flow = 0; flow < flows; ++flow) {
        double advance = -1000;
        for (std::size_t i = 0; i < steps; ++i) {
            const double part = slope + 0.01 * static_cast<double>((i + flow) % 7);
            advance += part * static_cast<double>(kStep);
            made.add_advance(flow, advance);
            made.add_law(flow, 1.1 * part, static_cast<std::int64_t>((i + flow) % 6));
        }
    }
    made.keep_rate(0);
    return made;
}

/// Two that differ by rounding only.
void check_alike(const Trajectory& one, const Trajectory& other) {
    REQUIRE(one.flows() == other.flows());
    REQUIRE(one.reach() == other.reach());
    CHECK(one.step() == other.step());
    CHECK(one.settling().convergence == other.settling().convergence);
    CHECK(one.settling().steps == other.settling().steps);
    for (std::size_t flow = 0; flow < one.flows(); ++flow) {
        CHECK(one.keeps_rate(flow) == other.keeps_rate(flow));
        for (Tick age = kStep; age <= one.reach(); age += kStep / 3) {
            const auto at = static_cast<double>(age);
            CHECK(std::abs(one.advance(flow, at) - other.advance(flow, at)) <= kStep / 4096.0);
            CHECK(one.law(flow, at) == doctest::Approx(other.law(flow, at)).epsilon(1e-3));
            CHECK(one.stage(flow, at) == other.stage(flow, at));
        }
    }
}

/// Messages alone and pairs that meet halfway, on a leaf of 12 hosts.
Case messages(std::uint64_t seed) {
    LeafSpineParams shape;
    shape.leaves = 1;
    shape.spines = 1;
    shape.hosts_per_leaf = 12;
    Case given;
    given.topology = build_leaf_spine(shape);
    given.config.congestion.law = congestion::Law::hpcc;
    for (int wave = 0; wave < 16; ++wave) {
        for (NodeId host = 0; host < 12; host += 4) {
            const Tick place = static_cast<Tick>(mix_bits(seed + given.flows.size()) % 5'000);
            const Tick start = wave * 2 * kMillisecond + place * kNanosecond;
            given.flows.push_back(flow(host, host + 1, 4'000'000, start));
            given.flows.push_back(flow(host + 2, host + 3, 3'000'000, start));
            given.flows.push_back(flow(host, host + 3, 2'000'000, start + 90 * kMicrosecond));
        }
    }
    return given;
}

HybridOutcome run_with(const Case& given, memo::Memo& memo, Driver driver) {
    return run_hybrid(given, local_phases(), driver, nullptr, false, false, nullptr, nullptr,
                      nullptr, nullptr, &memo);
}

std::size_t trajectories_in(const memo::Content& content) {
    return static_cast<std::size_t>(std::count_if(
        content.begin(), content.end(),
        [](const memo::Stored& one) { return one.entry.kind == memo::Kind::trajectory; }));
}

}  // namespace

TEST_CASE("unit.trajectory_memory.numbers_say_all_of_a_trajectory") {
    for (const std::size_t flows : {1, 2, 9}) {
        const Trajectory made = swaying(flows, 50, 0.9 / static_cast<double>(flows));
        const auto read = hybrid::trajectory_of(hybrid::numbers_of(made), flows);
        REQUIRE(read != nullptr);
        check_alike(made, *read);
    }
}

TEST_CASE("unit.trajectory_memory.other_numbers_are_no_trajectory") {
    const memo::Numbers good = hybrid::numbers_of(swaying(2, 20, 0.4));
    CHECK(hybrid::trajectory_of(good, 2) != nullptr);
    CHECK(hybrid::trajectory_of(good, 1) == nullptr);
    CHECK(hybrid::trajectory_of(good, 3) == nullptr);
    CHECK(hybrid::trajectory_of({}, 1) == nullptr);
    for (std::size_t length = 0; length < good.size(); ++length) {
        const memo::Numbers part(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
        CHECK(hybrid::trajectory_of(part, 2) == nullptr);
    }
    constexpr std::int64_t kExtremes[] = {std::numeric_limits<std::int64_t>::min(), -1, 0,
                                          std::numeric_limits<std::int64_t>::max()};
    for (std::size_t place = 0; place < good.size(); ++place) {
        for (const std::int64_t extreme : kExtremes) {
            memo::Numbers wrong = good;
            wrong[place] = extreme;
            if (const auto read = hybrid::trajectory_of(wrong, 2); read != nullptr) {
                CHECK(read->reach() == 20 * read->step());
            }
        }
    }
}

TEST_CASE("unit.trajectory_memory.only_the_same_kind_is_recalled") {
    memo::Memo first;
    const GroupKey pair = {2, 7, 7};
    const GroupKey alone = {1, 5};
    TrajectoryMemory(first, {3, 4}).learn(pair, swaying(2, 30, 0.5), 1);
    TrajectoryMemory(first, {3, 4}).learn(alone, swaying(1, 30, 0.9), 1);
    TrajectoryMemory(first, {3, 5}).learn({1, 6}, swaying(1, 30, 0.9), 1);
    memo::Memo memo(first.news());
    const TrajectoryMemory memory(memo, {3, 4});
    CHECK(memory.recall(pair, 16).size() == 1);
    CHECK(memory.recall(alone, 16).size() == 1);
    CHECK(memory.recall({2, 7, 8}, 16).empty());
    CHECK(memory.recall({1, 6}, 16).empty());
    CHECK(TrajectoryMemory(memo, {3, 5}).recall(pair, 16).empty());
    CHECK(memory.kinds_alone() == std::vector<GroupKey>{alone});
    // What a run adds is for later ones.
    TrajectoryMemory(memo, {3, 4}).learn(pair, swaying(2, 40, 0.5), 1);
    CHECK(memory.recall(pair, 16).size() == 1);
}

TEST_CASE("unit.trajectory_memory.who_is_recalled_of_many_does_not_depend_on_who_came_first") {
    const GroupKey pair = {2, 7, 7};
    const auto recalled = [&](bool backwards) {
        memo::Memo first;
        for (std::size_t i = 0; i < 30; ++i) {
            const std::size_t steps = 10 + (backwards ? 29 - i : i);
            TrajectoryMemory(first, {}).learn(pair, swaying(2, steps, 0.5), static_cast<Tick>(i));
        }
        memo::Memo memo(first.news());
        std::vector<Tick> reaches;
        for (const auto& one : TrajectoryMemory(memo, {}).recall(pair, 16)) {
            reaches.push_back(one->reach());
        }
        return reaches;
    };
    const std::vector<Tick> forwards = recalled(false);
    CHECK(forwards.size() == 16);
    CHECK(forwards == recalled(true));
    CHECK_FALSE(std::is_sorted(forwards.begin(), forwards.end()));
}

TEST_CASE("unit.trajectory_memory.facts_of_kinds_are_those_of_earlier_runs") {
    hybrid::NearFacts facts;
    facts.stand_in(1'000'000);
    facts.stand_in(4'200'000);
    memo::Memo first;
    TrajectoryMemory(first, {3}).learn_facts(facts, 1);
    memo::Memo memo(first.news());
    hybrid::NearFacts later;
    TrajectoryMemory(memo, {3}).recall_facts(later);
    CHECK(later.known() == facts.known());
    CHECK(later.stand_in(1'000'100) == 1'000'000);
    TrajectoryMemory(memo, {3}).learn_facts(later, 1);
    CHECK(memo.news().empty());
    hybrid::NearFacts others;
    TrajectoryMemory(memo, {4}).recall_facts(others);
    CHECK(others.known().empty());
}

TEST_CASE("unit.trajectory_memory.later_runs_follow_and_nothing_is_lost") {
    std::uint64_t cold = 0;
    std::uint64_t warm = 0;
    double mean = 0;
    double true_mean = 0;
    memo::Content known;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const Case given = messages(100 * seed);
        memo::Memo nothing;
        cold += run_with(given, nothing, Driver::windows).outcome.counters.packet_hops;
        if (seed == 0) {
            known = nothing.news();
            CHECK(trajectories_in(known) > 0);
        }
        memo::Memo memo(known);
        const HybridOutcome made = run_with(given, memo, Driver::windows);
        warm += made.outcome.counters.packet_hops;
        PhaseConfig packets = local_phases();
        packets.skip = false;
        const HybridOutcome all = run_hybrid(given, packets, Driver::windows);
        for (std::size_t port = 0; port < all.outcome.ports.size(); ++port) {
            CHECK(made.outcome.ports[port].tx_packets == all.outcome.ports[port].tx_packets);
            CHECK(made.outcome.ports[port].tx_bytes == all.outcome.ports[port].tx_bytes);
        }
        for (std::size_t f = 0; f < given.flows.size(); ++f) {
            const Tick start = given.flows[f].start;
            mean += static_cast<double>(made.outcome.flows[f].finish - start);
            true_mean += static_cast<double>(all.outcome.flows[f].finish - start);
        }
    }
    MESSAGE(cold << " packet-hops cold, " << warm << " warm; " << 100 * (mean / true_mean - 1)
                 << "% of the mean");
    CHECK(warm < cold * 2 / 3);
    CHECK(mean == doctest::Approx(true_mean).epsilon(0.005));
}

TEST_CASE("unit.trajectory_memory.two_engines_agree") {
    const Case given = messages(7);
    memo::Memo nothing;
    run_with(given, nothing, Driver::windows);
    memo::Memo one(nothing.news());
    memo::Memo other(nothing.news());
    const HybridOutcome windows = run_with(given, one, Driver::windows);
    const HybridOutcome oracle = run_with(given, other, Driver::oracle);
    check_same(windows.outcome, oracle.outcome);
    CHECK(memo::digest_of(one.news()) == memo::digest_of(other.news()));
}
