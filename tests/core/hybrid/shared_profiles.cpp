// SPDX-License-Identifier: Apache-2.0
/// Calibrated rates of flows that share ports: when a profile predicts other groups, and that all contracts hold in runs
/// that use it.
#include <cmath>
#include <vector>

#include "core/calibration/calibration.h"
#include "core/calibration/profile_memory.h"
#include "tests/support/fold_support.h"
#include "tests/support/hybrid_support.h"
#include "tests/support/ring_cases.h"

using namespace sluice;
using namespace sluice::test;
using hybrid::BinReading;
using hybrid::CalibrationProfile;
using hybrid::ProfileKind;

namespace {

constexpr Tick kBinLength = 1000;
constexpr double kShare = 50;  // bytes per tick
constexpr double kLaw = 4e11;  // bits/s
constexpr ProfileKind kPair{2, kBinLength, 4 * kBinLength, true};

/// How the two flows of a group behave.
struct Behaviour {
    double more = 0;       // rate of the first flow beyond the second's
    double law_drift = 0;  // of the law's rate, a bin
    double at_first = 0;   // further bytes in flight in the first four bins
};

void contribute(CalibrationProfile& profile, const Behaviour& group, std::size_t bins) {
    std::vector<double> sent(2, 0);
    for (std::size_t at = 0; at < bins; ++at) {
        std::vector<BinReading> bin;
        for (std::size_t f = 0; f < 2; ++f) {
            const double rate = kShare + (f == 0 ? group.more : -group.more) / 2;
            sent[f] += rate * static_cast<double>(kBinLength);
            const double law = kLaw * (1 + group.law_drift * static_cast<double>(at));
            bin.push_back({rate, 5000 + (at < 4 ? group.at_first : 0), law, sent[f]});
        }
        profile.add(at, bin, false);
    }
}

CalibrationProfile profile_of(const std::vector<Behaviour>& groups, std::size_t bins) {
    CalibrationProfile profile(kPair);
    for (const Behaviour& group : groups) {
        contribute(profile, group, bins);
    }
    return profile;
}

}  // namespace

TEST_CASE("unit.calibration.copies_share_readings_until_one_appends") {
    hybrid::BinReadings one;
    CHECK(one.empty());
    CHECK(one.all().empty());
    one.append({BinReading{1, 0, 0, 0}, BinReading{2, 0, 0, 0}});
    hybrid::BinReadings other = one;
    CHECK(&other.all() == &one.all());
    other.append({BinReading{3, 0, 0, 0}, BinReading{4, 0, 0, 0}});
    CHECK(one.size() == 2);
    REQUIRE(other.size() == 4);
    CHECK(one[1].rate == 2);
    CHECK(other[1].rate == 2);
    CHECK(other[3].rate == 4);
    const auto* const own = &other.all();
    other.append({BinReading{5, 0, 0, 0}});
    CHECK(&other.all() == own);
}

TEST_CASE("unit.shared_profiles.three_contributors_must_have_sent_the_same_bytes") {
    CHECK(profile_of({{}, {}}, 64).trusted_tail() == 0);
    CHECK(profile_of({{}, {}}, 64).trusted_skip(0) == 0);
    CHECK(profile_of({{}, {}}, 64).projected_skip(64) > 1e9);  // a third run need not be longer
    CHECK(profile_of({{}, {}}, 64).projected_skip(63) == 0);   // nor shorter
    CHECK(profile_of({{}, {}, {}}, 64).trusted_tail() > 1e9);
    CHECK(profile_of({{0.3}, {-0.3}, {}}, 64).trusted_tail() > 1e9);
    // Each group is steady, but at other rates.
    CHECK(profile_of({{4}, {-4}, {}}, 64).trusted_tail() == 0);
    CHECK(profile_of({{4}, {-4}, {}}, 64).trusted_skip(0) == 0);
    CHECK(profile_of({{4}, {4}, {4}}, 64).trusted_tail() > 1e9);
    CHECK(profile_of({{4}, {4}, {4}}, 64).mean(0, 10, 5).rate == doctest::Approx(52));
    CHECK(profile_of({{4}, {4}, {4}}, 64).mean(0, 200, 5).law_rate == doctest::Approx(kLaw));
}

