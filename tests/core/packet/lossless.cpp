// SPDX-License-Identifier: Apache-2.0
/// With PFC and its default headroom nothing is lost, whatever the law and however hard the incast;
/// without spraying and loss no packet of a flow overtakes another. Both show in the same way: not
/// one byte is sent twice.
#include "tests/support/star_support.h"
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

void check_lossless(const Outcome& outcome) {
    CHECK(outcome.counters.drops == 0);
    CHECK(outcome.counters.retransmitted_bytes == 0);
    for (const FlowResult& result : outcome.flows) {
        CHECK(result.finish != kNever);
        CHECK(result.retransmitted == 0);
    }
}

/// An incast with little shared buffer.
Case small_buffer_incast(congestion::Law law, std::int64_t senders, std::int64_t size) {
    Case given = incast(law, senders, size);
    given.config.buffer.size = Bytes{pfc_share(given.topology, given.config) + 300'000};
    return given;
}

}  // namespace

TEST_CASE("unit.step.lossless.incast_under_every_law") {
    for (const congestion::Law law : kLaws) {
        const Outcome outcome = run_windows(small_buffer_incast(law, 16, 500'000));
        INFO(std::string(congestion::law_name(law)));
        check_lossless(outcome);
    }
}

TEST_CASE("unit.step.lossless.line_rate_incast_pauses") {
    // 15 of 16 arriving packets must wait, 7.5 MB in all, and the buffer holds 0.3 MB: without
    // window or law only PFC can hold the senders back.
    Case given = small_buffer_incast(congestion::Law::none, 16, 500'000);
    given.config.congestion.window = false;
    const Outcome outcome = run_windows(given);
    check_lossless(outcome);
    CHECK(outcome.counters.pfc_pauses > 0);
    // The sink's cable was busy from the first packet to the last: 16 x 500 packets of 1048 bytes
    // at 80 ps a byte, one host cable before it, and two delays.
    Tick last = 0;
    for (const FlowResult& result : outcome.flows) {
        last = std::max(last, result.received);
    }
    CHECK(last == Tick{16 * 500 * 1048 * 80} + 1048 * 80 + 2 * kMicrosecond);
}

TEST_CASE("unit.step.lossless.line_rate_incast_over_short_links") {
    // Three times rate x delay, the reference's headroom, does not cover the frames in the making
    // on such links; ours does.
    for (const std::int64_t gigabits : {25, 100, 400}) {
        for (const Tick delay : {Tick{0}, 100 * kNanosecond, 500 * kNanosecond}) {
            Case given;
            StarParams star;
            star.hosts = 9;
            star.host_cable.rate = gigabits_per_second(gigabits);
            star.host_cable.delay = delay;
            given.topology = build_star(star);
            given.config = config_for(congestion::Law::none, gigabits_per_second(gigabits));
            given.config.congestion.window = false;
            given.config.buffer.size = Bytes{pfc_share(given.topology, given.config) + 100'000};
            for (NodeId src = 0; src < 8; ++src) {
                given.flows.push_back(flow(src, 8, 200'000, 0));
            }
            const Outcome outcome = run_windows(given);
            INFO(gigabits, " Gb/s, ", delay, " ps");
            check_lossless(outcome);
            CHECK(outcome.counters.pfc_pauses > 0);
        }
    }
}

TEST_CASE("unit.step.lossless.others_lower_the_threshold") {
    // Slow cables between switches, and data both ways: each frame that one ingress takes of the pool lowers the
    // thresholds of the others, so that the frame at which one pauses may lie beyond it as a whole, and the pause
    // waits behind data.
    for (std::int64_t step = 5; step < 30; step += 4) {
        Case given;
        DragonflyParams dragonfly;
        dragonfly.groups = 4;
        dragonfly.hosts_per_router = 4;
        dragonfly.host_cable.delay = 500 * kNanosecond;
        dragonfly.local_cable = {gigabits_per_second(25), 500 * kNanosecond};
        dragonfly.global_cable = {gigabits_per_second(25), 500 * kNanosecond};
        given.topology = build_dragonfly(dragonfly);
        given.config = config_for(congestion::Law::none);
        given.config.buffer.size = Bytes{pfc_share(given.topology, given.config) + 75'000};
        for (std::int64_t src = 0; src < 64; ++src) {
            given.flows.push_back(flow(static_cast<NodeId>(src),
                                       static_cast<NodeId>((src + step) % 64), 3'000'000, 0));
        }
        assign_source_ports(given.flows);
        const Outcome outcome = run_windows(given);
        INFO(step);
        check_lossless(outcome);
        CHECK(outcome.counters.pfc_pauses > 0);
    }
}

TEST_CASE("unit.step.lossless.same_incast_without_pfc_drops") {
    Case given = small_buffer_incast(congestion::Law::none, 16, 500'000);
    given.config.congestion.window = false;
    given.config.pfc = false;
    given.config.buffer.size = Bytes{300'000};
    given.stop = 20 * kMillisecond;
    const Outcome outcome = run_windows(given);
    CHECK(outcome.counters.drops > 0);
    CHECK(outcome.counters.pfc_pauses == 0);
    CHECK(outcome.counters.retransmitted_bytes > 0);
}

TEST_CASE("unit.step.lossless.random_networks_without_reordering") {
    std::uint64_t pauses = 0;
    for (std::uint64_t seed = 900; seed < 940; ++seed) {
        RandomOptions options;
        options.lossless = true;
        Case given = random_case(seed, options);
        given.stop = 200 * kMillisecond;
        // A switch needs room for the default headroom: 3 x rate x delay covers two delays and the
        // frames under way only where a delay lasts longer than two full frames.
        given.config.nic.retransmit_timeout = 0;
        INFO(given.name);
        const Outcome outcome = run_windows(given);
        check_lossless(outcome);
        pauses += outcome.counters.pfc_pauses;
    }
    CHECK(pauses > 0);
}
