// SPDX-License-Identifier: Apache-2.0
/// An audit changes nothing of the run, and finds the error that the run has.
#include "core/audit/audit.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/fold_support.h"
#include "tests/support/hybrid_support.h"

namespace sluice::test {
namespace {

/// So many hops are due that every skip is audited, whole.
constexpr double kEvery = 1e9;

struct Audited {
    std::vector<FlowResult> flows;
    std::uint64_t checksum = 0;
    AuditCounters audit;
};

/// `share` 0: without an audit.
Audited run_audited(const Case& given, const PhaseConfig& config, double share,
                    std::uint64_t seed = 1, bool fold = false) {
    Routing routing(given.topology);
    step::WorldStore store(given.topology, routing, given.config, given.flows, given.paths,
                           given.application);
    store.world().digest_hops = !fold;
    step::FlowPartitions partitions(
        store, config.local() ? step::SharedBy::data_ports : step::SharedBy::cables);
    hybrid::WorldEngine engine(store, partitions);
    hybrid::PhaseController controller(engine, partitions, nullptr, nullptr, nullptr, config,
                                       given.stop);
    audit::Audit audit(store, share > 0 ? share : 1, seed);
    if (share > 0) {
        controller.watch(audit);
    }
    store.begin();
    step::CellStep step_cell(store.world());
    step::Driver driver(store, given.events, {}, step::Clocks::one, partitions, &controller);
    step::Folds folds(store, &controller);
    if (fold) {
        driver.fold(folds);
    }
    driver.advance(given.stop, step_cell);
    if (fold) {
        driver.unfold();
    }
    controller.finish(given.stop == kNever ? 0 : given.stop);
    return {store.results(), store.world().checksum, audit.counters()};
}

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

double mean_error(const std::vector<FlowResult>& run, const std::vector<FlowResult>& truth) {
    double sum = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
        const auto time = [](const FlowResult& flow) {
            return static_cast<double>(flow.finish - flow.start);
        };
        sum += (time(run[i]) - time(truth[i])) / time(truth[i]);
    }
    return sum / static_cast<double>(run.size());
}

TEST_CASE("Audit: the run is what it is without one") {
    std::uint64_t audited = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        RandomOptions options;
        options.lossless = seed % 3 != 0;
        options.packets = 6000;
        const Case given = random_case(seed, options);
        PhaseConfig config = eager_phases();
        config.wake = seed % 3 == 1 ? Wake::data : Wake::partition;
        INFO(given.name);
        const Audited plain = run_audited(given, config, 0);
        const Audited watched = run_audited(given, config, kEvery);
        CHECK(plain.checksum == watched.checksum);
        CHECK(first_difference(plain.flows, watched.flows) == -1);
        audited += watched.audit.audited;
    }
    MESSAGE(audited << " skips audited");
    CHECK(audited > 100);
}

TEST_CASE("Audit: the interval holds the error of flows alone and of flows that share") {
    for (const congestion::Law law :
         {congestion::Law::hpcc, congestion::Law::dctcp, congestion::Law::timely}) {
        for (const bool crowded : {false, true}) {
            const Case given = pairs(24, law, crowded);
            PhaseConfig config;
            config.calibrate = false;
            const Audited run = run_audited(given, config, kEvery);
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

TEST_CASE("Audit: rates that are too low are found") {
    const Case given = pairs(24, congestion::Law::hpcc, false);
    PhaseConfig config = eager_phases();  // looks at a microsecond
    config.calibrate = false;
    const Audited run = run_audited(given, config, kEvery);
    const double truth = mean_error(run.flows, run_windows(given).flows);
    REQUIRE(run.audit.enough);
    MESSAGE("true " << truth << ", said " << run.audit.fct_error << " +- " << run.audit.fct_half);
    CHECK(std::abs(truth) > 0.002);
    CHECK(std::abs(run.audit.fct_error - truth) <= run.audit.fct_half);
}

TEST_CASE("Audit: draws are the seed's") {
    const Case given = pairs(24, congestion::Law::hpcc, true);
    const Audited first = run_audited(given, PhaseConfig{}, 0.1, 1);
    const Audited again = run_audited(given, PhaseConfig{}, 0.1, 1);
    const Audited other = run_audited(given, PhaseConfig{}, 0.1, 2);
    CHECK(first.audit.fct_error == again.audit.fct_error);
    CHECK(first.audit.hops == again.audit.hops);
    CHECK(first.audit.fct_error != other.audit.fct_error);
}

TEST_CASE("Audit: a leader's skip counts for those that follow it") {
    CopiesOptions options;
    options.changed = 0;
    options.size = 7;
    options.law = congestion::Law::hpcc;
    std::uint64_t compared = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const Copies copies(seed, options);
        const Audited alone = run_audited(copies.given, PhaseConfig{}, kEvery, 1, false);
        const Audited folded = run_audited(copies.given, PhaseConfig{}, kEvery, 1, true);
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
    CHECK(compared >= 3);
}

}  // namespace
}  // namespace sluice::test
