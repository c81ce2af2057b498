// SPDX-License-Identifier: Apache-2.0
/// An audit of groups that are folded upon themselves: a shadow has one sheet of them, and what it finds is what it
/// finds of all.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <tuple>

#include "tests/support/audit_support.h"

namespace sluice::test {
namespace {

/// Rings, or copies of rings, on one star or several switches, of which `changed` percent of the flows differ.
CopiesOptions rings(std::uint32_t copies, std::uint32_t changed, congestion::Law law) {
    CopiesOptions options;
    options.turned = true;
    options.copies = copies;
    options.flows = 3;
    options.changed = changed;
    options.size = 7;
    options.law = law;
    return options;
}

/// Without marks at random, which a sheet draws for all.
void mark_at_thresholds(Copies& copies, congestion::Law law) {
    copies.given.config.ecn.enabled = law == congestion::Law::dctcp;
    copies.given.config.marking = Marking::threshold_marking;
}

/// What packets do from where skips begin, and from where they end.
class Looks final : public hybrid::PhaseWatcher {
  public:
    using Seen = std::map<std::tuple<FlowId, Tick, bool>, std::vector<double>>;

    /// Of parts that are folded upon themselves.
    struct Folded {
        std::size_t looks = 0;
        std::size_t taken_apart = 0;  ///< between a skip's begin and its end
    };

    Looks(step::WorldStore& store, Seen& seen, Folded& folded)
        : store_(store), shadow_(store), seen_(seen), folded_(folded) {}

    void before_skip(const hybrid::WatchedSkip& skip) override {
        look(skip, skip.begin, true);
        sheets_[skip.id] = skip.sheets();
    }
    void after_skip(const hybrid::WatchedSkip& skip, const std::vector<std::int64_t>&) override {
        look(skip, skip.end, false);
        folded_.taken_apart += skip.sheets() < sheets_[skip.id] ? 1 : 0;
    }
    void left(FlowSlot) override {}
    bool trusts() const override { return true; }

  private:
    static constexpr int kLooks = 32;

    void look(const hybrid::WatchedSkip& skip, Tick at, bool before) {
        step::NetworkPart part{skip.executed.ports, skip.executed.hosts, skip.executed.flows};
        std::sort(part.ports.begin(), part.ports.end());
        const audit::ShadowRun run =
            shadow_.run(step::Snapshot(store_, part, at), part, kLooks * skip.rtt);
        folded_.looks += skip.sheets() > 1 ? 1 : 0;
        for (std::size_t i = 0; i < skip.group.flows.size(); ++i) {
            const audit::Course& course = run.courses[skip.executed.like[i]];
            std::vector<double>& points =
                seen_[{store_.world().id[skip.group.flows[i]], at, before}];
            points = {static_cast<double>(course.last()), course.ended() ? 1.0 : 0.0};
            for (int k = 1; k <= kLooks; ++k) {
                points.push_back(course.bytes_at(k * skip.rtt));
            }
        }
    }

