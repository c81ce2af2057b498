// SPDX-License-Identifier: Apache-2.0
/// Folding under the phase controller: groups that are copies of each other are executed, and skipped, once,
/// and everything is what it is without.
#include "tests/support/fold_support.h"
#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

struct Sums {
    FoldCounters fold;
    std::uint64_t skips = 0;
    std::uint64_t backs = 0;
};

bool same_phase(const PhaseRecord& a, const PhaseRecord& b) {
    return std::tie(a.partition, a.phase, a.start, a.end, a.ended_by, a.flows, a.bytes_skipped,
                    a.hops_saved) == std::tie(b.partition, b.phase, b.start, b.end, b.ended_by,
                                              b.flows, b.bytes_skipped, b.hops_saved);
}

void check_same_phases(const HybridOutcome& a, const HybridOutcome& b) {
    REQUIRE(a.timeline.size() == b.timeline.size());
    const auto differ =
        std::mismatch(a.timeline.begin(), a.timeline.end(), b.timeline.begin(), same_phase);
    CHECK(differ.first == a.timeline.end());
    CHECK(a.phases.samples == b.phases.samples);
    CHECK(a.phases.skips == b.phases.skips);
    CHECK(a.phases.skip_backs == b.phases.skip_backs);
    CHECK(a.phases.hops_saved == b.phases.hops_saved);
    CHECK(a.phases.bytes_skipped == b.phases.bytes_skipped);
    CHECK(a.phases.steady_flow_s == b.phases.steady_flow_s);
    CHECK(a.phases.merges == b.phases.merges);
    CHECK(a.phases.splits == b.phases.splits);
}

Sums compare_copies(std::uint64_t first_seed, std::uint64_t count, CopiesOptions options,
                    const PhaseConfig& config) {
    Sums sums;
    options.size = 7;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        const Copies copies(seed, options);
        INFO(copies.given.name);
        const HybridOutcome plain =
            run_hybrid(copies.given, config, Driver::windows, copies.given.application);
        FoldCounters fold;
        const HybridOutcome folded =
            run_hybrid(copies.given, config, Driver::windows, copies.given.application, false,
                       false, nullptr, nullptr, &fold);
        check_same_but_executed(plain.outcome, folded.outcome);
        check_same_phases(plain, folded);
        sums.fold.hops += fold.hops;
        sums.fold.images += fold.images;
        sums.fold.forks += fold.forks;
        sums.skips += folded.phases.skips;
        sums.backs += folded.phases.skip_backs;
    }
    MESSAGE(sums.fold.images << " images, " << sums.fold.hops << " hops folded, " << sums.fold.forks
                             << " forks, " << sums.skips << " skips, " << sums.backs
                             << " skip-backs");
    return sums;
}

}  // namespace

TEST_CASE("unit.hybrid.folded.copies_that_stay_alike") {
    CopiesOptions options;
    options.changed = 0;
    for (const bool by_copy : {true, false}) {
        options.by_copy = by_copy;
        const Sums sums = compare_copies(1000, 40, options, eager_phases());
        CHECK(sums.fold.hops > 0);
        CHECK(sums.skips > 100);
    }
}

TEST_CASE("unit.hybrid.folded.copies_that_part") {
    CopiesOptions options;
    options.changed = 10;
    const Sums sums = compare_copies(2000, 80, options, eager_phases());
    CHECK(sums.fold.forks > 10);
    CHECK(sums.backs > 10);
}

TEST_CASE("unit.hybrid.folded.strangers_between_copies") {
    CopiesOptions options;
    options.changed = 3;
    options.strangers = 6;
    const Sums sums = compare_copies(3000, 80, options, eager_phases());
    CHECK(sums.fold.hops > 0);
}

TEST_CASE("unit.hybrid.folded.links_that_fail") {
    CopiesOptions options;
    options.failures = true;
    options.changed = 1;
    compare_copies(3500, 60, options, eager_phases());
}

TEST_CASE("unit.hybrid.folded.every_law") {
    for (const congestion::Law law : kLaws) {
        CopiesOptions options;
        options.law = law;
        options.changed = 4;
        INFO(congestion::law_name(law));
        compare_copies(4000, 40, options, eager_phases());
    }
}

TEST_CASE("unit.hybrid.folded.phases_that_are_judged") {
    CopiesOptions options;
    options.changed = 4;
    options.flows = 16;
    PhaseConfig config;
    const Sums sums = compare_copies(5000, 60, options, config);
    CHECK(sums.skips > 10);
    config.skip = false;
    compare_copies(5000, 20, options, config);
}
