// SPDX-License-Identifier: Apache-2.0
/// One flow alone in the network, in exact arithmetic: its completion time equals, to the
/// picosecond, the closed form of a store-and-forward pipeline.
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Tick wire(std::int64_t bytes, Rate rate) {
    return serialization_time(bytes, rate, Arithmetic::exact);
}

/// A chain host - switch - ... - switch - host with the given rates and delays.
Topology chain(const std::vector<Link>& links) {
    Topology topology;
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::host);
    NodeId from = 0;
    for (std::size_t i = 0; i < links.size(); ++i) {
        const NodeId to = i + 1 == links.size() ? 1 : topology.add_node(NodeKind::ethernet);
        topology.add_link({from, to, links[i].rate, links[i].delay, 0});
        from = to;
    }
    topology.finish();
    return topology;
}

Case lone(const std::vector<Link>& links, std::int64_t size, bool window) {
    Case given;
    given.topology = chain(links);
    given.config = config_for(congestion::Law::none);
    given.config.congestion.window = window;
    given.flows = {flow(0, 1, size, 7 * kMicrosecond)};
    return given;
}

/// Completion time by following every packet and its ACK through the pipeline: a packet leaves a
/// port when it is there and the one before it has left; packet i leaves the source when fewer than
/// `window` bytes are unacknowledged.
Tick pipeline(const std::vector<Link>& links, std::int64_t size, const NetworkConfig& config,
              std::int64_t window) {
    const std::int64_t payload = config.format.payload;
    const std::int64_t header = config.format.header + config.format.extra_header;
    const std::int64_t packets = (size + payload - 1) / payload;
    std::vector<Tick> free(links.size(), 0);
    std::vector<Tick> free_back(links.size(), 0);
    std::vector<Tick> acked;
    for (std::int64_t i = 0; i < packets; ++i) {
        Tick at = 0;
        const std::int64_t in_flight = window > 0 ? (window + payload - 1) / payload : packets;
        if (i >= in_flight) {
            at = acked[static_cast<std::size_t>(i - in_flight)];
        }
        const std::int64_t bytes = header + std::min(payload, size - i * payload);
        for (std::size_t h = 0; h < links.size(); ++h) {
            at = std::max(at, free[h]) + wire(bytes, links[h].rate);
            free[h] = at;
            at += links[h].delay;
        }
        for (std::size_t h = links.size(); h-- > 0;) {
            at = std::max(at, free_back[h]) + wire(config.format.ack, links[h].rate);
            free_back[h] = at;
            at += links[h].delay;
        }
        acked.push_back(at);
    }
    return acked.back();
}

Link cable(std::int64_t gigabits, Tick delay) {
    Link link;
    link.rate = gigabits_per_second(gigabits);
    link.delay = delay;
    return link;
}

}  // namespace

TEST_CASE("unit.step.lone_flow.one_packet") {
    // Three cables of 100 Gb/s and 1 us: 48 + 1 bytes there, 60 bytes back, each stored thrice.
    const std::vector<Link> links(3, cable(100, kMicrosecond));
    const Outcome outcome = run_windows(lone(links, 1, false));
    CHECK(outcome.flows[0].received - outcome.flows[0].start == 3 * (49 * 80 + kMicrosecond));
    CHECK(outcome.flows[0].finish - outcome.flows[0].start ==
          3 * (49 * 80 + kMicrosecond) + 3 * (60 * 80 + kMicrosecond));
}

TEST_CASE("unit.step.lone_flow.many_packets_without_window") {
    // FCT = delays both ways + (n - 1) d + cables x (d + a), d and a the times of a full frame
    // and of an ACK: 6 us + 999 x 83.84 ns + 3 x (83.84 + 4.8) ns.
    const std::vector<Link> links(3, cable(100, kMicrosecond));
    const Outcome outcome = run_windows(lone(links, 1'000'000, false));
    CHECK(outcome.flows[0].finish - outcome.flows[0].start ==
          6 * kMicrosecond + 999 * Tick{83'840} + 3 * Tick{83'840 + 4'800});
}

TEST_CASE("unit.step.lone_flow.mixed_rates_with_and_without_window") {
    Dice dice(1);
    const std::int64_t rates[] = {25, 40, 100, 200, 400};
    for (int round = 0; round < 60; ++round) {
        std::vector<Link> links;
        const std::uint32_t count = 2 + dice.below(4);
        for (std::uint32_t i = 0; i < count; ++i) {
            links.push_back(cable(dice.pick(rates), (100 + dice.below(5000)) * kNanosecond));
        }
        const std::int64_t size = dice.size(6.0);
        for (const bool window : {false, true}) {
            const Case given = lone(links, size, window);
            const Rig rig(given);
            const std::int64_t bound = window ? rig.world.max_window : 0;
            CAPTURE(round);
            CAPTURE(window);
            const Outcome outcome = run_windows(given);
            CHECK(outcome.flows[0].finish - outcome.flows[0].start ==
                  pipeline(links, size, given.config, bound));
            CHECK(outcome.counters.retransmitted_bytes == 0);
        }
    }
}

TEST_CASE("unit.step.lone_flow.congestion_laws_keep_line_rate") {
    // Alone at line rate nothing is marked, no queue builds and no round trip grows, so DCQCN,
    // DCTCP and TIMELY send as `none` does. (HPCC aims at 95% and is no such case.)
    const std::vector<Link> links(3, cable(100, kMicrosecond));
    for (const congestion::Law law :
         {congestion::Law::dcqcn, congestion::Law::dctcp, congestion::Law::timely}) {
        Case given = lone(links, 1'000'000, false);
        given.config = config_for(law);
        given.config.congestion.window = false;
        INFO(std::string(congestion::law_name(law)));
        const Outcome outcome = run_windows(given);
        CHECK(outcome.flows[0].finish - outcome.flows[0].start ==
              pipeline(links, 1'000'000, given.config, 0));
        CHECK(outcome.counters.ecn_marks == 0);
    }
}
