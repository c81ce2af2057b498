// SPDX-License-Identifier: Apache-2.0
/// An audit changes nothing of the run, and finds the error that the run has.
#include "core/audit/audit.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/audit_support.h"

namespace sluice::test {
namespace {

/// Pairs of hosts of a star, of which each sends to its own; a few to one that another sends to.
Case pairs(std::uint32_t count, congestion::Law law, bool crowded) {
    Case given;
    given.topology = build_star({2 * count, {gigabits_per_second(100), kMicrosecond}});
    given.config = config_for(law, gigabits_per_second(100));
    Dice dice(count);
    for (NodeId i = 0; i < count; ++i) {
        const NodeId to = crowded && i % 4 == 1 ? count + i - 1 : count + i;
        given.flows.push_back(
            flow(i, to, 1'000'000 + dice.below(9'000'000), dice.below(300) * kMicrosecond));
    }
    assign_source_ports(given.flows);
    given.stop = 100 * kMillisecond;
    return given;
}

TEST_CASE("unit.audit.the_run_is_what_it_is_without_one") {
    std::uint64_t audited = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        RandomOptions options;
        options.lossless = seed % 3 != 0;
        options.packets = 6000;
        const Case given = random_case(seed, options);
        PhaseConfig config = eager_phases();
        config.wake = seed % 3 == 1 ? Wake::data : Wake::partition;
        INFO(given.name);
        const Audited plain = run_audited(given, config, {0});
        const Audited watched = run_audited(given, config, {kEvery});
        CHECK(plain.checksum == watched.checksum);
        CHECK(first_difference(plain.flows, watched.flows) == -1);
        audited += watched.audit.audited;
    }
    MESSAGE(audited << " skips audited");
    CHECK(audited > 100);
}

TEST_CASE("unit.audit.the_interval_holds_the_error_of_flows_alone_and_of_flows_that_share") {
    for (const congestion::Law law :
         {congestion::Law::hpcc, congestion::Law::dctcp, congestion::Law::timely}) {
        for (const bool crowded : {false, true}) {
            const Case given = pairs(24, law, crowded);
            PhaseConfig config;
            config.calibrate = false;
            const Audited run = run_audited(given, config, {kEvery});
            const double truth = mean_error(run.flows, run_windows(given).flows);
            REQUIRE(run.audit.enough);
            MESSAGE("true " << truth << ", said " << run.audit.fct_error << " +- "
                            << run.audit.fct_half << ", " << run.audit.audited << " of "
                            << run.audit.skips);
            // Flows that share are chaotic, and under HPCC go on converging for longer than the audit looks.
            const double chaos = crowded ? 0.002 : 0;
            CHECK(std::abs(run.audit.fct_error - truth) <= run.audit.fct_half + chaos);
            CHECK(run.audit.fct_half < 0.01);
        }
    }
}

TEST_CASE("unit.audit.shares_of_ports_that_are_held_are_not_surely_right") {
    const auto half_widths = [](bool crowded, Wake wake) {
        PhaseConfig config;
        config.calibrate = false;
        config.wake = wake;
        const Case given = pairs(24, congestion::Law::hpcc, crowded);
        const Audited run = run_audited(given, config, {kEvery});
        REQUIRE(run.audit.enough);
        CHECK(run.audit.skipped_share > 0.1);
        return std::pair(run.audit.fct_half, run.audit.time_half);
    };
    const auto [alone, alone_job] = half_widths(false, Wake::data);
    const auto [whole, whole_job] = half_widths(true, Wake::partition);
    const auto [local, local_job] = half_widths(true, Wake::data);
    CHECK(local > alone + 0.001);
    CHECK(local > whole + 0.001);
    CHECK(local_job > alone_job + 0.001);
    CHECK(local_job > whole_job + 0.001);
}

TEST_CASE("unit.audit.rates_that_are_too_low_are_found") {
    const Case given = pairs(24, congestion::Law::hpcc, false);
    PhaseConfig config = eager_phases();  // looks at a microsecond
    config.calibrate = false;
    const Audited run = run_audited(given, config, {kEvery});
    const double truth = mean_error(run.flows, run_windows(given).flows);
    REQUIRE(run.audit.enough);
    MESSAGE("true " << truth << ", said " << run.audit.fct_error << " +- " << run.audit.fct_half);
    CHECK(std::abs(truth) > 0.002);
    CHECK(std::abs(run.audit.fct_error - truth) <= run.audit.fct_half);
}

TEST_CASE("unit.audit.draws_are_the_seed_s") {
    const Case given = pairs(24, congestion::Law::hpcc, true);
    const Audited first = run_audited(given, PhaseConfig{}, {0.1, 1});
    const Audited again = run_audited(given, PhaseConfig{}, {0.1, 1});
    const Audited other = run_audited(given, PhaseConfig{}, {0.1, 2});
    CHECK(first.audit.fct_error == again.audit.fct_error);
    CHECK(first.audit.hops == again.audit.hops);
    CHECK(first.audit.fct_error != other.audit.fct_error);
}

TEST_CASE("unit.audit.rates_that_others_told_are_audited_over_a_prefix") {
    // Messages alone, one after the other: all but the first are skipped at its rates. There is enough to audit whole skips.
    Case given = pairs(12, congestion::Law::hpcc, false);
    for (std::size_t i = 0; i < given.flows.size(); ++i) {
        given.flows[i].size = 20'000'000;
        given.flows[i].start = static_cast<Tick>(i) * 2 * kMillisecond;
    }
    AuditOptions options{0.1};
    options.advance = 1e9;
    const Audited run = run_audited(given, PhaseConfig{}, options);
    CHECK(run.audit.audited > 1);
    CHECK(run.audit.prefixes > 0);
    CHECK(run.audit.prefixes < run.audit.audited);
}

TEST_CASE("unit.audit.a_leader_s_skip_counts_for_those_that_follow_it") {
    CopiesOptions options;
    options.changed = 0;
    options.size = 7;
    options.law = congestion::Law::hpcc;
    AuditOptions folding{kEvery};
    folding.fold = true;
    std::uint64_t compared = 0;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        options.turned = seed > 12;  // upon themselves, too
        options.flows = options.turned ? 3 : 10;
        const Copies copies(seed, options);
        const Audited alone = run_audited(copies.given, PhaseConfig{}, {kEvery});
        const Audited folded = run_audited(copies.given, PhaseConfig{}, folding);
        CHECK(first_difference(alone.flows, folded.flows) == -1);
        if (!alone.audit.enough || !folded.audit.enough) {
            continue;
        }
        ++compared;
        CHECK(folded.audit.skips <= alone.audit.skips);
        CHECK(folded.audit.skipped_share == doctest::Approx(alone.audit.skipped_share));
        CHECK(std::abs(folded.audit.fct_error - alone.audit.fct_error) <=
              folded.audit.fct_half + alone.audit.fct_half);
    }
    CHECK(compared >= 8);
}

}  // namespace
}  // namespace sluice::test
