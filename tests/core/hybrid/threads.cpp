// SPDX-License-Identifier: Apache-2.0
/// Hybrid runs whose windows several threads step: whoever steps a cell, every flow, port and phase is what one
/// thread gives, skips back, copies and ACKs that are no packets included. Run under a thread sanitizer, too.
#include <tuple>

#include "core/clocks/division.h"
#include "tests/support/hybrid_support.h"
#include "tests/support/opened_flows.h"

using namespace sluice;
using namespace sluice::test;

namespace {

bool same_phase(const PhaseRecord& a, const PhaseRecord& b) {
    const auto all = [](const PhaseRecord& phase) {
        return std::tie(phase.partition, phase.phase, phase.start, phase.end, phase.ended_by,
                        phase.flows, phase.bytes_skipped, phase.hops_saved);
    };
    return all(a) == all(b);
}

void check_same_runs(const HybridOutcome& one, const HybridOutcome& made) {
    check_same(one.outcome, made.outcome);
    CHECK(one.outcome.counters.events == made.outcome.counters.events);
    CHECK(one.windows == made.windows);
    REQUIRE(one.timeline.size() == made.timeline.size());
    CHECK(std::equal(one.timeline.begin(), one.timeline.end(), made.timeline.begin(), same_phase));
}

/// What the threads were given to do.
struct Tally {
    std::uint64_t skips = 0;
    std::uint64_t skip_backs = 0;
    std::uint64_t pool_windows = 0;

    void check() const {
        MESSAGE(skips << " skips, " << skip_backs << " skip-backs, " << pool_windows
                      << " windows of worker pools");
        CHECK(skips > 5);
        CHECK(pool_windows > 1000);
    }
};

/// On one thread, and on several: divided at random, everywhere or by leaves, together always or where there is more to do.
void check_threads(const Case& given, const PhaseConfig& config, Application* application,
                   std::uint64_t seed, bool fold, Tally& tally) {
    FoldCounters counters;
    FoldCounters* const folds = fold ? &counters : nullptr;
    const auto run = [&](const Workers* workers) {
        return run_hybrid(given, config, test::Driver::windows, application, false, false, nullptr,
                          folds, workers);
    };
    const HybridOutcome one = run(nullptr);
    tally.skips += one.phases.skips;
    tally.skip_backs += one.phases.skip_backs;
    for (const std::uint32_t threads : {2U, seed % 8 == 0 ? 8U : 3U}) {
        INFO(threads);
        Workers workers{{threads, 0, 0}, {}};
        workers.owner = scattered(given.topology.node_count(), threads, seed);
        const HybridOutcome together = run(&workers);
        check_same_runs(one, together);
        workers.threads.worth_barriers = 20;
        workers.owner = seed % 2 == 0 ? step::divide_everywhere(given.topology, threads)
                                      : step::divide_by_leaves(given.topology, threads);
        check_same_runs(one, run(&workers));
        tally.pool_windows += together.pool_windows;
    }
}

void compare_threads(std::uint64_t first, std::uint64_t count, Wake wake, bool fold) {
    PhaseConfig config = eager_phases();
    config.wake = wake;
    Tally tally;
    for_chained_cases(
        first, count, {}, [&](std::uint64_t seed, Case& given, Application* application) {
            const std::vector<Link>& links = given.topology.links();
            const bool loses = std::any_of(links.begin(), links.end(),
                                           [](const Link& link) { return link.loss > 0; });
            if (wake == Wake::partition ||
                (!loses && given.config.load_balance != LoadBalance::spray)) {
                check_threads(given, config, application, seed, fold, tally);
            }
        });
    tally.check();
}

}  // namespace

TEST_CASE("unit.hybrid_threads.partitions") { compare_threads(51'000, 6, Wake::partition, false); }
TEST_CASE("unit.hybrid_threads.folded") { compare_threads(52'000, 6, Wake::partition, true); }
TEST_CASE("unit.hybrid_threads.data") { compare_threads(54'000, 6, Wake::data, false); }

TEST_CASE("unit.hybrid_threads.every_switch_and_its_hosts_are_divided") {
    const Case given = churn_case(false, 0);
    const std::vector<std::uint16_t> owner = step::divide_everywhere(given.topology, 2);
    for (const NodeId host : given.topology.hosts()) {
        const NodeId at = given.topology.neighbor(given.topology.first_port(host));
        std::vector<int> nodes(2, 0);
        ++nodes[owner[at]];
        for (const NodeId other : given.topology.hosts()) {
            nodes[owner[other]] += given.topology.neighbor(given.topology.first_port(other)) == at;
        }
        CHECK(nodes[0] > 0);
        CHECK(nodes[1] > 0);
    }
}
