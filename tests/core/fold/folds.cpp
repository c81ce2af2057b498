// SPDX-License-Identifier: Apache-2.0
/// Folding: parts that are copies of each other are executed once, and every flow, port and callback is what
/// it is without.
#include "core/fold/folds.h"

#include "tests/support/fold_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

void add(FoldCounters& sum, const FoldCounters& more) {
    sum.hops += more.hops;
    sum.images += more.images;
    sum.forks += more.forks;
}

FoldCounters compare_copies(std::uint64_t first_seed, std::uint64_t count,
                            const CopiesOptions& options) {
    FoldCounters sum;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        const Copies copies(seed, options);
        const Folded made = check_folding(copies.given);
        add(sum, made.fold);
    }
    return sum;
}

}  // namespace

TEST_CASE("unit.folds.copies_that_stay_alike") {
    CopiesOptions options;
    options.changed = 0;
    for (const bool by_copy : {true, false}) {
        options.by_copy = by_copy;
        const FoldCounters sum = compare_copies(1000, 100, options);
        CHECK(sum.hops > 0);
        CHECK(sum.forks == 0);
    }
}

TEST_CASE("unit.folds.copies_that_part") {
    CopiesOptions options;
    options.changed = 10;
    options.flows = 16;
    const FoldCounters sum = compare_copies(2000, 400, options);
    CHECK(sum.hops > 0);
    CHECK(sum.forks > 10);
}

TEST_CASE("unit.folds.strangers_between_copies") {
    CopiesOptions options;
    options.strangers = 6;
    options.flows = 16;
    const FoldCounters sum = compare_copies(3000, 400, options);
    CHECK(sum.hops > 0);
}

TEST_CASE("unit.folds.links_that_fail") {
    CopiesOptions options;
    options.failures = true;
    options.changed = 1;
    options.flows = 16;
    const FoldCounters sum = compare_copies(3500, 400, options);
    CHECK(sum.hops > 0);
}

TEST_CASE("unit.folds.every_law") {
    for (const congestion::Law law : kLaws) {
        CopiesOptions options;
        options.law = law;
        options.changed = 5;
        INFO(congestion::law_name(law));
        compare_copies(4000, 100, options);
    }
}

TEST_CASE("unit.folds.random_cases_are_as_without") {
    for (std::uint64_t seed = 5000; seed < 5060; ++seed) {
        Case given = random_case(seed);
        check_folding(given);
        Dice dice(seed);
        Relay relay;
        relay_flows(given, dice, relay);
        check_folding(given);
    }
}

TEST_CASE("unit.folds.windows_with_nothing_folded_are_for_several_threads") {
    CopiesOptions options;
    options.changed = 10;
    options.strangers = 6;
    options.flows = 16;
    options.failures = true;
    FoldCounters sum;
    std::uint64_t shared = 0;
    for (std::uint64_t seed = 8000; seed < 8030; ++seed) {
        const Copies copies(seed, options);
        const Folded made = check_folding(copies.given, 2);
        add(sum, made.fold);
        shared += made.shared_windows;
    }
    CHECK(sum.hops > 0);
    CHECK(shared > 0);
}