    step::WorldStore& store_;
    audit::Shadow shadow_;
    Seen& seen_;
    Folded& folded_;
    std::map<std::uint32_t, std::size_t> sheets_;  ///< by group
};

Looks::Seen seen_in(const Case& given, bool fold, Looks::Folded& folded) {
    Looks::Seen seen;
    AuditOptions options;
    options.fold = fold;
    options.watcher = [&](step::WorldStore& store) {
        return std::make_unique<Looks>(store, seen, folded);
    };
    run_audited(given, eager_phases(), options);
    return seen;
}

TEST_CASE("unit.audit.folded.packets_of_one_sheet_do_what_those_of_all_do") {
    std::size_t taken_apart = 0;
    for (const congestion::Law law : kLaws) {
        Looks::Folded none;
        Looks::Folded folded;
        std::size_t looks = 0;
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            Copies copies(seed, rings(1 + seed % 2, seed % 3 == 0 ? 6 : 0, law));
            mark_at_thresholds(copies, law);
            INFO(copies.given.name << ", " << congestion::law_name(law));
            const Looks::Seen apart = seen_in(copies.given, false, none);
            const Looks::Seen together = seen_in(copies.given, true, folded);
            // Those that follow others have none of their own.
            for (const auto& [what, points] : together) {
                REQUIRE(apart.count(what) == 1);
                CHECK(apart.at(what) == points);
            }
            looks += together.size();
        }
        MESSAGE(std::string(congestion::law_name(law))
                << ": " << looks << " courses, " << folded.looks
                << " looks at one sheet of several, " << folded.taken_apart << " taken apart");
        CHECK(none.looks == 0);
        CHECK(folded.looks > 20);
        taken_apart += folded.taken_apart;
    }
    CHECK(taken_apart > 0);
}

TEST_CASE("unit.audit.folded.the_run_is_what_it_is_without_one") {
    std::uint64_t audited = 0;
    for (std::uint64_t seed = 1; seed <= 90; ++seed) {
        const auto changed = static_cast<std::uint32_t>(seed % 3 == 0 ? 6 : 0);
        const Copies copies(seed, rings(1 + seed % 3, changed, congestion::Law::hpcc));
        INFO(copies.given.name);
        AuditOptions folding;
        folding.fold = true;
        AuditOptions watching{seed % 2 == 0 ? kEvery : 0.1};
        watching.fold = true;
        const Audited plain = run_audited(copies.given, eager_phases(), folding);
        const Audited watched = run_audited(copies.given, eager_phases(), watching);
        CHECK(first_difference(plain.flows, watched.flows) == -1);
        CHECK(first_difference(plain.ports, watched.ports) == -1);
        CHECK(plain.fold.hops == watched.fold.hops);
        CHECK(plain.fold.images == watched.fold.images);
        CHECK(plain.phases.skips == watched.phases.skips);
        audited += watched.audit.audited;
    }
    MESSAGE(audited << " skips audited");
    CHECK(audited > 100);
}

constexpr Tick kRounds = 10;

/// Two rings in which every host sends to the next, again and again, each time another size. They are of two
/// priorities: none is a copy of the other.
Case two_rings(std::uint64_t seed, congestion::Law law) {
    Case given;
    given.name = "rings " + std::to_string(seed);
    Dice dice(seed);
    const std::uint32_t hosts = 4 + dice.below(5);
    given.topology = build_star({2 * hosts, {gigabits_per_second(100), kMicrosecond}});
    given.config = config_for(law, gigabits_per_second(100));
    for (Tick round = 0; round < kRounds; ++round) {
        const std::int64_t size = 1'000'000 + dice.below(9'000'000);
        for (NodeId i = 0; i < 2 * hosts; ++i) {
            const NodeId next = i / hosts * hosts + (i + 1) % hosts;
            given.flows.push_back(flow(i, next, size, round * 2 * kMillisecond));
            given.flows.back().priority = static_cast<std::uint8_t>(3 + i / hosts);
        }
    }
    assign_source_ports(given.flows);
    given.stop = 30 * kMillisecond;
    return given;
}

TEST_CASE("unit.audit.folded.what_is_said_is_what_is_said_without_folding") {
    for (const congestion::Law law :
         {congestion::Law::hpcc, congestion::Law::dctcp, congestion::Law::timely}) {
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            const Case given = two_rings(seed, law);
            INFO(given.name << ", " << congestion::law_name(law));
            const Audited alone = run_audited(given, PhaseConfig{}, {kEvery});
            AuditOptions folding{kEvery};
            folding.fold = true;
            const Audited folded = run_audited(given, PhaseConfig{}, folding);
            CHECK(first_difference(alone.flows, folded.flows) == -1);
            const std::size_t sheets = given.topology.hosts().size() / 2;
            CHECK(folded.fold.images == 2 * kRounds * (sheets - 1));
            REQUIRE(alone.audit.enough);
            CHECK(alone.audit.audited > 5);
            CHECK(folded.audit.skips == alone.audit.skips);
            CHECK(folded.audit.audited == alone.audit.audited);
            CHECK(folded.audit.clusters == alone.audit.clusters);
            const auto same = [](double a, double b) { return std::abs(a - b) <= 1e-12; };
            CHECK(same(folded.audit.skipped_share, alone.audit.skipped_share));
            CHECK(same(folded.audit.fct_error, alone.audit.fct_error));
            CHECK(same(folded.audit.fct_half, alone.audit.fct_half));
            CHECK(same(folded.audit.time_error, alone.audit.time_error));
            CHECK(same(folded.audit.time_half, alone.audit.time_half));
            CHECK(folded.audit.hops * sheets == alone.audit.hops);
        }
    }
}

}  // namespace
}  // namespace sluice::test
