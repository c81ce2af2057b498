// SPDX-License-Identifier: Apache-2.0
/// Windows whose cells several threads step: whichever worker steps a cell, and in whatever order, every
/// hop, flow and port is what one thread gives. Run under a thread sanitizer, too.
#include "core/clocks/worker_pool.h"

#include <map>
#include <utility>

#include "core/error.h"
#include "tests/support/clock_support.h"
#include "tests/support/opened_flows.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Outcome run_team(const Case& given, std::uint32_t workers, std::uint64_t seed) {
    Rig rig(given);
    step::WorkerPool pool(rig.store, {workers, 0}, step::cell_stepper);
    if (seed != 0) {
        pool.keep_division(scattered(given.topology.node_count(), workers, seed));
    }
    engine::Driver driver(rig.store, given.events, {});
    driver.divide_windows(pool);
    driver.advance(given.stop, rig);
    CHECK(pool.windows() == driver.windows());
    Outcome outcome = outcome_of(rig.store, end_of(given));
    outcome.counters.windows = driver.windows();
    return outcome;
}

/// One thread that steps all, and several: as they divide the nodes among them, and at random.
Outcome check_teams(const Case& given, std::uint64_t seed) {
    INFO(given.name);
    const Outcome expected = run_windows(given);
    int dealt = 0;
    for (const std::uint32_t workers : {1U, 2U, 2U, seed % 4 == 0 ? 8U : 3U}) {
        INFO(workers);
        const Outcome made = run_team(given, workers, dealt++ % 2 == 0 ? 0 : seed);
        check_same(expected, made);
        CHECK(expected.counters.events == made.counters.events);
        CHECK(expected.counters.windows == made.counters.windows);
        CHECK(expected.counters.retransmitted_bytes == made.counters.retransmitted_bytes);
    }
    return expected;
}

void compare_pools(std::uint64_t first_seed, std::uint64_t count) {
    MechanismTally tally;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
        tally.add(check_teams(random_case(seed), seed).counters);
    }
    tally.check();
}

}  // namespace

TEST_CASE("unit.worker_pool.random_1") { compare_pools(41'000, 8); }
TEST_CASE("unit.worker_pool.random_2") { compare_pools(42'000, 8); }
TEST_CASE("unit.worker_pool.random_3") { compare_pools(43'000, 8); }
TEST_CASE("unit.worker_pool.random_4") { compare_pools(44'000, 8); }

TEST_CASE("unit.worker_pool.applications") {
    for (std::uint64_t seed = 45'000; seed < 45'010; ++seed) {
        Case given = random_case(seed);
        Dice dice(seed);
        Relay relay;
        relay_flows(given, dice, relay);
        check_teams(given, seed);
    }
}

TEST_CASE("unit.worker_pool.opened_flows") {
    for (std::uint64_t seed = 46'000; seed < 46'010; ++seed) {
        Case given = random_case(seed);
        if (!given.paths.empty()) continue;  // an opened flow has no given path
        OpensList application(given.flows);
        given.flows.clear();
        given.application = &application;
        check_teams(given, seed);
    }
    Case given = churn_case(true, 0.002);
    Churn churn(given.topology.hosts(), 60, 20'000);
    given.application = &churn;
    check_teams(given, 47'000);
}

namespace {

/// Hundreds of flows start at one instant, so that hosts stall in the window; later ones find slots.
Case stalling_case() {
    Case given = churn_case(false, 0);
    const std::vector<NodeId>& hosts = given.topology.hosts();
    for (std::uint32_t i = 0; i < 600; ++i) {
        const NodeId src = hosts[i % hosts.size()];
        const NodeId dst = hosts[(i + 1 + i / hosts.size() % (hosts.size() - 1)) % hosts.size()];
        if (src == dst) continue;
        FlowSpec spec = flow(src, dst, 3000, i < 400 ? kMicrosecond : 400 * kMicrosecond);
        spec.sport = static_cast<std::uint16_t>(10'000 + i);
        given.flows.push_back(spec);
    }
    return given;
}

}  // namespace

TEST_CASE("unit.worker_pool.flows_beyond_a_workers_stock_of_slots") {
    check_teams(stalling_case(), 48'000);
}

TEST_CASE("unit.worker_pool.what_a_stalled_host_throws_reaches_the_caller") {
    const Case given = stalling_case();
    Rig rig(given);
    step::WorkerPool pool(rig.store, {2, 0}, [](step::World& world) {
        auto step = step::cell_stepper(world);
        std::map<NodeId, Tick> stepped;
        return [step, stepped](const step::Cell& cell, Tick begin, Tick end) mutable {
            // Only a host that stalled is stepped twice in a window.
            const auto [place, fresh] = stepped.insert({cell.node, begin});
            if (!fresh && std::exchange(place->second, begin) == begin) {
                throw InternalError("thrown");
            }
            step(cell, begin, end);
        };
    });
    engine::Driver driver(rig.store, given.events, {});
    driver.divide_windows(pool);
    CHECK_THROWS_AS(driver.advance(given.stop, rig), InternalError);
}

TEST_CASE("unit.worker_pool.what_a_step_throws_reaches_the_caller") {
    const Case given = random_case(41'000);
    Rig rig(given);
    step::WorkerPool pool(rig.store, {2, 0}, [](step::World&) {
        return [](const step::Cell&, Tick, Tick) { throw InternalError("thrown"); };
    });
    engine::Driver driver(rig.store, given.events, {});
    driver.divide_windows(pool);
    CHECK_THROWS_AS(driver.advance(given.stop, rig), InternalError);
}

TEST_CASE("unit.worker_pool.takes_windows_that_have_enough_to_do") {
    const Case given = churn_case(false, 0);
    Case sent = given;
    const std::vector<NodeId>& hosts = given.topology.hosts();
    sent.flows.push_back(flow(hosts[0], hosts[1], 2'000'000, kMicrosecond));
    for (const std::uint64_t least : {std::uint64_t{0}, std::uint64_t{1'000'000}}) {
        Rig rig(sent);
        step::WorkerPool pool(rig.store, {2, least}, step::cell_stepper);
        engine::Driver driver(rig.store, {}, {});
        driver.divide_windows(pool);
        driver.advance(sent.stop, rig);
        CHECK(pool.windows() == (least == 0 ? driver.windows() : 0));
        check_same(run_windows(sent), outcome_of(rig.store, end_of(sent)));
    }
}

// What bench/threads shows a thread sanitizer, to know that it would find a race: a count that is not the
// worker's own.
TEST_CASE("unit.worker_pool.planted_race" * doctest::skip()) {
    const Case given = random_case(41'000);
    Rig rig(given);
    step::WorkerPool pool(rig.store, {2, 0}, [&](step::World& world) -> step::WorkerPool::Step {
        return
            [&rig, step = step::cell_stepper(world)](const step::Cell& cell, Tick begin, Tick end) {
                step(cell, begin, end);
                ++rig.store.world().drops;
            };
    });
    pool.keep_division(scattered(given.topology.node_count(), 2, 1));
    engine::Driver driver(rig.store, given.events, {});
    driver.divide_windows(pool);
    driver.advance(given.stop, rig);
}
