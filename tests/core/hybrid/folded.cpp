// SPDX-License-Identifier: Apache-2.0
/// Folding under the phase controller: groups that are copies of each other are executed, and skipped, once,
/// and everything is what it is without.
#include <algorithm>
#include <set>

#include "tests/support/episode_support.h"
#include "tests/support/exchange_cases.h"
#include "tests/support/fold_support.h"
#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// Queues are so many times as deep as they were at the first look.
class Deeper final : public hybrid::Restorer {
  public:
    explicit Deeper(double factor) : factor_(factor) {}
    std::size_t looks() const override { return 4; }
    std::vector<double> depths(const std::vector<hybrid::PortPast>& ports) override {
        std::vector<double> depths;
        for (const hybrid::PortPast& port : ports) {
            depths.push_back(factor_ * port.depth.front());
        }
        asked += ports.size();
        return depths;
    }
    std::size_t asked = 0;

  private:
    double factor_;
};

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

/// Adds what was folded and skipped.
void compare(const Case& given, const PhaseConfig& config, Sums& sums,
             hybrid::Restorer* restorer = nullptr) {
    INFO(given.name);
    const auto run = [&](FoldCounters* fold) {
        return run_hybrid(given, config, Driver::windows, given.application, false, false, restorer,
                          fold);
    };
    const HybridOutcome plain = run(nullptr);
    FoldCounters fold;
    const HybridOutcome folded = run(&fold);
    check_same_but_executed(plain.outcome, folded.outcome);
    check_same_phases(plain, folded);
    sums.fold.hops += fold.hops;
    sums.fold.images += fold.images;
    sums.fold.forks += fold.forks;
    sums.skips += folded.phases.skips;
    sums.backs += folded.phases.skip_backs;
}

void tell(const Sums& sums) {
    MESSAGE(sums.fold.images << " images, " << sums.fold.hops << " hops folded, " << sums.fold.forks
                             << " forks, " << sums.skips << " skips, " << sums.backs
                             << " skip-backs");
}

Sums compare_copies(std::uint64_t first_seed, std::uint64_t count, CopiesOptions options,
                    const PhaseConfig& config, hybrid::Restorer* restorer = nullptr) {
    Sums sums;
    options.size = 7;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        const Copies copies(seed, options);
        compare(copies.given, config, sums, restorer);
    }
    tell(sums);
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

TEST_CASE("unit.hybrid.folded.of_copies_that_were_skipped_nothing_is_learned") {
    CopiesOptions options;
    options.size = 7;
    std::size_t learned = 0;
    std::uint64_t forks = 0;
    for (std::uint64_t seed = 2000; seed < 2400; ++seed) {
        options.changed = seed % 2 == 0 ? 10 : 0;
        options.strangers = seed % 3 == 0 ? 6 : 0;
        const Copies copies(seed, options);
        INFO(copies.given.name);
        const auto lessons = [&](FoldCounters* fold) {
            memo::Memo memo;
            hybrid::EpisodeMemory memory(memo, {}, kNothingIsKnown, 1);
            run_hybrid(copies.given, eager_phases(), Driver::windows, copies.given.application,
                       false, false, nullptr, fold, nullptr, &memory);
            std::set<memo::Digest> digests;
            for (const memo::Stored& one : memo.news()) digests.insert(one.digest);
            return digests;
        };
        const std::set<memo::Digest> apart = lessons(nullptr);
        FoldCounters fold;
        const std::set<memo::Digest> folded = lessons(&fold);
        CHECK(std::includes(apart.begin(), apart.end(), folded.begin(), folded.end()));
        learned += folded.size();
        forks += fold.forks;
    }
    CHECK(forks > 10);
    CHECK(learned > 10);
}

TEST_CASE("unit.hybrid.folded.strangers_between_copies") {
    CopiesOptions options;
    options.changed = 3;
    options.strangers = 6;
    const Sums sums = compare_copies(3000, 80, options, eager_phases());
    CHECK(sums.fold.hops > 0);
}

TEST_CASE("unit.hybrid.folded.flows_that_leave_by_another_port") {
    CopiesOptions options;
    options.servers = true;
    options.changed = 5;
    const Sums sums = compare_copies(3200, 80, options, eager_phases());
    CHECK(sums.fold.hops > 0);
}

TEST_CASE("unit.hybrid.folded.links_that_fail") {
    CopiesOptions options;
    options.failures = true;
    options.changed = 1;
    compare_copies(3500, 60, options, eager_phases());
}

TEST_CASE("unit.hybrid.folded.a_part_upon_itself") {
    // One part only: every image is another turn of it.
    CopiesOptions options;
    options.turned = true;
    options.copies = 1;
    options.flows = 3;
    for (const std::uint32_t changed : {0U, 6U}) {
        options.changed = changed;
        const Sums sums = compare_copies(7000 + changed, 80, options, eager_phases());
        CHECK(sums.fold.hops > 0);
        CHECK(sums.skips > 100);
    }
}

TEST_CASE("unit.hybrid.folded.copies_upon_themselves") {
    CopiesOptions options;
    options.turned = true;
    options.copies = 3;
    options.flows = 4;
    options.changed = 2;
    options.strangers = 2;
    const Sums sums = compare_copies(7500, 80, options, eager_phases());
    CHECK(sums.fold.hops > 0);
    for (const congestion::Law law : kLaws) {
        options.law = law;
        options.strangers = 0;
        INFO(congestion::law_name(law));
        compare_copies(7700, 30, options, eager_phases());
    }
}

TEST_CASE("unit.hybrid.folded.exchanges_upon_themselves") {
    // They become one partition where a message joins them, and several again when it is over.
    Sums sums;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        compare(random_exchange(seed, 2, 8), eager_phases(), sums);
    }
    tell(sums);
    CHECK(sums.fold.hops > 0);
    CHECK(sums.skips > 100);
    CHECK(sums.backs > 10);
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

TEST_CASE("unit.hybrid.folded.queues_that_are_restored") {
    CopiesOptions options;
    options.changed = 4;
    options.flows = 16;
    // Packets are put in, or taken out of the midst of what is on its way.
    for (const double factor : {2.0, 0.3}) {
        Deeper deeper(factor);
        compare_copies(6000, 40, options, eager_phases(), &deeper);
        Sums sums;
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            compare(random_exchange(seed, 2, 8), eager_phases(), sums, &deeper);
        }
        tell(sums);
        CHECK(sums.fold.hops > 0);
        CHECK(deeper.asked > 10);
    }
}
