// SPDX-License-Identifier: Apache-2.0
/// The phase controller over the packet engine's columns: what it may not change (anything, while
/// nothing is skipped), what it must keep (bytes, capacity), and that two engines agree on it.
#include "tests/support/hybrid_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Outcome run_plain(const Case& given, Application* application) {
    Routing routing(given.topology);
    step::WorldStore store(given.topology, routing, given.config, given.flows, given.paths,
                           application);
    store.world().digest_hops = true;
    store.begin();
    step::CellStep step_cell(store.world());
    engine::Driver driver(store, given.events, {});
    driver.advance(given.stop, step_cell);
    return outcome_of(store, end_of(given));
}

}  // namespace

TEST_CASE("unit.hybrid.without_skipping_nothing_changes") {
    PhaseConfig config = eager_phases();
    config.skip = false;
    std::uint64_t samples = 0;
    for_chained_cases(
        20'000, 100, RandomOptions{}, [&](std::uint64_t, Case& given, Application* application) {
            const Outcome plain = run_plain(given, application);
            const HybridOutcome watched = run_hybrid(given, config, Driver::windows, application);
            check_same(plain, watched.outcome);
            samples += watched.phases.samples;
        });
    CHECK(samples > 1000);
}

TEST_CASE("unit.hybrid.contracts_hold_after_every_transition") {
    std::uint64_t skips = 0;
    std::uint64_t backs = 0;
    std::uint64_t checks = 0;
    for_chained_cases(21'000, 500, RandomOptions{},
                      [&](std::uint64_t seed, Case& given, Application* application) {
                          PhaseConfig config = eager_phases();
                          config.scope =
                              seed % 4 == 0 ? PhaseScope::network : PhaseScope::partition;
                          const HybridOutcome made =
                              run_hybrid(given, config, Driver::windows, application, true);
                          skips += made.phases.skips;
                          backs += made.phases.skip_backs;
                          checks += made.checks;
                      });
    MESSAGE(skips << " skips, " << backs << " skip-backs, " << checks << " checks");
    CHECK(skips > 1000);
    CHECK(backs > 100);
}

TEST_CASE("unit.hybrid.two_engines_agree") {
    std::uint64_t skips = 0;
    std::uint64_t backs = 0;
    RandomOptions options;
    options.lossless = true;
    for_chained_cases(
        22'000, 120, options, [&](std::uint64_t, Case& given, Application* application) {
            // No decision on a shared buffer: a partition that skips back into a window that its
            // neighbours have executed meets them there only.
            given.config.buffer.size = Bytes{1 << 28};
            const PhaseConfig config = eager_phases();
            const HybridOutcome windows = run_hybrid(given, config, Driver::windows, application);
            const HybridOutcome oracle = run_hybrid(given, config, Driver::oracle, application);
            check_same(windows.outcome, oracle.outcome);
            CHECK(windows.phases.skips == oracle.phases.skips);
            CHECK(windows.phases.skip_backs == oracle.phases.skip_backs);
            CHECK(windows.timeline.size() == oracle.timeline.size());
            skips += windows.phases.skips;
            backs += windows.phases.skip_backs;
        });
    MESSAGE(skips << " skips, " << backs << " skip-backs");
    CHECK(skips > 300);
    CHECK(backs > 30);
}

TEST_CASE("unit.hybrid.skips_in_other_groups_count") {
    // Groups change as flows come and go. What their flows have skipped takes room from the drift
    // that the next group may still have, so that less is skipped than if it were forgotten.
    std::int64_t bytes = 0;
    std::int64_t forgotten = 0;
    for_chained_cases(
        23'000, 60, RandomOptions{}, [&](std::uint64_t, Case& given, Application* application) {
            PhaseConfig config = eager_phases();
            config.detector.tolerance = 0.1;
            bytes += run_hybrid(given, config, Driver::windows, application).phases.bytes_skipped;
            forgotten += run_hybrid(given, config, Driver::windows, application, false, true)
                             .phases.bytes_skipped;
        });
    MESSAGE(bytes << " bytes skipped, " << forgotten << " if groups forget");
    CHECK(bytes > 0);
    CHECK(bytes < forgotten);
}
