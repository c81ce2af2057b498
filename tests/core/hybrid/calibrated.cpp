// SPDX-License-Identifier: Apache-2.0
/// Calibrated rates: which groups are copies of each other, what is known of one that was simulated long,
/// and that every contract holds where others take their rates from it.
#include "core/calibration/calibration.h"

#include "tests/support/fold_support.h"
#include "tests/support/hybrid_support.h"
#include "tests/support/ring_cases.h"

using namespace sluice;
using namespace sluice::test;
using hybrid::BinReading;
using hybrid::Calibration;
using hybrid::ClusterFlow;
using hybrid::ClusterKey;
using hybrid::ClusterPort;
using hybrid::SteadyCurve;

namespace {

/// Two flows of a ring of hosts: the second's ACKs cross the first's data.
struct Cluster {
    std::vector<step::Footprint> ways{step::Footprint{{}, {10, 20}, {21, 11}},
                                      step::Footprint{{}, {21, 30}, {31, 20}}};
    std::vector<Tick> base_rtt{4000, 4100};
    std::vector<std::int64_t> age{0, 2};
    std::uint8_t traffic_class = 3;
    std::vector<std::int64_t> law{4200, 7};
    std::int64_t rate = 100;
    std::int64_t marks = 5;
    std::int64_t across = 1;

