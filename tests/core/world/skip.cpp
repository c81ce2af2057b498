// SPDX-License-Identifier: Apache-2.0
/// Skipping as such: a network whose instants are all moved by dt goes on exactly as it would have,
/// dt later; moved forth and back it goes on as if nothing had happened; a flow that is shortened
/// sends exactly so many packets fewer.
#include "core/world/skip.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// Moves the whole network.
void shift_all(step::World& world, const Topology& topology, Tick dt) {
    for (PortId p = 0; p < topology.port_count(); ++p) {
        step::shift_port(world, p, dt);
    }
    for (NodeId n = 0; n < topology.node_count(); ++n) {
        const PlainVector<step::Sender>& senders = world.host[n].senders;
        for (std::uint32_t i = 0; i < senders.count; ++i) {
            if (senders[i].flow != kNone) {
                step::shift_flow(world, senders[i].flow, dt);
            }
        }
        step::shift_host(world, n, dt);
        step::refresh_wake(world, n);
    }
}

/// Runs a case with `at_cut(rig, now)` every 7 us.
template <class AtCut>
Outcome run_with_cuts(const Case& given, AtCut&& at_cut) {
    Rig rig(given);
    RunHooks hooks;
    hooks.sample_every = 7 * kMicrosecond;
    hooks.sample_from = hooks.sample_every;
    hooks.sample_to = given.stop;
    hooks.on_sample = [&](Tick now, const auto&) { at_cut(rig, now); };
    engine::Driver driver(rig.store, given.events, std::move(hooks));
    driver.advance(given.stop, rig);
    return outcome_of(rig.store, end_of(given));
}

}  // namespace

TEST_CASE("unit.step.skip.forth_and_back_changes_nothing") {
    std::uint64_t hops = 0;
    for (std::uint64_t seed = 9000; seed < 9060; ++seed) {
        const Case given = random_case(seed);
        INFO(given.name);
        Dice dice(seed);
        const Outcome moved = run_with_cuts(given, [&](Rig& rig, Tick) {
            const Tick dt = dice.below(1'000'000);
            shift_all(rig.world, given.topology, dt);
            shift_all(rig.world, given.topology, -dt);
        });
        check_same(run_windows(given), moved);
        hops += moved.counters.packet_hops;
    }
    CHECK(hops > 100'000);
}

TEST_CASE("unit.step.skip.everything_moved_goes_on_later") {
    int complete = 0;
    // Flows that all start at once, so that nothing but the network itself is moved.
    for (std::uint64_t seed = 9100; seed < 9130; ++seed) {
        Case given = random_case(seed);
        INFO(given.name);
        given.events.clear();
        given.stop = 20 * kMillisecond;
        for (FlowSpec& spec : given.flows) {
            spec.start = 0;
        }
        const Outcome plain = run_windows(given);
        const Tick dt = 12'345 * kNanosecond;
        const Tick at = 21 * kMicrosecond;
        const Outcome moved = run_with_cuts(given, [&](Rig& rig, Tick now) {
            if (now == at) {
                shift_all(rig.world, given.topology, dt);
            }
        });
        const auto open = [](const Outcome& outcome) {
            return std::any_of(outcome.flows.begin(), outcome.flows.end(),
                               [](const FlowResult& flow) { return flow.finish == kNever; });
        };
        if (!open(plain) && !open(moved)) {
            ++complete;
            CHECK(plain.counters.packet_hops == moved.counters.packet_hops);
            CHECK(plain.counters.drops == moved.counters.drops);
        }
        for (std::size_t f = 0; f < given.flows.size(); ++f) {
            const FlowResult& a = plain.flows[f];
            const FlowResult& b = moved.flows[f];
            if (a.finish == kNever || b.finish == kNever) {
                continue;
            }
            CHECK(b.received == a.received + (a.received < at ? 0 : dt));
            CHECK(b.finish == a.finish + (a.finish < at ? 0 : dt));
            CHECK(a.retransmitted == b.retransmitted);
        }
    }
    CHECK(complete > 15);
}

TEST_CASE("unit.step.skip.a_shortened_flow_sends_so_much_less") {
    Case given;
    given.topology = build_dumbbell({});
    given.config = config_for(congestion::Law::hpcc);
    given.flows = {flow(0, 2, 2'000'500, 0), flow(1, 3, 1'500'000, 0)};
    given.stop = 5 * kMillisecond;
    const Outcome plain = run_windows(given);
    const Outcome shorter = run_with_cuts(given, [&](Rig& rig, Tick now) {
        if (now == 35 * kMicrosecond) {
            CHECK(step::unsent_packets(rig.world, 0) > 500);
            step::shorten_flow(rig.world, 0, 700);
            step::shorten_flow(rig.world, 0, -200);
        }
    });
    CHECK(plain.counters.packet_hops - shorter.counters.packet_hops == 500 * 2 * 3);
    CHECK(shorter.flows[0].finish < plain.flows[0].finish);
    CHECK(shorter.flows[0].retransmitted == 0);
    CHECK(shorter.ports[given.topology.first_port(0)].tx_bytes ==
          plain.ports[given.topology.first_port(0)].tx_bytes - 500 * 1090);
}

TEST_CASE("unit.step.skip.acks_are_as_many_as_a_receiver_sends") {
    Case given;
    given.topology = build_dumbbell({});
    given.stop = 5 * kMillisecond;
    const int hops = 3;
    for (const auto& [every, chunk] :
         {std::pair{1, 4}, {2, 4}, {3, 4}, {4, 4}, {6, 4}, {3, 10}, {16, 40}, {5, 0}, {8, 1}}) {
        for (const int packets : {1, 2, 7, 8, 40, 59}) {
            INFO("every " << every << ", chunk " << chunk << ", " << packets << " packets");
            given.config = config_for(congestion::Law::none);
            given.config.nic.ack_every = every;
            given.config.nic.ack_chunk = chunk;
            given.flows = {flow(0, 2, packets * 1000, 0)};
            const auto executed =
                static_cast<std::int64_t>(run_windows(given).counters.packet_hops);
            const step::AckPace pace = step::ack_pace(given.config.nic);
            CHECK(executed == hops * (packets + pace.of_whole(packets)));
            const bool unfinished = pace.of_first(packets) < pace.of_whole(packets);
            CHECK(pace.of_first(packets) + (unfinished ? 1 : 0) == pace.of_whole(packets));
            CHECK(pace.of(packets * pace.packets) == pace.of_whole(packets * pace.packets));
        }
    }
}
