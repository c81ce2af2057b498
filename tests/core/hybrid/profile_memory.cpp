// SPDX-License-Identifier: Apache-2.0
/// Calibration profiles that outlive their run: what a summary keeps, which groups recall a profile, and that all contracts
/// hold in runs that use it.
#include "core/calibration/profile_memory.h"

#include <cmath>
#include <limits>

#include "tests/support/fold_support.h"
#include "tests/support/hybrid_support.h"
#include "tests/support/ring_cases.h"

using namespace sluice;
using namespace sluice::test;
using hybrid::BinReading;
using hybrid::CalibrationProfile;
using hybrid::GroupKind;
using hybrid::ProfileMemory;
using hybrid::ProfileSummary;

namespace {

constexpr Tick kBinLength = 4 * kMicrosecond;
constexpr Tick kSawtoothSpan = 30 * kMicrosecond;

/// Two hosts at one switch that send to each other. `first` is the faster flow's place, and changes all names.
struct Pair {
    explicit Pair(std::size_t first = 0) : ways(2), flows(2) {
        const PortId a{static_cast<std::uint32_t>(4 + first)};
        const PortId b{static_cast<std::uint32_t>(9 - first)};
        ways[first] = {{}, {a, b}, {b, a}};
        ways[1 - first] = {{}, {b, a}, {a, b}};
        for (std::size_t f = 0; f < 2; ++f) {
            flows[f] = {&ways[f], kBinLength, 100'000'000'000, 2, 0, {7, f == first ? 1 : 0}};
        }
    }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    GroupKind kind() const {
        const auto describe = [this](PortId) { return port; };
        return {hybrid::group_key(flows, describe), {flows.size(), kBinLength, kSawtoothSpan}};
    }
    std::vector<step::Footprint> ways;
    std::vector<hybrid::KeyedFlow> flows;
    hybrid::KeyedPort port{100'000'000'000, 40'000, 0};
};

/// Profile of `groups` groups with `bins` bins: two flows at 0.0125 and 0.025 bytes a tick that begin slower.
CalibrationProfile profile_of(std::size_t bins, int groups, double slower = 0) {
    CalibrationProfile profile({2, kBinLength, kSawtoothSpan});
    for (int group = 0; group < groups; ++group) {
        profile.add_initial({{1e11, 20'000}, {9e10, 0}});
        for (std::size_t at = 0; at < bins; ++at) {
            const double noise =
                static_cast<double>(mix_bits(at * 7 + static_cast<std::size_t>(group)) % 1000) /
                1e5;
            const double rate = 0.0125 * (1 - 0.3 / static_cast<double>(at + 1) + noise) - slower;
            profile.add(at, {{rate, 40'000}, {2 * rate, 80'000}}, false);
        }
    }
    return profile;
}

CalibrationProfile stored_and_read(const CalibrationProfile& profile) {
    const memo::Numbers numbers = numbers_of(profile.summary());
    const std::optional<ProfileSummary> summary = hybrid::summary_of(numbers, profile.kind());
    REQUIRE(summary.has_value());
    return {profile.kind(), *summary};
}

}  // namespace

TEST_CASE("unit.profile_memory.a_summary_predicts_as_its_profile_does") {
    for (const std::size_t bins : {3, 40, 200, 512}) {
        const CalibrationProfile profile = profile_of(bins, 3);
        const CalibrationProfile recalled = stored_and_read(profile);
        CAPTURE(bins);
        CHECK(recalled.bins() == profile.bins());
        CHECK(recalled.has_initial());
        CHECK(recalled.initial(1).rate == doctest::Approx(9e10));
        CHECK(recalled.trusted_tail() == doctest::Approx(profile.trusted_tail()));
        CHECK(recalled.has_enough_contributors(static_cast<double>(bins) - 1));
        CHECK(recalled.trusted_skip(0) <= profile.trusted_skip(0));
        for (std::size_t f = 0; f < 2; ++f) {
            for (const double first : {0.0, 1.5, 20.0, 130.0, 600.0}) {
                for (const double count : {1.0, 30.0, 400.0}) {
                    const BinReading a = profile.mean(f, first, count);
                    const BinReading b = recalled.mean(f, first, count);
                    CHECK(b.rate == doctest::Approx(a.rate).epsilon(0.01));
                    CHECK(b.in_flight == doctest::Approx(a.in_flight).epsilon(0.01));
                }
            }
        }
    }
}

TEST_CASE("unit.profile_memory.invalid_numbers_are_ignored") {
    const memo::Numbers whole = numbers_of(profile_of(90, 3).summary());
    CHECK(hybrid::summary_of(whole, {2}).has_value());
    CHECK(!hybrid::summary_of(whole, {3}).has_value());
    CHECK(!hybrid::summary_of(whole, {1}).has_value());
    for (std::size_t n = 0; n < whole.size(); ++n) {
        memo::Numbers cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
        CHECK(!hybrid::summary_of(cut, {2}).has_value());
        memo::Numbers wrong = whole;
        for (const std::int64_t value : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::min()}) {
            wrong[n] = value;
            CHECK(!hybrid::summary_of(wrong, {2}).has_value());
        }
    }
    memo::Numbers longer = whole;
    longer.push_back(0);
    CHECK(!hybrid::summary_of(longer, {2}).has_value());
}

TEST_CASE("unit.profile_memory.only_groups_of_the_same_kind_are_recalled") {
    memo::Memo first;
    ProfileMemory(first, {5}).learn(Pair().kind().key, profile_of(300, 3), std::nullopt, 1000);
    memo::Memo memo(first.news());
    const ProfileMemory memory(memo, {5});
    CHECK(memory.recall(Pair().kind()).has_value());
    CHECK(!ProfileMemory(memo, {6}).recall(Pair().kind()).has_value());
    GroupKind other = Pair().kind();
    other.profile.bin_length += 1;
    CHECK(!memory.recall(other).has_value());
    other = Pair().kind();
    other.profile.sawtooth_span += 1;
    CHECK(!memory.recall(other).has_value());
    const auto unknown = [&](auto&& change) {
        Pair pair;
        change(pair);
        CHECK(!memory.recall(pair.kind()).has_value());
    };
    unknown([](Pair& pair) { pair.flows[0].age_class += 1; });
    unknown([](Pair& pair) { pair.flows[1].law[1] += 1; });
    unknown([](Pair& pair) { pair.flows[1].law.push_back(0); });
    unknown([](Pair& pair) { pair.flows[1].traffic_class = 1; });
    unknown([](Pair& pair) { pair.port.rate /= 2; });
    unknown([](Pair& pair) { pair.port.mark_bytes += 1; });
    unknown([](Pair& pair) { pair.port.ack_class += 1; });
    unknown([](Pair& pair) { pair.ways[1].data.front() = PortId{77}; });
    unknown([](Pair& pair) { std::swap(pair.ways[1].data, pair.ways[1].acks); });
    unknown([](Pair& pair) { pair.flows.pop_back(); });
}

TEST_CASE("unit.profile_memory.names_of_flows_do_not_matter") {
    memo::Memo first;
    const CalibrationProfile profile = profile_of(300, 3);
    ProfileMemory(first, {}).learn(Pair().kind().key, profile, std::nullopt, 1000);
    memo::Memo memo(first.news());
    ProfileMemory memory(memo, {});
    const std::optional<CalibrationProfile> same = memory.recall(Pair().kind());
    const GroupKind turned = Pair(1).kind();
    REQUIRE(turned.key != Pair().kind().key);
    const std::optional<CalibrationProfile> other = memory.recall(turned);
    REQUIRE(same.has_value());
    REQUIRE(other.has_value());
    for (std::size_t f = 0; f < 2; ++f) {
        CHECK(same->mean(f, 3, 50).rate ==
              doctest::Approx(profile.mean(f, 3, 50).rate).epsilon(0.01));
        CHECK(other->mean(f, 3, 50).rate == same->mean(1 - f, 3, 50).rate);
        CHECK(other->initial(f).rate == same->initial(1 - f).rate);
    }
    // Under its other name, the same profile adds nothing.
    memory.learn(turned.key, *other, other, 2);
    CHECK(memo.news().empty());
}

TEST_CASE("unit.profile_memory.the_longest_trusted_profile_is_recalled_and_replaced") {
    const CalibrationProfile few = profile_of(12, 3);
    const CalibrationProfile many = profile_of(400, 3, 1e-6);
    memo::Memo first;
    ProfileMemory(first, {}).learn(Pair().kind().key, few, std::nullopt, 1);
    ProfileMemory(first, {}).learn(Pair().kind().key, many, std::nullopt, 1);
    // A few bins of one group allow no skips.
    ProfileMemory(first, {}).learn(Pair(1).kind().key, profile_of(12, 1), std::nullopt, 1);
    CHECK(first.news().size() == 1);
    memo::Memo memo(first.news());
    ProfileMemory memory(memo, {});
    const std::optional<CalibrationProfile> recalled = memory.recall(Pair().kind());
    REQUIRE(recalled.has_value());
    CHECK(recalled->bins() == 400);
    memory.learn(Pair().kind().key, few, recalled, 2);
    memory.learn(Pair().kind().key, stored_and_read(*recalled), recalled, 2);  // the same run again
    CHECK(memo.news().empty());
}

namespace {

/// A run that uses and extends a memo.
HybridOutcome run_with_memo(const Case& given, memo::Memo& memo, Driver driver, bool check,
                            FoldCounters* fold = nullptr, const PhaseConfig& config = {}) {
    return run_hybrid(given, config, driver, nullptr, check, false, nullptr, fold, nullptr, nullptr,
                      &memo);
}

memo::Content memo_after(const Case& given, const PhaseConfig& config = {}) {
    memo::Memo memo;
    run_with_memo(given, memo, Driver::windows, false, nullptr, config);
    return memo.news();
}

}  // namespace

TEST_CASE("unit.profile_memory.recalled_profiles_save_packets_and_contracts_hold") {
    std::uint64_t cold = 0;
    std::uint64_t warm = 0;
    std::uint64_t recalled = 0;
    double error = 0;
    double cold_error = 0;
    double flows = 0;
    PhaseConfig packets;
    packets.skip = false;
    for (const congestion::Law law : kLaws) {
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const Rings rings(31'000 + seed, law);
            INFO(rings.given.name << " " << congestion::law_name(law));
            memo::Memo nothing;
            const HybridOutcome first = run_with_memo(rings.given, nothing, Driver::windows, false);
            CHECK(first.phases.recalled_skips == 0);
            memo::Memo memo(nothing.news());
            const HybridOutcome second = run_with_memo(rings.given, memo, Driver::windows, true);
            const HybridOutcome truth = run_hybrid(rings.given, packets, Driver::windows);
            cold += first.outcome.counters.packet_hops;
            warm += second.outcome.counters.packet_hops;
            recalled += second.phases.recalled_skips;
            for (std::size_t f = 0; f < rings.given.flows.size(); ++f) {
                const auto time = [&](const HybridOutcome& made) {
                    return static_cast<double>(made.outcome.flows[f].finish -
                                               made.outcome.flows[f].start);
                };
                cold_error += std::abs(time(first) / time(truth) - 1);
                error += std::abs(time(second) / time(truth) - 1);
                flows += 1;
            }
        }
    }
    MESSAGE(cold << " hops cold, " << warm << " warm, " << recalled << " skips; errors "
                 << cold_error / flows << ", " << error / flows);
    CHECK(recalled > 0);
    CHECK(warm < cold);
    CHECK(error / flows < 0.01);
}

TEST_CASE("unit.profile_memory.windows_and_oracle_agree") {
    std::uint64_t recalled = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const congestion::Law law = kLaws[seed % std::size(kLaws)];
        const Rings rings(32'000 + seed, law);
        INFO(rings.given.name);
        PhaseConfig config;
        config.wake = seed % 2 == 0 && law != congestion::Law::none ? Wake::data : Wake::partition;
        const memo::Content known = memo_after(rings.given, config);
        memo::Memo one(known);
        memo::Memo other(known);
        const HybridOutcome windows =
            run_with_memo(rings.given, one, Driver::windows, false, nullptr, config);
        const HybridOutcome oracle =
            run_with_memo(rings.given, other, Driver::oracle, false, nullptr, config);
        check_same(windows.outcome, oracle.outcome);
        CHECK(windows.phases.recalled_skips == oracle.phases.recalled_skips);
        recalled += windows.phases.recalled_skips;
    }
    CHECK(recalled > 0);
}

TEST_CASE("unit.profile_memory.folded_is_unfolded") {
    std::uint64_t folded_hops = 0;
    std::uint64_t recalled = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Rings rings(33'000 + seed, kLaws[seed % std::size(kLaws)]);
        INFO(rings.given.name);
        const memo::Content known = memo_after(rings.given);
        memo::Memo one(known);
        memo::Memo other(known);
        const HybridOutcome plain = run_with_memo(rings.given, one, Driver::windows, false);
        FoldCounters fold;
        const HybridOutcome folded =
            run_with_memo(rings.given, other, Driver::windows, false, &fold);
        check_same_but_executed(plain.outcome, folded.outcome);
        CHECK(plain.phases.recalled_skips == folded.phases.recalled_skips);
        CHECK(plain.phases.bytes_skipped == folded.phases.bytes_skipped);
        folded_hops += fold.hops;
        recalled += plain.phases.recalled_skips;
    }
    CHECK(folded_hops > 0);
    CHECK(recalled > 0);
}
