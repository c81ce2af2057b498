// SPDX-License-Identifier: Apache-2.0
/// How time is cut into windows changes nothing: windows as long as may be, windows cut at random
/// instants, nodes visited backwards, and the oracle, which has no windows, move the same packets at
/// the same instants and execute equally many events. Cases are longer than those of
/// step_equivalence.cpp, so that laws' timers and pauses meet windows' ends often.
#include <set>

#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// Few flows, most of them of up to two megabytes. Every third case is lossless.
Case long_case(std::uint64_t seed) {
    RandomOptions options;
    options.lossless = seed % 3 == 0;
    Case given = random_case(seed, options);
    Dice dice(seed ^ 0x63757473ULL);
    given.flows.resize(std::min<std::size_t>(given.flows.size(), 5 + dice.below(6)));
    given.paths.resize(std::min(given.paths.size(), given.flows.size()));
    for (FlowSpec& spec : given.flows) {
        spec.size += dice.chance(70) ? 100'000 + dice.below(1'900'000) : 0;
    }
    return given;
}

/// Windows that end wherever the dice say, from within a nanosecond to many lookaheads apart, and
/// at the samples of an observer that does nothing. `at_cut(rig, now)` runs at the former.
template <class AtCut>
Outcome run_cut(const Case& given, std::uint64_t seed, AtCut&& at_cut) {
    Dice dice(seed ^ 0x72756e637574ULL);
    Rig rig(given, true);
    RunHooks hooks;
    hooks.on_sample = [](Tick, const auto&) {};
    hooks.sample_every = dice.size(5.0) * kNanosecond;
    hooks.sample_to = given.stop;
    engine::Driver driver(rig.store, given.events, hooks);
    const double longest = 4 + dice.below(4);
    Tick now = 0;
    while (now < given.stop) {
        now = std::min(given.stop, now + dice.size(longest));
        driver.advance(now, rig);
        at_cut(rig, now);
        // From one piece of work to the next: there is nothing to cut in between.
        const Tick next = step::next_instant(rig.world);
        now = next == kNever ? given.stop : std::max(now, next);
    }
    return outcome_of(rig.store, end_of(given));
}

Outcome run_cut(const Case& given, std::uint64_t seed) {
    return run_cut(given, seed, [](Rig&, Tick) {});
}

void check_same_events(const Outcome& a, const Outcome& b) {
    check_same(a, b);
    CHECK(a.counters.events == b.counters.events);
}

void compare_cuts(std::uint64_t first_seed, std::uint64_t count) {
    MechanismTally tally;
    std::set<congestion::Law> laws;
    std::set<std::int32_t> every;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        const Case given = long_case(seed);
        INFO(given.name);
        const Outcome windows = run_windows(given);
        check_same_events(windows, run_cut(given, seed));
        check_same_events(windows, run_cut(given, ~seed));
        check_same_events(windows, run_reversed(given));
        check_same_events(windows, run_oracle(given));
        tally.add(windows.counters);
        laws.insert(given.config.congestion.law);
        every.insert(given.config.nic.ack_every);
    }
    tally.check();
    CHECK(laws.size() == std::size(kLaws));
    CHECK(every.size() == 4);
}

}  // namespace

TEST_CASE("unit.step.cuts.random_1") { compare_cuts(7000, 40); }
TEST_CASE("unit.step.cuts.random_2") { compare_cuts(7100, 40); }
TEST_CASE("unit.step.cuts.random_3") { compare_cuts(7200, 40); }
TEST_CASE("unit.step.cuts.random_4") { compare_cuts(7400, 40); }

TEST_CASE("unit.step.cuts.superseded_timers_change_nothing") {
    // Timers that a queue pair no longer waits for, at any instants, are all dropped unseen or
    // executed in vain.
    std::uint64_t added = 0;
    for (std::uint64_t seed = 7500; seed < 7530; ++seed) {
        const Case given = long_case(seed);
        INFO(given.name);
        Dice dice(seed);
        const auto add_timers = [&](Rig& rig, Tick now) {
            for (FlowId flow = 0; flow < given.flows.size(); ++flow) {
                const std::uint32_t index = rig.world.sender_at[flow];
                const Tick at = now + dice.size(7.0);
                if (index != kNone && dice.chance(30) &&
                    step::sender_of(rig.world, flow).armed != at) {
                    step::schedule(rig.world, given.flows[flow].src,
                                   step::Timer{at, step::TimerKind::sender, index, flow});
                    ++added;
                }
            }
        };
        check_same_events(run_windows(given), run_cut(given, seed, add_timers));
    }
    CHECK(added > 1000);
}
