// SPDX-License-Identifier: Apache-2.0
/// The engine of Arithmetic::ns3 over random experiments: where a run is interrupted changes
/// nothing, bytes are conserved, no link carries more than it can, and what cannot keep ns-3's order
/// is refused. That the order is ns-3's is for ns3_references.cpp.
#include <set>

#include "core/engine/driver.h"
#include "core/ns3/driver.h"
#include "tests/support/error_of.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Case ns3_case(std::uint64_t seed) {
    RandomOptions options;
    options.ns3 = true;
    options.lossless = seed % 3 == 0;
    return random_case(seed, options);
}

/// Limits wherever the dice say, and samples.
Outcome run_in_pieces(const Case& given, std::uint64_t seed) {
    Dice dice(seed ^ 0x6e7333ULL);
    Rig rig(given);
    RunHooks hooks;
    hooks.on_sample = [](Tick, const auto&) {};
    hooks.sample_every = dice.size(5.0) * kNanosecond;
    hooks.sample_to = given.stop;
    ns3::Driver driver(rig.store, given.events, hooks);
    for (Tick now = 0; now < given.stop;) {
        now = std::min(given.stop, std::max(now + dice.size(7.0), driver.next()));
        driver.advance(now);
    }
    return outcome_of(rig.store, end_of(given));
}

/// Bytes of a flow that arrived are bytes that it has; a complete one arrived whole, after the time
/// that its bytes take on the slowest of its host's cables.
void check_flows(const Case& given, const Outcome& outcome) {
    for (FlowId flow = 0; flow < given.flows.size(); ++flow) {
        const FlowResult& result = outcome.flows[flow];
        if (result.finish == kNever) {
            continue;
        }
        CHECK(result.received != kNever);
        CHECK(result.received <= result.finish);
        CHECK(result.start < result.received);
    }
}

/// No port sends more than its rate allows; nanosecond arithmetic gives every frame up to 1 ns.
void check_capacity(const Case& given, const Outcome& outcome) {
    for (PortId p = 0; p < given.topology.port_count(); ++p) {
        const double bits = 8.0 * static_cast<double>(outcome.ports[p].tx_bytes);
        const double rate = static_cast<double>(given.topology.rate(p).bits_per_second);
        const double given_away = 1e-9 * static_cast<double>(outcome.ports[p].tx_packets);
        const double frame = 8.0 * 65536 / rate;
        CHECK(bits / rate <= static_cast<double>(given.stop) / kSecond + given_away + frame);
    }
}

}  // namespace

TEST_CASE("unit.ns3.driver.interruptions_change_nothing") {
    MechanismTally tally;
    std::set<congestion::Law> laws;
    for (std::uint64_t seed = 7000; seed < 7120; ++seed) {
        const Case given = ns3_case(seed);
        INFO(given.name);
        REQUIRE(given.config.arithmetic == Arithmetic::ns3);
        const Outcome whole = run_ns3(given);
        const Outcome pieces = run_in_pieces(given, seed);
        check_same(whole, pieces);
        CHECK(whole.counters.events == pieces.counters.events);
        check_flows(given, whole);
        check_capacity(given, whole);
        tally.add(whole.counters);
        laws.insert(given.config.congestion.law);
    }
    tally.check();
    CHECK(laws.size() == std::size(kLaws));
}

TEST_CASE("unit.ns3.driver.cases_without_a_drop_complete") {
    // With PFC, and no time-out. Short cables lose packets all the same: the headroom of that
    // simulator, 3 x rate x delay, does not hold what may still come.
    int lossless = 0;
    for (std::uint64_t seed = 7200; seed < 7230; ++seed) {
        RandomOptions options;
        options.ns3 = true;
        options.lossless = true;
        Case given = random_case(seed, options);
        given.config.nic.retransmit_timeout = 0;  // as in ns-3
        given.stop = kSecond;
        INFO(given.name);
        const Outcome outcome = run_ns3(given);
        if (outcome.counters.drops > 0) {
            continue;
        }
        ++lossless;
        for (const FlowResult& result : outcome.flows) {
            CHECK(result.finish != kNever);
        }
    }
    CHECK(lossless >= 20);
}

TEST_CASE("unit.ns3.driver.windows_are_refused") {
    const Case given = ns3_case(7000);
    Rig rig(given);
    CHECK_THROWS_AS(engine::Driver(rig.store, given.events, {}), InternalError);
}

TEST_CASE("unit.ns3.driver.starts_between_nanoseconds") {
    // 100 ps is read as the next whole nanosecond.
    Case given;
    given.topology = build_star({4, {}});
    given.config = config_for(congestion::Law::hpcc);
    given.config.arithmetic = Arithmetic::ns3;
    given.flows = {flow(0, 3, 400'000, 0), flow(0, 2, 400'000, 0), flow(0, 1, 400'000, 100)};
    given.stop = 10 * kMillisecond;
    const Outcome outcome = run_ns3(given);
    for (const FlowResult& result : outcome.flows) {
        CHECK(result.finish != kNever);
    }
    CHECK(outcome.flows[2].start == kNanosecond);
}
