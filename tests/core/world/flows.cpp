// SPDX-License-Identifier: Apache-2.0
/// Flows that are opened while a network runs: the same packets as if a list had told of them, whatever
/// drives the network and however slots are given out, and memory by those that live.
#include <algorithm>

#include "core/error.h"
#include "tests/support/clock_support.h"
#include "tests/support/opened_flows.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

struct Churned {
    Outcome outcome;
    std::vector<std::pair<Tick, FlowId>> finished;
    std::size_t slots = 0;
    std::size_t living = 0;
    std::uint32_t timers = 0;  ///< the longest heap of a host
    std::uint64_t solo = 0;
};

/// Runs `given`; `clocks`: on many clocks.
Churned run_churn(const Case& given, bool clocks) {
    Rig rig(given);
    Churned made;
    RunHooks hooks;
    hooks.on_finish = [&](const FlowRecord& flow) {
        made.finished.emplace_back(flow.result.finish, flow.id);
        for (const NodeId host : given.topology.hosts()) {
            made.timers = std::max(made.timers, rig.store.world().host[host].timers.count);
        }
    };
    step::FlowPartitions partitions(rig.store);
    if (clocks) {
        engine::Driver driver(rig.store, {}, hooks, engine::Clocks::many, partitions, nullptr);
        driver.tune({4, 4, 1'000'000, 8});
        driver.advance(given.stop, rig);
        made.solo = driver.statistics().windows_solo;
    } else {
        engine::Driver driver(rig.store, {}, hooks);
        driver.advance(given.stop, rig);
    }
    made.outcome = outcome_of(rig.store, given.stop);
    made.slots = rig.store.slot_count();
    made.living = rig.store.living_count();
    return made;
}

void check_churn(bool spray, double loss, std::uint32_t count, std::size_t most_slots,
                 std::uint32_t largest = 20'000) {
    Case given = churn_case(spray, loss);
    Churn churn(given.topology.hosts(), count, largest);
    given.application = &churn;
    const Churned windows = run_churn(given, false);
    CHECK(windows.finished.size() == std::size_t{9} * count);
    CHECK(windows.slots <= most_slots);
    const Churned clocks = run_churn(given, true);
    check_same(windows.outcome, clocks.outcome);
    CHECK(windows.finished == clocks.finished);
    CHECK(windows.living <= windows.slots);
    if (largest > 1'000'000) CHECK(clocks.solo > 0);
}

}  // namespace

TEST_CASE("unit.world.flows.opened_ones_are_as_listed_ones") {
    for (std::uint64_t seed = 31'000; seed < 31'060; ++seed) {
        Case given = random_case(seed);
        if (!given.paths.empty()) continue;  // an opened flow has no given path
        INFO(given.name);
        const Outcome listed = run_windows(given);
        OpensList application(given.flows);
        given.flows.clear();
        given.application = &application;
        const Outcome opened = run_windows(given);
        CHECK(opened.checksum == listed.checksum);
        CHECK(opened.counters.packet_hops == listed.counters.packet_hops);
        CHECK(opened.counters.retransmitted_bytes == listed.counters.retransmitted_bytes);
    }
}

TEST_CASE("unit.world.flows.slots_follow_those_that_live") { check_churn(false, 0, 400, 40); }

