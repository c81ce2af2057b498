// SPDX-License-Identifier: Apache-2.0
/// Calibrated rates: which groups are of one kind, what a profile predicts, and that all contracts hold in runs that take
/// rates from profiles.
#include "core/calibration/calibration.h"

#include "tests/support/fold_support.h"
#include "tests/support/hybrid_support.h"
#include "tests/support/ring_cases.h"

using namespace sluice;
using namespace sluice::test;
using hybrid::BinReading;
using hybrid::Calibration;
using hybrid::CalibrationProfile;
using hybrid::GroupKey;
using hybrid::KeyedFlow;
using hybrid::KeyedPort;

namespace {

/// Two flows of a ring of hosts: the second's ACKs cross the first's data.
struct TwoFlows {
    std::vector<step::Footprint> ways{step::Footprint{{}, {10, 20}, {21, 11}},
                                      step::Footprint{{}, {21, 30}, {31, 20}}};
    std::vector<Tick> base_rtt{4000, 4100};
    std::vector<std::int64_t> age{0, 2};
    std::uint8_t traffic_class = 3;
    std::vector<std::int64_t> law{4200, 7};
    std::int64_t rate = 100;
    std::int64_t marks = 5;
    std::int64_t across = 1;

    GroupKey key() const {
        std::vector<KeyedFlow> flows;
        for (std::size_t i = 0; i < ways.size(); ++i) {
            flows.push_back({&ways[i], base_rtt[i], 100, age[i], traffic_class, law});
        }
        return hybrid::group_key(flows, [&](PortId port) {
            return port % 10 == 0 ? KeyedPort{rate, marks, across} : KeyedPort{100, 5, 0};
        });
    }
    void rename(PortId by) {
        for (step::Footprint& way : ways) {
            for (std::vector<PortId>* list : {&way.data, &way.acks}) {
                for (PortId& port : *list) {
                    port = by - port;
                }
            }
        }
    }
};

constexpr Tick kBinLength = 1000;

/// A lone flow's profile of `bins` bins: `start` bytes a tick in the first eight, then 100, which `drift` adds to per bin.
CalibrationProfile profile_of(std::size_t bins, double start, double drift,
                              Tick sawtooth_span = 0) {
    CalibrationProfile profile({1, kBinLength, sawtooth_span});
    for (std::size_t i = 0; i < bins; ++i) {
        const double rate = i < 8 ? start : 100 + drift * static_cast<double>(i);
        profile.add(i, {{rate, 5000}}, false);
    }
    return profile;
}

/// Trusted skip beyond the last bin.
double beyond(const CalibrationProfile& profile) {
    return profile.trusted_skip(static_cast<double>(profile.bins()));
}

}  // namespace

TEST_CASE("unit.calibration.copies_have_one_key_and_near_misses_another") {
    const TwoFlows reference;
    TwoFlows renamed;
    renamed.rename(100);
    CHECK(renamed.key() == reference.key());
    const auto differs = [&](auto&& change) {
        TwoFlows other;
        change(other);
        CHECK(other.key() != reference.key());
    };
    differs([](TwoFlows& other) { other.rate = 200; });
    differs([](TwoFlows& other) { other.marks = 6; });
    differs([](TwoFlows& other) { other.across = 2; });
    differs([](TwoFlows& other) { other.base_rtt[0] = 4001; });
    differs([](TwoFlows& other) { other.age[1] = 3; });
    differs([](TwoFlows& other) { other.traffic_class = 4; });
    differs([](TwoFlows& other) { other.law[0] = 4201; });         // the algorithm's base RTT
    differs([](TwoFlows& other) { other.ways[1].acks[1] = 40; });  // crosses no data
    differs([](TwoFlows& other) { std::swap(other.ways[0], other.ways[1]); });
    differs([](TwoFlows& other) {
        std::swap(other.ways[0].data[1], other.ways[0].acks[0]);  // the same ports, another path
    });
}