TEST_CASE("unit.shared_profiles.algorithms_must_have_settled") {
    // Shares may be equal long before the algorithms' rates have settled.
    CHECK(profile_of({{0, -0.002}, {0, -0.002}, {0, -0.002}}, 64).trusted_tail() == 0);
    CHECK(profile_of({{0, -0.0002}, {0, -0.0002}, {0, -0.0002}}, 64).trusted_tail() > 1e9);
}

TEST_CASE("unit.shared_profiles.bytes_in_flight_must_have_settled") {
    const Behaviour deep{0, 0, 4000};
    const CalibrationProfile profile = profile_of({deep, deep, deep}, 64);
    CHECK(!profile.is_settled(0));
    CHECK(profile.is_settled(4));
    CHECK(profile_of({{}, {}, {}}, 64).is_settled(0));
}

TEST_CASE("unit.shared_profiles.a_packet_more_or_less_is_no_divergence") {
    // 1000 bytes more or less, of 50,000 a bin.
    CalibrationProfile profile(kPair);
    for (int group = 0; group < 3; ++group) {
        for (std::size_t at = 0; at < 12; ++at) {
            std::vector<BinReading> bin;
            for (std::size_t f = 0; f < 2; ++f) {
                const double sent =
                    kShare * static_cast<double>(kBinLength * static_cast<Tick>(at + 1));
                bin.push_back({kShare, 5000, kLaw, sent + 1000.0 * (group - 1)});
            }
            profile.add(at, bin, false);
        }
    }
    CHECK(profile.trusted_skip(0) == doctest::Approx(12 * kBinLength));
    CHECK(profile.trusted_skip(10) == 0);  // of 100,000
}

TEST_CASE("unit.shared_profiles.a_summary_predicts_as_its_profile_does") {
    const CalibrationProfile profile = profile_of({{0.1}, {-0.1}, {}}, 200);
    const memo::Numbers numbers = numbers_of(profile.summary());
    const auto summary = hybrid::summary_of(numbers, kPair);
    REQUIRE(summary.has_value());
    CHECK(!hybrid::summary_of(numbers, ProfileKind{2, kBinLength, 4 * kBinLength, false})
               .has_value());
    const CalibrationProfile again(kPair, *summary);
    CHECK(again.trusted_tail() == doctest::Approx(profile.trusted_tail()));
    CHECK(again.trusted_skip(0) > 0);
    CHECK(again.trusted_skip(0) <= profile.trusted_skip(0));
    CHECK(again.mean(1, 20, 30).rate ==
          doctest::Approx(profile.mean(1, 20, 30).rate).epsilon(0.01));
    CHECK(again.mean(1, 20, 30).law_rate == doctest::Approx(kLaw).epsilon(0.01));
    CalibrationProfile diverging = profile_of({{4}, {-4}, {}}, 200);
    const CalibrationProfile kept(kPair,
                                  *hybrid::summary_of(numbers_of(diverging.summary()), kPair));
    CHECK(kept.trusted_skip(0) == 0);
}

namespace {

HybridOutcome run_with(const Case& given, memo::Memo& memo, Driver driver, bool check,
                       FoldCounters* fold = nullptr) {
    return run_hybrid(given, PhaseConfig{}, driver, nullptr, check, false, nullptr, fold, nullptr,
                      nullptr, &memo);
}

double mean_time(const HybridOutcome& made, std::size_t flows) {
    double sum = 0;
    for (std::size_t f = 0; f < flows; ++f) {
        const auto& flow = made.outcome.flows[f];
        sum += static_cast<double>(flow.finish - flow.start) / static_cast<double>(flows);
    }
    return sum;
}

}  // namespace