    ClusterKey key() const {
        std::vector<ClusterFlow> flows;
        for (std::size_t i = 0; i < ways.size(); ++i) {
            flows.push_back({&ways[i], base_rtt[i], 100, age[i], traffic_class, law});
        }
        return hybrid::cluster_key(flows, [&](PortId port) {
            return port % 10 == 0 ? ClusterPort{rate, marks, across} : ClusterPort{100, 5, 0};
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

constexpr Tick kUnit = 1000;

/// A lone flow's curve of `bins` bins: from `start` to 100 bytes a tick, or by `drift` a bin.
SteadyCurve curve_of(std::size_t bins, double start, double drift, Tick swings = 0) {
    SteadyCurve curve({1, kUnit, swings});
    for (std::size_t i = 0; i < bins; ++i) {
        const double rate = i < 8 ? start : 100 + drift * static_cast<double>(i);
        curve.add(i, {{rate, 5000}}, false);
    }
    return curve;
}

/// How far it is trusted behind what was seen.
double beyond(const SteadyCurve& curve) { return curve.trusted(static_cast<double>(curve.bins())); }

}  // namespace

TEST_CASE("unit.calibration.copies_have_one_key_and_near_misses_another") {
    const Cluster cluster;
    Cluster renamed;
    renamed.rename(100);
    CHECK(renamed.key() == cluster.key());
    const auto differs = [&](auto&& change) {
        Cluster other;
        change(other);
        CHECK(other.key() != cluster.key());
    };
    differs([](Cluster& other) { other.rate = 200; });
    differs([](Cluster& other) { other.marks = 6; });
    differs([](Cluster& other) { other.across = 2; });
    differs([](Cluster& other) { other.base_rtt[0] = 4001; });
    differs([](Cluster& other) { other.age[1] = 3; });
    differs([](Cluster& other) { other.traffic_class = 4; });
    differs([](Cluster& other) { other.law[0] = 4201; });         // of the whole network
    differs([](Cluster& other) { other.ways[1].acks[1] = 40; });  // it crosses nobody's data
    differs([](Cluster& other) { std::swap(other.ways[0], other.ways[1]); });
    differs([](Cluster& other) {
        std::swap(other.ways[0].data[1], other.ways[0].acks[0]);  // the same ports, another way
    });
}

TEST_CASE("unit.calibration.a_curve_knows_its_start_and_its_tail") {
    const SteadyCurve curve = curve_of(64, 80, 0);
    CHECK(beyond(curve) > 1e9);
    CHECK(curve.mean(0, 0, 8).rate == doctest::Approx(80));
    CHECK(curve.mean(0, 4, 8).rate == doctest::Approx(90));
    CHECK(curve.mean(0, 7.5, 1).rate == doctest::Approx(90));
    CHECK(curve.mean(0, 0, 80).rate == doctest::Approx(98));  // beyond what was seen, as its end
    CHECK(curve.mean(0, 200, 10).rate == doctest::Approx(100));
    CHECK(beyond(curve_of(15, 80, 0)) == 0);
}

TEST_CASE("unit.calibration.how_long_is_long_is_the_rates_own_uncertainty") {
    // A drift of one in 10,000 a bin: 2% after 400 bins, less those of the span that half of which is lost.
    const double drifting = beyond(curve_of(64, 100, 0.01)) / static_cast<double>(kUnit);
    CHECK(drifting > 300);
    CHECK(drifting < 400);
    CHECK(beyond(curve_of(64, 100, 1)) == 0);
    // A law that swings for longer than was looked at.
    CHECK(beyond(curve_of(64, 100, 0, 17 * kUnit)) == 0);
    CHECK(beyond(curve_of(64, 100, 0, 16 * kUnit)) > 0);
    SteadyCurve noisy({1, kUnit, 0});
    double before = 0;
    for (std::size_t i = 0; i < 512; ++i) {
        noisy.add(i, {{99.0 + static_cast<double>(mix_bits(i) % 1000) / 500, 5000}}, false);
        if (i == 63) {
            before = beyond(noisy);
        }
    }
    CHECK(beyond(noisy) > 4 * before);
}

TEST_CASE("unit.calibration.as_far_as_several_have_gone_they_tell_what_others_will_do") {
    const auto told = [](const std::vector<double>& rates, std::size_t bins) {
        SteadyCurve curve({2, kUnit, 0});
        for (const double rate : rates) {
            for (std::size_t bin = 0; bin < bins; ++bin) {
                curve.add(bin, {{rate, 1000}, {50, 1000}}, false);
            }
        }
        return curve;
    };
    CHECK(told({100, 100}, 12).trusted(0) == 0);  // two may be alike by chance
    const SteadyCurve alike = told({100, 101, 100}, 12);
    CHECK(alike.trusted(0) == 12 * kUnit);
    CHECK(alike.trusted(5) == 7 * kUnit);
    CHECK(alike.trusted(12) == 0);
    CHECK(alike.told_enough(11));
    CHECK(!alike.told_enough(12));
    CHECK(told({100, 110, 95}, 12).trusted(0) == 0);
    // Who comes later begins to differ later: up to there it is known.
    SteadyCurve parting = told({100, 100, 100}, 12);
    for (std::size_t bin = 0; bin < 12; ++bin) {
        parting.add(bin, {{bin < 8 ? 100.0 : 160.0, 1000}, {50, 1000}}, false);
    }
    CHECK(parting.trusted(0) >= 8 * kUnit);
    CHECK(parting.trusted(0) < 10 * kUnit);
}

TEST_CASE("unit.calibration.nothing_depends_on_order_within_an_instant") {
    const auto told = [](const std::vector<double>& rates) {
        Calibration calibration;
        const std::uint32_t entry = calibration.find({{1}, {1, kUnit, 0}}, 5);
        for (const double rate : rates) {
            calibration.add(entry, 5, 0, {{rate, 1000}}, false);
            CHECK(calibration.curve(entry, 5).bins() == 0);
        }
        CHECK(calibration.curve(entry, 6).bins() == 1);
        return calibration.curve(entry, 6).mean(0, 0, 1).rate;
    };
    CHECK(told({1, 3}) == 2);
    CHECK(told({3, 1}) == 2);
    CHECK(told({3, 1, 1, 1}) == 2);  // copies of one
}

TEST_CASE("unit.calibration.one_group_at_a_time_is_simulated_long") {
    constexpr Tick kLasts = 512 * kUnit;
    Calibration calibration;
    const std::uint32_t entry = calibration.find({{1}, {1, kUnit, 0}}, 10);
    CHECK(calibration.find({{1}, {1, kUnit, 0}}, 10) == entry);
    CHECK(calibration.find({{2}, {1, kUnit, 0}}, 10) != entry);
    CHECK(!calibration.wants(entry, 10, kLasts, false, false));  // nobody is known to come again
    calibration.find({{1}, {1, kUnit, 0}}, 20);
    CHECK(calibration.wants(entry, 20, kLasts, false, false));
    CHECK(calibration.wants(entry, 20, kLasts, false, false));
    CHECK(!calibration.wants(entry, 21, kLasts, false, false));
    CHECK(!calibration.wants(entry, 20 + kLasts, kLasts, false, false));
    const Tick later = 21 + kLasts;
    CHECK(calibration.wants(entry, later, kLasts, false,
                            false));  // it was in vain; two sightings are enough
    calibration.close(entry, later);
    CHECK(!calibration.closed(entry, later));
    CHECK(calibration.closed(entry, later + 1));
    CHECK(!calibration.wants(entry, 3 * later, kLasts, false, false));
}

TEST_CASE("unit.calibration.as_many_as_have_to_tell_are_simulated_long") {
    constexpr Tick kLasts = 512 * kUnit;
    const hybrid::ClusterKind shares{{1}, {2, kUnit, 0, true}};
    Calibration calibration;
    const std::uint32_t entry = calibration.find(shares, 10);
    CHECK(!calibration.wants(entry, 10, kLasts, false, false));
    CHECK(calibration.wants(entry, 10, kLasts, true,
                            false));  // as it costs little of what it has left
    for (const Tick at : {Tick{20}, Tick{30}}) {
        calibration.find(shares, at);
        CHECK(calibration.wants(entry, at, kLasts, false, false));
    }
    calibration.find(shares, 40);
    CHECK(!calibration.wants(entry, 40, kLasts, true, false));
    calibration.has_told(entry, 10, 50);
    calibration.find(shares, 60);
    CHECK(!calibration.wants(entry, 60, kLasts, true, false));  // three have told or will
    // Two have not: others tell in their place, at twice as many instants for each.
    const Tick later = 31 + kLasts;
    CHECK(calibration.wants(entry, later, kLasts, false, false));
    CHECK(calibration.wants(entry, later + 1, kLasts, true, false));
    CHECK(!calibration.wants(entry, later + 2, kLasts, true, false));
    calibration.has_told(entry, later, later + 3);
    calibration.has_told(entry, later + 1, later + 3);
    calibration.find(shares, later + 4);
    CHECK(!calibration.wants(entry, later + 4, kLasts, true,
                             false));  // five instants, eight are asked for
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