TEST_CASE("unit.calibration.a_profile_has_means_of_bins_and_of_its_tail") {
    const CalibrationProfile profile = profile_of(64, 80, 0);
    CHECK(beyond(profile) > 1e9);
    CHECK(profile.mean(0, 0, 8).rate == doctest::Approx(80));
    CHECK(profile.mean(0, 4, 8).rate == doctest::Approx(90));
    CHECK(profile.mean(0, 7.5, 1).rate == doctest::Approx(90));
    CHECK(profile.mean(0, 0, 80).rate == doctest::Approx(98));  // the tail continues
    CHECK(profile.mean(0, 200, 10).rate == doctest::Approx(100));
    CHECK(beyond(profile_of(15, 80, 0)) == 0);
}

TEST_CASE("unit.calibration.the_uncertainty_of_rates_limits_the_tail_skip") {
    // A drift of one in 10,000 per bin: 2% after 400 bins, less the observed span.
    const double drifting = beyond(profile_of(64, 100, 0.01)) / static_cast<double>(kBinLength);
    CHECK(drifting > 300);
    CHECK(drifting < 400);
    CHECK(beyond(profile_of(64, 100, 1)) == 0);
    // The fitted half must be two sawtooth spans long.
    CHECK(beyond(profile_of(64, 100, 0, 17 * kBinLength)) == 0);
    CHECK(beyond(profile_of(64, 100, 0, 16 * kBinLength)) > 0);
    CalibrationProfile noisy({1, kBinLength, 0});
    double before = 0;
    for (std::size_t i = 0; i < 512; ++i) {
        noisy.add(i, {{99.0 + static_cast<double>(mix_bits(i) % 1000) / 500, 5000}}, false);
        if (i == 63) {
            before = beyond(noisy);
        }
    }
    CHECK(beyond(noisy) > 4 * before);
}

TEST_CASE("unit.calibration.bins_of_several_contributors_predict_others") {
    const auto profile_of_rates = [](const std::vector<double>& rates, std::size_t bins) {
        CalibrationProfile profile({2, kBinLength, 0});
        for (const double rate : rates) {
            for (std::size_t bin = 0; bin < bins; ++bin) {
                profile.add(bin, {{rate, 1000}, {50, 1000}}, false);
            }
        }
        return profile;
    };
    CHECK(profile_of_rates({100, 100}, 12).trusted_skip(0) == 0);  // two may agree by chance
    const CalibrationProfile alike = profile_of_rates({100, 101, 100}, 12);
    // For an eighth longer than they have been seen.
    CHECK(alike.trusted_skip(0) == 13.5 * kBinLength);
    CHECK(alike.trusted_skip(5) == 7.875 * kBinLength);
    CHECK(alike.trusted_skip(12) == 0);
    CHECK(alike.has_enough_contributors(11));
    CHECK(!alike.has_enough_contributors(12));
    CHECK(profile_of_rates({100, 110, 95}, 12).trusted_skip(0) == 0);
    // A fourth contributor differs from bin 8 on: up to there the rates are known.
    CalibrationProfile parting = profile_of_rates({100, 100, 100}, 12);
    for (std::size_t bin = 0; bin < 12; ++bin) {
        parting.add(bin, {{bin < 8 ? 100.0 : 160.0, 1000}, {50, 1000}}, false);
    }
    CHECK(parting.trusted_skip(0) >= 8 * kBinLength);
    CHECK(parting.trusted_skip(0) < 10 * kBinLength);
    // Groups that differ as they begin are known once they have sent the same, and not for less than that.
    CalibrationProfile beginning({1, kBinLength, 0});
    for (const double rate : {95.0, 100.0, 105.0}) {
        for (std::size_t bin = 0; bin < 14; ++bin) {
            beginning.add(bin, {{bin < 2 ? rate : 100.0, 1000}}, false);
        }
    }
    CHECK(beginning.trusted_skip(0) == 0);
    CHECK(beginning.trusted_skip(0, 4) == 0);
    CHECK(beginning.trusted_skip(0, 8) == 15.75 * kBinLength);
    CHECK(beginning.trusted_skip(2) == 13.5 * kBinLength);
}