TEST_CASE("unit.shared_profiles.exchanges_are_predicted_and_contracts_hold") {
    std::uint64_t hops = 0;
    std::uint64_t without = 0;
    std::uint64_t warm = 0;
    PhaseConfig uncalibrated;
    uncalibrated.calibrate = false;
    PhaseConfig packets;
    packets.skip = false;
    PhaseConfig capped;
    capped.longest_skip = 40 * kMicrosecond;
    for (const congestion::Law law : kLaws) {
        if (law == congestion::Law::none) {
            continue;  // queues without end
        }
        for (std::uint64_t seed = 0; seed < 2; ++seed) {
            const Exchanges exchanges(41'000 + seed, law, 12);
            INFO(exchanges.given.name << " " << congestion::law_name(law));
            memo::Memo nothing;
            const HybridOutcome cold = run_with(exchanges.given, nothing, Driver::windows, true);
            memo::Memo memo(nothing.news());
            const HybridOutcome again = run_with(exchanges.given, memo, Driver::windows, true);
            const HybridOutcome truth = run_hybrid(exchanges.given, packets, Driver::windows);
            const std::size_t flows = exchanges.given.flows.size();
            const HybridOutcome shorter = run_hybrid(exchanges.given, capped, Driver::windows);
            CHECK(mean_time(shorter, flows) ==
                  doctest::Approx(mean_time(truth, flows)).epsilon(0.01));
            CHECK(mean_time(cold, flows) == doctest::Approx(mean_time(truth, flows)).epsilon(0.01));
            CHECK(mean_time(again, flows) ==
                  doctest::Approx(mean_time(truth, flows)).epsilon(0.01));
            hops += cold.outcome.counters.packet_hops;
            warm += again.outcome.counters.packet_hops;
            without += run_hybrid(exchanges.given, uncalibrated, Driver::windows)
                           .outcome.counters.packet_hops;
        }
    }
    MESSAGE(hops << " hops, " << warm << " by a memo, " << without << " without calibration");
    CHECK(hops < without);
    CHECK(warm < hops);
}

TEST_CASE("unit.shared_profiles.windows_and_oracle_agree") {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const congestion::Law law = kLaws[1 + seed % (std::size(kLaws) - 1)];
        const Exchanges exchanges(42'000 + seed, law, 5);
        INFO(exchanges.given.name << " " << congestion::law_name(law));
        const HybridOutcome windows = run_hybrid(exchanges.given, PhaseConfig{}, Driver::windows);
        const HybridOutcome oracle = run_hybrid(exchanges.given, PhaseConfig{}, Driver::oracle);
        check_same(windows.outcome, oracle.outcome);
        CHECK(windows.phases.skips == oracle.phases.skips);
        CHECK(windows.phases.bytes_skipped == oracle.phases.bytes_skipped);
    }
}

TEST_CASE("unit.shared_profiles.folded_is_unfolded") {
    std::uint64_t folded_hops = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const congestion::Law law = kLaws[1 + seed % (std::size(kLaws) - 1)];
        const Exchanges exchanges(43'000 + seed, law);
        INFO(exchanges.given.name << " " << congestion::law_name(law));
        memo::Memo one;
        memo::Memo other;
        const HybridOutcome plain = run_with(exchanges.given, one, Driver::windows, false);
        FoldCounters fold;
        const HybridOutcome folded =
            run_with(exchanges.given, other, Driver::windows, false, &fold);
        check_same_but_executed(plain.outcome, folded.outcome);
        CHECK(plain.phases.skips == folded.phases.skips);
        CHECK(plain.phases.bytes_skipped == folded.phases.bytes_skipped);
        folded_hops += fold.hops;
    }
    CHECK(folded_hops > 0);
}

TEST_CASE("unit.hybrid.fairness.the_last_flow_keeps_no_more_than_in_packet_mode") {
    // Of three flows of each host one begins later: under HPCC it gets more, and gives that up over hundreds of round trips
    // in which all rates look flat. A skip that held them would be off by a thousandth here.
    Exchanges exchanges(44'000, congestion::Law::hpcc, 1);
    for (std::size_t f = 0; f < exchanges.given.flows.size(); ++f) {
        exchanges.given.flows[f].size = 26'000'000;
        exchanges.given.flows[f].start = f % 3 == 2 ? 60 * kMicrosecond : 0;
    }
    PhaseConfig packets;
    packets.skip = false;
    const HybridOutcome truth = run_hybrid(exchanges.given, packets, Driver::windows);
    const HybridOutcome made = run_hybrid(exchanges.given, PhaseConfig{}, Driver::windows);
    CHECK(made.outcome.counters.packet_hops < truth.outcome.counters.packet_hops * 9 / 10);
    double error = 0;
    for (std::size_t f = 0; f < exchanges.given.flows.size(); ++f) {
        const auto time = [&](const HybridOutcome& run) {
            return static_cast<double>(run.outcome.flows[f].finish - run.outcome.flows[f].start);
        };
        error = std::max(error, std::abs(time(made) / time(truth) - 1));
    }
    CHECK(error < 0.0005);
}
