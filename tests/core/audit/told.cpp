// SPDX-License-Identifier: Apache-2.0
/// An audit of told episodes: what it takes is what it would have been, and a memo that lies is found out.
#include "core/audit/told.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/audit_support.h"
#include "tests/support/episode_support.h"

namespace sluice::test {
namespace {

constexpr std::uint32_t kRounds = 150;

PhaseConfig without_skips() {
    PhaseConfig config;
    config.skip = false;
    return config;
}

Case case_of(std::uint64_t seed, std::uint32_t rounds) {
    Case given = rounds_case(seed, rounds, kApart, 0);
    given.stop = rounds * kApart;
    return given;
}

/// With every completion time `factor` of what it was, and nothing to be added to it.
memo::Content stretched(memo::Content content, double factor) {
    for (memo::Stored& stored : content) {
        for (memo::SampleCount& seen : stored.entry.samples) {
            memo::Sample sample = *seen.sample;
            for (std::size_t i = 0;
                 stored.entry.kind == memo::Kind::episode && i < sample.values.size(); i += 3) {
                for (const std::size_t end : {i + 1, i + 2}) {
                    const auto took = static_cast<double>(sample.values[end] - sample.values[i]);
                    sample.values[end] = sample.values[i] + std::llround(took * factor);
                }
            }
            seen.sample = std::make_shared<const memo::Sample>(std::move(sample));
            seen.count = stored.entry.kind == memo::Kind::episode ? memo::kMostSamples : seen.count;
        }
    }
    return content;
}

struct Setting {
    double share = 1;
    double factor = 1;
    double tolerance = 1;
    bool fold = false;
};

Audited run_told(const Case& given, memo::Memo& memo, const Setting& setting) {
    hybrid::EpisodeMemory memory(memo, {}, kEverythingIsKnown, 1);
    AuditOptions options{setting.share};
    options.tolerance = setting.tolerance;
    options.memory = &memory;
    options.memo = &memo;
    options.fold = setting.fold;
    return run_audited(given, without_skips(), options);
}

TEST_CASE("unit.audit.told.where_all_are_audited_nothing_is_told") {
    std::uint64_t audited = 0;
    for (std::uint64_t seed = 900; seed < 920; ++seed) {
        const Case given = case_of(seed, 8);
        INFO(given.name);
        memo::Memo memo(lessons_of(given));
        const Audited run = run_told(given, memo, {kEvery});
        const Audited plain = run_audited(given, without_skips(), {});
        CHECK(run.checksum == plain.checksum);
        CHECK(first_difference(run.flows, plain.flows) == -1);
        CHECK(run.audit.episodes == 0);
        CHECK(run.audit.audited_episodes == run.phases.episodes.learned);
        audited += run.audit.audited_episodes;
    }
    CHECK(audited > 60);
}

/// Two rings, again and again, that are no copies of each other.
Case rings_case(std::uint32_t rounds) {
    Case given;
    constexpr NodeId kHosts = 4;
    given.topology = build_star({2 * kHosts, {gigabits_per_second(100), kMicrosecond}});
    given.config = config_for(congestion::Law::dctcp, gigabits_per_second(100));
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (NodeId i = 0; i < 2 * kHosts; ++i) {
            const NodeId next = i / kHosts * kHosts + (i + 1) % kHosts;
            given.flows.push_back(flow(i, next, 300'000, round * kApart));
            given.flows.back().priority = static_cast<std::uint8_t>(3 + i / kHosts);
        }
    }
    assign_source_ports(given.flows);
    given.stop = rounds * kApart;
    return given;
}

TEST_CASE("unit.audit.told.rings_that_are_taken_are_compared") {
    const Case given = rings_case(6);
    memo::Memo memo(lessons_of(given));
    Setting setting{kEvery};
    setting.fold = true;
    const Audited run = run_told(given, memo, setting);
    const Audited plain = run_audited(given, without_skips(), {});
    CHECK(first_difference(run.flows, plain.flows) == -1);
    CHECK(run.audit.episodes == 0);
    CHECK(run.audit.audited_episodes == 12);
    AuditOptions folding;
    folding.fold = true;
    CHECK(run_audited(given, without_skips(), folding).fold.hops > 0);
}

TEST_CASE("unit.audit.told.the_interval_holds_the_error_of_a_memo_that_lies") {
    for (const double factor : {0.9, 1.0, 1.05}) {
        std::uint32_t held = 0;
        std::uint32_t runs = 0;
        for (std::uint64_t seed = 940; seed < 952; ++seed) {
            const Case given = case_of(seed, kRounds);
            memo::Memo memo(stretched(lessons_of(case_of(seed, 8)), factor));
            const Audited run = run_told(given, memo, {1, factor});
            if (!run.audit.enough || run.audit.episodes == 0) {
                continue;
            }
            ++runs;
            // As a share of the run's times, not of the true ones.
            const double truth =
                -mean_error(run_audited(given, without_skips(), {}).flows, run.flows);
            held += std::abs(run.audit.fct_error - truth) <= run.audit.fct_half + 1e-9 ? 1 : 0;
        }
        MESSAGE(factor << ": held in " << held << " of " << runs);
        CHECK(runs >= 6);
        CHECK(held + 1 >= runs);
    }
}

TEST_CASE("unit.audit.told.a_run_that_is_off_by_too_much_is_executed_from_then_on") {
    std::uint32_t distrusted = 0;
    for (std::uint64_t seed = 940; seed < 952; ++seed) {
        const Case given = case_of(seed, kRounds);
        memo::Memo memo(stretched(lessons_of(case_of(seed, 8)), 1.5));
        const Audited run = run_told(given, memo, {1, 1.5, 0.05});
        if (run.audit.distrusted == kNever) {
            continue;
        }
        ++distrusted;
        const std::vector<FlowResult> plain = run_audited(given, without_skips(), {}).flows;
        for (std::size_t i = 0; i < plain.size(); ++i) {
            if (given.flows[i].start > run.audit.distrusted + kApart) {
                CHECK(run.flows[i].finish - run.flows[i].start == plain[i].finish - plain[i].start);
            }
        }
    }
    CHECK(distrusted >= 4);
}

TEST_CASE("unit.audit.told.later_runs_inherit_what_was_found") {
    std::uint64_t inherited = 0;
    for (std::uint64_t seed = 940; seed < 952; ++seed) {
        const Case given = case_of(seed, kRounds);
        memo::Memo memo(lessons_of(given));
        const Audited first = run_told(given, memo, {1});
        memo::Memo later(memo.news());
        const Audited second = run_told(given, later, {1});
        CHECK(second.audit.inherited <= first.audit.audited_episodes);
        if (second.audit.episodes > 0 && first.audit.audited_episodes > 0) {
            CHECK(second.audit.inherited > 0);
        }
        inherited += second.audit.inherited;
    }
    CHECK(inherited > 20);
}

}  // namespace
}  // namespace sluice::test