TEST_CASE("unit.calibration.the_order_within_an_instant_does_not_matter") {
    const auto profile_of_rates = [](const std::vector<double>& rates) {
        Calibration calibration;
        const std::uint32_t entry = calibration.find_or_add({{1}, {1, kBinLength, 0}}, 5);
        for (const double rate : rates) {
            calibration.add(entry, 5, 0, {{rate, 1000}}, false);
            CHECK(calibration.profile(entry, 5).bins() == 0);
        }
        CHECK(calibration.profile(entry, 6).bins() == 1);
        return calibration.profile(entry, 6).mean(0, 0, 1).rate;
    };
    CHECK(profile_of_rates({1, 3}) == 2);
    CHECK(profile_of_rates({3, 1}) == 2);
    CHECK(profile_of_rates({3, 1, 1, 1}) == 2);  // equal contributions count once
}

namespace {

constexpr Tick kLength = 512 * kBinLength;

/// A group asks at `at` to become a calibration run, and becomes one.
bool asks(Calibration& calibration, std::uint32_t entry, Tick at, bool unseen = false) {
    return calibration.request_run(entry, at, {kLength, unseen, false, true}) != kNone;
}

}  // namespace

TEST_CASE("unit.calibration.one_calibration_run_at_a_time") {
    Calibration calibration;
    const std::uint32_t entry = calibration.find_or_add({{1}, {1, kBinLength, 0}}, 10);
    CHECK(calibration.find_or_add({{1}, {1, kBinLength, 0}}, 10) == entry);
    CHECK(calibration.find_or_add({{2}, {1, kBinLength, 0}}, 10) != entry);
    CHECK(!asks(calibration, entry, 10));  // the first occurrence
    calibration.find_or_add({{1}, {1, kBinLength, 0}}, 20);
    CHECK(asks(calibration, entry, 20));
    CHECK(asks(calibration, entry, 20));
    CHECK(!asks(calibration, entry, 21));
    CHECK(!asks(calibration, entry, 20 + kLength));
    const Tick later = 21 + kLength;
    CHECK(asks(calibration, entry, later));  // the first run failed; two occurrences are enough
    calibration.close(entry, later);
    CHECK(!calibration.closed(entry, later));
    CHECK(calibration.closed(entry, later + 1));
    CHECK(!asks(calibration, entry, 3 * later));
}

TEST_CASE("unit.calibration.groups_that_are_no_copies_ask_one_by_one") {
    Calibration calibration;
    const hybrid::GroupKind alone{{1}, {1, kBinLength, 0}};
    const std::uint32_t entry = calibration.find_or_add(alone, 10);
    // Of groups too short for an extrapolation three have to contribute: one at an instant.
    const Calibration::RunRequest request{kLength, false, true, false};
    for (std::uint32_t run = 0; run < 3; ++run) {
        const Tick at = 20 + run;
        calibration.find_or_add(alone, at);
        CHECK(calibration.request_run(entry, at, request) == run);
        CHECK(calibration.request_run(entry, at, request) == kNone);
    }
    calibration.find_or_add(alone, 30);
    CHECK(calibration.request_run(entry, 30, request) == kNone);
}