TEST_CASE("unit.world.flows.time_outs_of_those_that_are_over_do_not_pile_up") {
    // Each lies in its host's heap for milliseconds, and a flow takes microseconds.
    Case given = churn_case(false, 0);
    Churn churn(given.topology.hosts(), 1'000, 20'000);
    given.application = &churn;
    const Churned made = run_churn(given, false);
    CHECK(made.finished.size() == 9'000);
    CHECK(made.timers <= 64);
}

TEST_CASE("unit.world.flows.slots_follow_those_that_live_on_clocks_apart") {
    check_churn(false, 0, 12, 40, 4'000'000);
}

TEST_CASE("unit.world.flows.slots_follow_those_that_live_where_packets_overtake") {
    check_churn(true, 0, 200, 200);
}

TEST_CASE("unit.world.flows.slots_follow_those_that_live_where_packets_are_lost") {
    check_churn(false, 0.002, 200, 200);
}

TEST_CASE("unit.world.flows.one_that_opens_while_its_path_is_cut_waits_for_the_repair") {
    for (const congestion::Law law : {congestion::Law::none, congestion::Law::hpcc}) {
        StarParams star;
        star.hosts = 3;
        Case given;
        given.topology = build_star(star);
        given.config = config_for(law);
        given.events = {{kMicrosecond, 1, false}, {300 * kMicrosecond, 1, true}};
        given.stop = 100 * kMillisecond;
        // To the host that is cut off, from it, and between the others.
        OpensLater later({flow(0, 1, 100'000, 10 * kMicrosecond),
                          flow(1, 2, 100'000, 20 * kMicrosecond),
                          flow(0, 2, 100'000, 20 * kMicrosecond)});
        given.application = &later;
        Rig rig(given);
        std::vector<FlowRecord> finished;
        RunHooks hooks;
        hooks.on_finish = [&](const FlowRecord& flow) { finished.push_back(flow); };
        engine::Driver driver(rig.store, given.events, hooks);
        driver.advance(given.stop, rig);
        REQUIRE(finished.size() == 3);
        CHECK(finished[0].spec.src == 0);
        CHECK(finished[0].spec.dst == 2);
        CHECK(finished[0].result.finish < 100 * kMicrosecond);
        for (std::size_t i = 1; i < 3; ++i) {
            CHECK(finished[i].result.start < 30 * kMicrosecond);
            CHECK(finished[i].result.received > 300 * kMicrosecond);
        }
        const Outcome windows = outcome_of(rig.store, given.stop);
        check_same(windows, run_windows(given, true));
        check_same(windows, run_oracle(given));
        ClockCounts counts;
        check_same(windows, run_clocks(given, false, counts));
    }
}

TEST_CASE("unit.world.flows.what_cannot_be_carried_is_refused") {
    Case given = churn_case(false, 0);
    given.flows = {flow(1, 2, 1000, kMicrosecond)};
    Rig rig(given);
    FlowSpec spec;
    spec.src = 0;
    spec.dst = 4;
    spec.size = 1000;
    const auto open = [&](auto&& change) {
        FlowSpec wrong = spec;
        change(wrong);
        rig.store.open_flow(rig.world, wrong, 0);
    };
    CHECK_THROWS_AS(open([](FlowSpec& s) { s.dst = 0; }), ConfigError);
    CHECK_THROWS_AS(open([](FlowSpec& s) { s.dst = 9; }), ConfigError);  // a switch
    CHECK_THROWS_AS(open([](FlowSpec& s) { s.src = 1000; }), ConfigError);
    CHECK_THROWS_AS(open([](FlowSpec& s) { s.size = 0; }), ConfigError);
    CHECK_THROWS_AS(open([](FlowSpec& s) { s.priority = 0; }), ConfigError);
    CHECK(rig.world.host[0].timers.count == 0);
    open([](FlowSpec&) {});
    CHECK(rig.world.host[0].timers.count == 1);
}

TEST_CASE("unit.world.flows.one_in_some_packets_has_an_int_slot_where_many_are_in_flight") {
    // 100 Gb/s and round trips of 4 us, 4 ms and 40 ms: 50, 50,000 and 500,000 packets.
    for (const auto& [delay, shift] : {std::pair{kMicrosecond, 0U}, std::pair{kMillisecond, 1U},
                                       std::pair{10 * kMillisecond, 4U}}) {
        Case given;
        given.topology =
            with_links(build_star({4, {}}), [&, delay = delay](Link& link) { link.delay = delay; });
        given.config = config_for(congestion::Law::hpcc);
        given.config.buffer.size = Bytes{std::int64_t{1} << 33};
        given.flows = {flow(0, 1, 1'000'000, 0)};
        Routing routing(given.topology);
        step::WorldStore store(given.topology, routing, given.config, given.flows, given.paths,
                               nullptr);
        CHECK(store.world().int_shift == shift);
        CHECK(store.world().int_block <= 0x8000);
    }
}
