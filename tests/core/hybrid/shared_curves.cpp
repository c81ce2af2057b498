// SPDX-License-Identifier: Apache-2.0
/// Calibrated rates of flows that share ports: when what several groups did tells of another, and that every contract
/// holds where it is told.
#include <cmath>
#include <vector>

#include "core/calibration/calibration.h"
#include "core/calibration/curve_memory.h"
#include "tests/support/fold_support.h"
#include "tests/support/hybrid_support.h"
#include "tests/support/ring_cases.h"

using namespace sluice;
using namespace sluice::test;
using hybrid::BinReading;
using hybrid::CurveKind;
using hybrid::CurveMemory;
using hybrid::SteadyCurve;

namespace {

constexpr Tick kUnit = 1000;
constexpr double kShare = 50;  // bytes per tick
constexpr double kLaw = 4e11;  // bits/s
constexpr CurveKind kPair{2, kUnit, 4 * kUnit, true};

/// What a group of two flows tells: how much more of their port the first one has than the second.
struct Telling {
    double more = 0;
    double law_drift = 0;  // of the law's rate, a bin
    double at_first = 0;   // bytes in flight besides, in the first four bins
};

void tell(SteadyCurve& curve, const Telling& telling, std::size_t bins) {
    std::vector<double> sent(2, 0);
    for (std::size_t at = 0; at < bins; ++at) {
        std::vector<BinReading> bin;
        for (std::size_t f = 0; f < 2; ++f) {
            const double rate = kShare + (f == 0 ? telling.more : -telling.more) / 2;
            sent[f] += rate * static_cast<double>(kUnit);
            const double law = kLaw * (1 + telling.law_drift * static_cast<double>(at));
            bin.push_back({rate, 5000 + (at < 4 ? telling.at_first : 0), law, sent[f]});
        }
        curve.add(at, bin, false);
    }
}

SteadyCurve told(const std::vector<Telling>& tellings, std::size_t bins) {
    SteadyCurve curve(kPair);
    for (const Telling& telling : tellings) {
        tell(curve, telling, bins);
    }
    return curve;
}

}  // namespace

TEST_CASE("unit.calibration.readings_are_common_until_one_adds_to_its_own") {
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

TEST_CASE("unit.shared_curves.three_must_have_come_to_the_same_bytes") {
    CHECK(told({{}, {}}, 64).trusted() == 0);
    CHECK(told({{}, {}}, 64).trusted(0) == 0);
    CHECK(told({{}, {}}, 64).foreseen(64) > 1e9);  // a third one need not be simulated longer
    CHECK(told({{}, {}}, 64).foreseen(63) == 0);   // nor less long
    CHECK(told({{}, {}, {}}, 64).trusted() > 1e9);
    CHECK(told({{0.3}, {-0.3}, {}}, 64).trusted() > 1e9);
    // Each is as steady as can be, and another one is somewhere else.
    CHECK(told({{4}, {-4}, {}}, 64).trusted() == 0);
    CHECK(told({{4}, {-4}, {}}, 64).trusted(0) == 0);
    CHECK(told({{4}, {4}, {4}}, 64).trusted() > 1e9);
    CHECK(told({{4}, {4}, {4}}, 64).mean(0, 10, 5).rate == doctest::Approx(52));
    CHECK(told({{4}, {4}, {4}}, 64).mean(0, 200, 5).law == doctest::Approx(kLaw));
}

TEST_CASE("unit.shared_curves.laws_that_are_on_their_way_are_not_steady") {
    // Of equal parts of a port flows may be sure long before their laws know.
    CHECK(told({{0, -0.002}, {0, -0.002}, {0, -0.002}}, 64).trusted() == 0);
    CHECK(told({{0, -0.0002}, {0, -0.0002}, {0, -0.0002}}, 64).trusted() > 1e9);
}

TEST_CASE("unit.shared_curves.queues_must_be_what_they_will_be") {
    const Telling deep{0, 0, 4000};
    const SteadyCurve curve = told({deep, deep, deep}, 64);
    CHECK(!curve.is_settled(0));
    CHECK(curve.is_settled(4));
    CHECK(told({{}, {}, {}}, 64).is_settled(0));
}

TEST_CASE("unit.shared_curves.what_is_left_of_a_packet_does_not_set_groups_apart") {
    // 1000 bytes more or less, of 50,000 a bin.
    SteadyCurve curve(kPair);
    for (int group = 0; group < 3; ++group) {
        for (std::size_t at = 0; at < 12; ++at) {
            std::vector<BinReading> bin;
            for (std::size_t f = 0; f < 2; ++f) {
                const double sent = kShare * static_cast<double>(kUnit * static_cast<Tick>(at + 1));
                bin.push_back({kShare, 5000, kLaw, sent + 1000.0 * (group - 1)});
            }
            curve.add(at, bin, false);
        }
    }
    CHECK(curve.trusted(0) == doctest::Approx(12 * kUnit));
    CHECK(curve.trusted(10) == 0);  // of 100,000
}

TEST_CASE("unit.shared_curves.a_summary_says_what_the_curve_says") {
    const SteadyCurve curve = told({{0.1}, {-0.1}, {}}, 200);
    const memo::Numbers numbers = numbers_of(curve.summary());
    const auto summary = hybrid::summary_of(numbers, kPair);
    REQUIRE(summary.has_value());
    CHECK(!hybrid::summary_of(numbers, CurveKind{2, kUnit, 4 * kUnit, false}).has_value());
    const SteadyCurve again(kPair, *summary);
    CHECK(again.trusted() == doctest::Approx(curve.trusted()));
    CHECK(again.trusted(0) > 0);
    CHECK(again.trusted(0) <= curve.trusted(0));
    CHECK(again.mean(1, 20, 30).rate == doctest::Approx(curve.mean(1, 20, 30).rate).epsilon(0.01));
    CHECK(again.mean(1, 20, 30).law == doctest::Approx(kLaw).epsilon(0.01));
    SteadyCurve apart = told({{4}, {-4}, {}}, 200);
    const SteadyCurve kept(kPair, *hybrid::summary_of(numbers_of(apart.summary()), kPair));
    CHECK(kept.trusted(0) == 0);
}

namespace {

HybridOutcome run_with(const Case& given, memo::Memo& memo, Driver driver, bool check,
                       FoldCounters* fold = nullptr) {
    CurveMemory memory(memo, {});
    return run_hybrid(given, PhaseConfig{}, driver, nullptr, check, false, nullptr, fold, nullptr,
                      nullptr, &memory);
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

TEST_CASE("unit.shared_curves.exchanges_are_told_and_every_contract_holds") {
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

TEST_CASE("unit.shared_curves.windows_and_oracle_agree") {
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

TEST_CASE("unit.shared_curves.folded_is_unfolded") {
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

TEST_CASE("unit.hybrid.fairness.who_came_last_keeps_no_more_than_packets_give_him") {
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