TEST_CASE("unit.calibration.required_contributors_become_calibration_runs") {
    const hybrid::GroupKind shares{{1}, {2, kBinLength, 0, true}};
    Calibration calibration;
    const std::uint32_t entry = calibration.find_or_add(shares, 10);
    CHECK(!asks(calibration, entry, 10));
    CHECK(asks(calibration, entry, 10, true));  // a first run, although unseen
    for (const Tick at : {Tick{20}, Tick{30}}) {
        calibration.find_or_add(shares, at);
        CHECK(asks(calibration, entry, at));
    }
    calibration.find_or_add(shares, 40);
    CHECK(!asks(calibration, entry, 40, true));
    calibration.complete_run(entry, 0, 50);
    calibration.find_or_add(shares, 60);
    CHECK(!asks(calibration, entry, 60, true));  // three are complete or under way
    // Two have failed: others replace them, and each doubles the occurrences that are needed.
    const Tick later = 31 + kLength;
    CHECK(asks(calibration, entry, later));
    CHECK(asks(calibration, entry, later + 1, true));
    CHECK(!asks(calibration, entry, later + 2, true));
    calibration.complete_run(entry, 3, later + 3);
    calibration.complete_run(entry, 4, later + 3);
    calibration.find_or_add(shares, later + 4);
    CHECK(!asks(calibration, entry, later + 4, true));  // five occurrences, eight are needed
}

namespace {

PhaseConfig uncalibrated() {
    PhaseConfig config;
    config.calibrate = false;
    return config;
}

}  // namespace

TEST_CASE("unit.hybrid.calibrated.contracts_hold_and_packets_are_saved") {
    std::uint64_t hops = 0;
    std::uint64_t without = 0;
    for (const congestion::Law law : kLaws) {
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const Rings rings(26'000 + seed, law);
            INFO(rings.given.name << " " << congestion::law_name(law));
            hops += run_hybrid(rings.given, PhaseConfig{}, Driver::windows, nullptr, true)
                        .outcome.counters.packet_hops;
            without += run_hybrid(rings.given, uncalibrated(), Driver::windows)
                           .outcome.counters.packet_hops;
        }
    }
    MESSAGE(hops << " hops, " << without << " without");
    CHECK(hops < without);
}

TEST_CASE("unit.hybrid.calibrated.contracts_hold_in_random_cases") {
    for_chained_cases(27'000, 60, RandomOptions{},
                      [&](std::uint64_t seed, Case& given, Application* application) {
                          PhaseConfig config = eager_phases();
                          const HybridOutcome made =
                              run_hybrid(given, config, Driver::windows, application, true);
                          CHECK(made.phases.skips + seed > 0);
                      });
}

TEST_CASE("unit.hybrid.calibrated.windows_and_oracle_agree") {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const Rings rings(28'000 + seed, kLaws[seed % std::size(kLaws)]);
        INFO(rings.given.name);
        PhaseConfig config = PhaseConfig{};
        config.wake = seed % 2 == 0 && kLaws[seed % std::size(kLaws)] != congestion::Law::none
                          ? Wake::data
                          : Wake::partition;
        const HybridOutcome windows = run_hybrid(rings.given, config, Driver::windows);
        const HybridOutcome oracle = run_hybrid(rings.given, config, Driver::oracle);
        check_same(windows.outcome, oracle.outcome);
        CHECK(windows.phases.skips == oracle.phases.skips);
        CHECK(windows.phases.bytes_skipped == oracle.phases.bytes_skipped);
    }
}

TEST_CASE("unit.hybrid.calibrated.folded_is_unfolded") {
    std::uint64_t folded_hops = 0;
    for (std::uint64_t seed = 0; seed < 15; ++seed) {
        const Rings rings(29'000 + seed, kLaws[seed % std::size(kLaws)]);
        INFO(rings.given.name);
        const HybridOutcome plain = run_hybrid(rings.given, PhaseConfig{}, Driver::windows);
        FoldCounters fold;
        const HybridOutcome folded = run_hybrid(rings.given, PhaseConfig{}, Driver::windows,
                                                nullptr, false, false, nullptr, &fold);
        check_same_but_executed(plain.outcome, folded.outcome);
        CHECK(plain.phases.samples == folded.phases.samples);
        CHECK(plain.phases.skips == folded.phases.skips);
        CHECK(plain.phases.skip_backs == folded.phases.skip_backs);
        CHECK(plain.phases.bytes_skipped == folded.phases.bytes_skipped);
        folded_hops += fold.hops;
    }
    CHECK(folded_hops > 0);
}
