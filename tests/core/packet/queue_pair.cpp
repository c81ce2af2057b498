// SPDX-License-Identifier: Apache-2.0
/// Messages of one connection: one behind the other, on a queue pair whose state goes on.
#include "tests/support/step_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr Tick kFrame = 1048 * 80;  ///< 1000 bytes of payload, 48 of headers, at 100 Gb/s

void connect(std::vector<FlowSpec>& flows, ConnectionId connection = 0) {
    for (FlowSpec& spec : flows) {
        spec.connection = connection;
    }
    assign_source_ports(flows);
}

Case star_of(std::int64_t hosts, congestion::Law law) {
    Case given;
    StarParams star;
    star.hosts = hosts;
    given.topology = build_star(star);
    given.config = config_for(law);
    return given;
}

/// Every host but the last sends `sizes` bytes to the last one, all messages posted at the start: of
/// one connection per host, or, `whole`, as one message per host.
Case incast_of(congestion::Law law, const std::vector<std::vector<std::int64_t>>& sizes,
               bool whole) {
    const auto sink = static_cast<NodeId>(sizes.size());
    Case given = star_of(sink + 1, law);
    for (NodeId src = 0; src < sink; ++src) {
        std::int64_t sum = 0;
        for (const std::int64_t size : sizes[src]) {
            sum += size;
            if (whole) {
                continue;
            }
            given.flows.push_back(flow(src, sink, size, src * kMicrosecond));
            given.flows.back().connection = src;
        }
        if (whole) {
            given.flows.push_back(flow(src, sink, sum, src * kMicrosecond));
        }
    }
    assign_source_ports(given.flows);
    return given;
}

/// The last messages of each source.
std::vector<FlowResult> last_of(const Case& given, const Outcome& outcome) {
    std::vector<FlowResult> last(given.flows.back().dst);
    for (FlowId f = 0; f < given.flows.size(); ++f) {
        last[given.flows[f].src] = outcome.flows[f];
    }
    return last;
}

}  // namespace

TEST_CASE("unit.step.queue_pair.next_message_follows_the_last_byte") {
    Case given = star_of(2, congestion::Law::none);
    given.flows = {flow(0, 1, 500'000, 0), flow(0, 1, 3'000, 0), flow(0, 1, 200'000, 0)};
    connect(given.flows);
    const Outcome outcome = run_windows(given);
    CHECK(outcome.flows[0].start == 0);
    CHECK(outcome.flows[1].start == 500 * kFrame);
    CHECK(outcome.flows[2].start == 503 * kFrame);
    // No gap for an acknowledgement between them.
    CHECK(outcome.flows[1].received == outcome.flows[0].received + 3 * kFrame);
    CHECK(outcome.flows[2].received == outcome.flows[0].received + 203 * kFrame);
    CHECK(outcome.flows[1].start < outcome.flows[0].finish);

    // The exception: they share the NIC.
    for (FlowSpec& spec : given.flows) {
        spec.overlaps = true;
    }
    const Outcome beside = run_windows(given);
    CHECK(beside.flows[1].start == 0);
    CHECK(beside.flows[1].finish < outcome.flows[1].finish / 8);
    CHECK(beside.flows[0].finish > outcome.flows[0].finish + 200 * kFrame);
}

TEST_CASE("unit.step.queue_pair.order_is_that_of_starting") {
    Case given = star_of(3, congestion::Law::dctcp);
    given.flows = {flow(0, 1, 10'000, 3 * kMicrosecond), flow(0, 1, 100'000, 0),
                   flow(0, 2, 10'000, 2 * kMicrosecond), flow(0, 1, 10'000, 2 * kMicrosecond)};
    connect(given.flows);
    given.flows[2].connection = kNone;  // another destination waits for nobody
    const std::vector<FlowResult> flows = run_windows(given).flows;
    CHECK(flows[2].start == 2 * kMicrosecond);
    CHECK(flows[3].start > 100 * kFrame);
    CHECK(flows[0].start >= flows[3].start + 10 * kFrame);
}

TEST_CASE("unit.step.queue_pair.messages_are_one_stream_under_every_law") {
    // What a connection carries makes the packets of one long message, to the picosecond, however it
    // is cut: window, rate and the law's state go on from message to message.
    const std::vector<std::vector<std::int64_t>> sizes = {
        {400'000, 1'000, 99'000, 1'000'000, 500'000},
        {1'000'000, 1'000'000},
        {2'000, 3'000, 1'000, 694'000, 300'000, 1'000'000}};
    for (const congestion::Law law : kAllLaws) {
        INFO(std::string(congestion::law_name(law)));
        const Case parts = incast_of(law, sizes, false);
        const Case whole = incast_of(law, sizes, true);
        const Outcome cut = run_windows(parts);
        const Outcome uncut = run_windows(whole);
        const std::vector<FlowResult> last = last_of(parts, cut);
        for (NodeId src = 0; src < sizes.size(); ++src) {
            CHECK(last[src].received == uncut.flows[src].received);
            CHECK(last[src].finish == uncut.flows[src].finish);
        }
        CHECK(cut.counters.packet_hops == uncut.counters.packet_hops);
        CHECK(cut.counters.ecn_marks == uncut.counters.ecn_marks);
        for (PortId port = 0; port < cut.ports.size(); ++port) {
            CHECK(cut.ports[port].max_queue_bytes == uncut.ports[port].max_queue_bytes);
        }
    }
}

TEST_CASE("unit.step.queue_pair.an_idle_one_begins_anew") {
    for (const congestion::Law law : kAllLaws) {
        INFO(std::string(congestion::law_name(law)));
        Case given = star_of(3, law);
        // Two sources fill the sink's port; the second message of the first comes when all is over.
        given.flows = {flow(0, 2, 400'000, 0), flow(1, 2, 400'000, 0),
                       flow(0, 2, 400'000, kMillisecond)};
        given.flows[0].connection = given.flows[2].connection = 0;
        assign_source_ports(given.flows);
        const FlowResult after = run_windows(given).flows[2];
        given.flows = {flow(0, 2, 400'000, 0)};
        const FlowResult lone = run_windows(given).flows[0];
        CHECK(after.start == kMillisecond);
        const Tick off = after.finish - after.start - (lone.finish - lone.start);
        // INT counts bytes in units: where a port's count stands in one differs.
        CHECK(std::abs(off) <= (law == congestion::Law::hpcc ? kMicrosecond : 0));
    }
}

TEST_CASE("unit.step.queue_pair.messages_complete_in_order_at_their_sender") {
    // Sprayed ACKs overtake each other, and what is lost is sent again.
    Case given;
    given.topology = build_leaf_spine({2, 4, 2, 1, {}, {}});
    given.topology = with_links(given.topology, [](Link& link) {
        link.delay = (link.a % 5 + link.b % 3 + 1) * kMicrosecond;
        link.loss = 0.002;
    });
    given.config = config_for(congestion::Law::dcqcn);
    given.config.load_balance = LoadBalance::spray;
    given.config.nic.retransmit_timeout = 100 * kMicrosecond;
    for (int i = 0; i < 40; ++i) {
        given.flows.push_back(flow(0, 3, 2'000 + 1'000 * (i % 7), 0));
    }
    connect(given.flows);
    const Outcome outcome = run_windows(given);
    CHECK(outcome.counters.retransmitted_bytes > 0);
    for (FlowId f = 1; f < given.flows.size(); ++f) {
        CHECK(outcome.flows[f].finish != kNever);
        CHECK(outcome.flows[f].start > outcome.flows[f - 1].start);
        CHECK(outcome.flows[f].finish >= outcome.flows[f - 1].finish);
    }
}
