// SPDX-License-Identifier: Apache-2.0
/// Loss and failure: go-back-N, time-outs, rerouting, and timers that outlive their flow.
#include "tests/support/step_random.h"

using namespace sluice;
using namespace sluice::test;

namespace {

bool all_finished(const Outcome& outcome) {
    return std::all_of(outcome.flows.begin(), outcome.flows.end(),
                       [](const FlowResult& result) { return result.finish != kNever; });
}

}  // namespace

TEST_CASE("unit.step.recovery.one_percent_loss_under_every_law") {
    for (const congestion::Law law : kAllLaws) {
        for (const bool back_to_zero : {false, true}) {
            if (back_to_zero && law == congestion::Law::swift) {
                continue;  // its window may become less than a chunk: refused
            }
            LeafSpineParams params;
            params.leaves = 2;
            params.spines = 2;
            params.hosts_per_leaf = 3;
            params.host_cable.loss = 0.01;
            params.fabric_cable.loss = 0.01;
            Case given;
            given.topology = build_leaf_spine(params);
            given.config = config_for(law);
            given.config.nic.retransmit_timeout = 100 * kMicrosecond;
            given.config.nic.back_to_zero = back_to_zero;
            for (NodeId src = 0; src < 6; ++src) {
                given.flows.push_back(flow(src, (src + 3) % 6, 200'000, src * kMicrosecond));
                given.flows.push_back(flow(src, (src + 2) % 6, 1, src * kMicrosecond));
            }
            assign_source_ports(given.flows);
            given.stop = 200 * kMillisecond;
            INFO(std::string(congestion::law_name(law)));
            const Outcome outcome = run_windows(given);
            CHECK(all_finished(outcome));
            CHECK(outcome.counters.drops > 0);
            CHECK(outcome.counters.retransmitted_bytes > 0);
        }
    }
}

TEST_CASE("unit.step.recovery.coalesced_acks_survive_loss") {
    DumbbellParams params;
    params.bottleneck.loss = 0.02;
    Case given;
    given.topology = build_dumbbell(params);
    given.config = config_for(congestion::Law::dctcp);
    given.config.nic.ack_every = 16;
    given.config.nic.ack_chunk = 0;
    given.config.nic.retransmit_timeout = 100 * kMicrosecond;
    given.flows = {flow(0, 2, 300'000, 0), flow(1, 3, 7'777, 0)};
    given.stop = 100 * kMillisecond;
    CHECK(all_finished(run_windows(given)));
}

TEST_CASE("unit.step.recovery.failed_link_is_routed_around") {
    LeafSpineParams params;
    params.leaves = 2;
    params.spines = 2;
    params.hosts_per_leaf = 2;
    Case given;
    given.topology = build_leaf_spine(params);
    given.config = config_for(congestion::Law::hpcc);
    given.config.nic.retransmit_timeout = 200 * kMicrosecond;
    for (NodeId src = 0; src < 2; ++src) {
        given.flows.push_back(flow(src, src + 2, 2'000'000, 0));
    }
    assign_source_ports(given.flows);
    given.stop = 20 * kMillisecond;
    const Outcome whole = run_windows(given);
    // The leaf's uplink that flow 0 uses fails for good after a quarter of the transfer.
    const Routing routing(given.topology);
    const FlowSpec& spec = given.flows[0];
    const PortId uplink = routing.path(data_key(spec))[1];
    const LinkId failed = given.topology.link_of(uplink);
    given.events = {{50 * kMicrosecond, failed, false}};
    const Outcome rerouted = run_windows(given);
    CHECK(all_finished(rerouted));
    CHECK(rerouted.counters.drops > 0);
    CHECK(rerouted.flows[0].finish > whole.flows[0].finish);
    // Nothing left by the failed uplink after the failure: at most 50 us worth of it.
    CHECK(rerouted.ports[uplink].tx_bytes * 80 <= 50 * kMicrosecond);
    CHECK(rerouted.ports[uplink].tx_bytes > 0);
}

TEST_CASE("unit.step.recovery.no_other_path_waits_for_repair") {
    StarParams star;
    star.hosts = 2;
    Case given;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::none);
    given.config.nic.retransmit_timeout = 300 * kMicrosecond;
    given.flows = {flow(0, 1, 1'000'000, 0)};
    given.events = {{20 * kMicrosecond, 1, false}, {kMillisecond, 1, true}};
    given.stop = 20 * kMillisecond;
    const Outcome outcome = run_windows(given);
    CHECK(all_finished(outcome));
    CHECK(outcome.flows[0].finish > kMillisecond);
    // The next time-out after the repair starts the flow again: 300 us, then 1 MB in 84 us.
    CHECK(outcome.flows[0].finish < kMillisecond + 300 * kMicrosecond + 200 * kMicrosecond);
    // Without a time-out nobody asks again.
    given.config.nic.retransmit_timeout = 0;
    CHECK_FALSE(all_finished(run_windows(given)));
}

/// Sums over the ports, which are all that was lost.
DropCauses causes_of(const Outcome& outcome) {
    DropCauses sum;
    for (const PortStatistics& port : outcome.ports) {
        sum.no_room += port.drops_by.no_room;
        sum.no_way += port.drops_by.no_way;
        sum.link_down += port.drops_by.link_down;
        sum.cable += port.drops_by.cable;
    }
    const std::int64_t all = sum.no_room + sum.no_way + sum.link_down + sum.cable;
    CHECK(all == static_cast<std::int64_t>(outcome.counters.drops));
    return sum;
}

TEST_CASE("unit.step.recovery.drops_are_counted_by_cause") {
    StarParams star;
    star.hosts = 3;
    star.host_cable.delay = kMicrosecond;
    Case given;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::none);
    given.config.nic.retransmit_timeout = 300 * kMicrosecond;
    given.flows = {flow(0, 2, 1'000'000, 0)};
    given.stop = 20 * kMillisecond;
    for (const Arithmetic arithmetic : {Arithmetic::exact, Arithmetic::ns3}) {
        given.config.arithmetic = arithmetic;
        const auto run = [&] {
            return causes_of(arithmetic == Arithmetic::ns3 ? run_ns3(given) : run_windows(given));
        };
        // The sender goes on for as long as no ACK is missed, towards a host that nothing leads to.
        given.events = {{20 * kMicrosecond, 2, false}, {kMillisecond, 2, true}};
        const DropCauses failed = run();
        CHECK(failed.no_way > 0);
        CHECK(failed.link_down > 0);
        CHECK(failed.no_room + failed.cable == 0);
        given.events.clear();
        given.topology = with_links(build_star(star), [](Link& link) { link.loss = 0.01; });
        const DropCauses lossy = run();
        CHECK(lossy.cable > 0);
        CHECK(lossy.no_room + lossy.no_way + lossy.link_down == 0);
        given.topology = build_star(star);
        given.config.pfc = false;
        given.config.buffer.size = Bytes{64 * 1024};
        given.flows.push_back(flow(1, 2, 1'000'000, 0));
        assign_source_ports(given.flows);
        const DropCauses small = run();
        CHECK(small.no_room > 0);
        CHECK(small.cable + small.no_way + small.link_down == 0);
        given.config.pfc = true;
        given.flows.pop_back();
    }
}

TEST_CASE("unit.step.recovery.bytes_after_a_time_out_are_counted_apart") {
    StarParams star;
    star.hosts = 2;
    star.host_cable.delay = 100 * kMicrosecond;
    Case given;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::none);
    given.config.nic.retransmit_timeout = 300 * kMicrosecond;  // the round trip is 400 us
    given.flows = {flow(0, 1, 1'000'000, 0)};
    given.stop = 100 * kMillisecond;
    for (const bool ns3 : {false, true}) {
        given.config.arithmetic = ns3 ? Arithmetic::ns3 : Arithmetic::exact;
        given.config.nic.retransmit_timeout = 300 * kMicrosecond;
        const Outcome early = ns3 ? run_ns3(given) : run_windows(given);
        CHECK(all_finished(early));
        CHECK(early.counters.drops == 0);
        CHECK(early.counters.resent_late_bytes > 0);
        CHECK(early.counters.resent_late_bytes == early.counters.retransmitted_bytes);
        CHECK(early.flows[0].resent_late == early.flows[0].retransmitted);
        given.topology = with_links(build_star(star), [](Link& link) { link.loss = 0.01; });
        given.config.nic.retransmit_timeout = 90 * kMillisecond;
        const Outcome lossy = ns3 ? run_ns3(given) : run_windows(given);
        CHECK(lossy.counters.retransmitted_bytes > lossy.counters.resent_late_bytes);
        given.topology = build_star(star);
    }
}

/// Two packets are under way that no ACK will answer when the window shrinks below them.
TEST_CASE("unit.step.recovery.a_window_that_shrinks_asks_for_an_ack") {
    StarParams star;
    star.hosts = 33;
    Case given;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::hpcc);
    given.config.nic.retransmit_timeout = 100 * kMillisecond;
    given.stop = kSecond;
    for (NodeId src = 0; src < 32; ++src) {
        given.flows.push_back(flow(src, 32, 300'000, 0));
    }
    assign_source_ports(given.flows);
    for (const int chunk : {0, 4}) {
        for (const int every : {2, 4, 16}) {
            given.config.nic.ack_every = every;
            given.config.nic.ack_chunk = chunk;
            const Outcome outcome = run_windows(given);
            CHECK(all_finished(outcome));
            CHECK(outcome.counters.retransmitted_bytes == 0);
            for (const FlowResult& result : outcome.flows) {
                CHECK(result.finish < 10 * kMillisecond);  // 9.6 MB take 0.8 ms
            }
        }
    }
}

TEST_CASE("unit.step.recovery.host_link_failure_and_repair") {
    // The source's own cable: its queue pair can send nothing, then everything.
    StarParams star;
    star.hosts = 2;
    Case given;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::dcqcn);
    given.config.nic.retransmit_timeout = 300 * kMicrosecond;
    given.flows = {flow(0, 1, 1'000'000, 0)};
    given.events = {{20 * kMicrosecond, 0, false}, {kMillisecond, 0, true}};
    given.stop = 20 * kMillisecond;
    const Outcome outcome = run_windows(given);
    CHECK(all_finished(outcome));
    CHECK(outcome.flows[0].finish > kMillisecond);
}

/// Packets of one host wait for a slow port, in the headroom of a port whose pause has ended with its link, while
/// the pool is free again: the next packet from there pauses it, whatever a window leaves out.
TEST_CASE("unit.step.recovery.headroom_outlives_a_failed_link") {
    Case given;
    given.topology = with_links(build_star({4, {}}), [](Link& link) {
        const int gigabits[] = {100, 100, 2, 40};
        link.rate = gigabits_per_second(gigabits[std::min(link.a, link.b)]);
        link.delay = kMicrosecond;
    });
    given.config = config_for(congestion::Law::none);
    given.config.pfc = true;
    given.config.buffer.alpha_shift = 0;
    given.config.buffer.size = Bytes{101'165 + pfc_share(given.topology, given.config)};
    given.config.nic.retransmit_timeout = 400 * kMicrosecond;
    given.stop = 2 * kMillisecond;
    std::uint64_t most = 0;
    for (Tick at = 25; at < 65; at += 5) {
        for (Tick start = 1; start < 30; start += 4) {
            given.flows = {flow(0, 2, 100'000, start * kMicrosecond),
                           flow(1, 3, 173'567, kMicrosecond)};
            assign_source_ports(given.flows);
            given.events = {{at * kMicrosecond, 0, false},
                            {at * kMicrosecond + 500 * kNanosecond, 0, true}};
            INFO("down at " << at << " us, start " << start << " us");
            const Outcome ordered = run_oracle(given);
            check_same(ordered, run_windows(given));
            most = std::max(most, ordered.counters.pfc_pauses);
        }
    }
    CHECK(most > 1);
}

TEST_CASE("unit.step.recovery.time_out_of_a_finished_flow_disturbs_nobody") {
    // Short flows of host 0 end at once and leave their time-outs in its heap, while a long one
    // keeps it busy. Host 1's flow takes over one of their queue pairs and is under way when the
    // time-outs come up. It shares no cable with host 0 and must not notice.
    StarParams star;
    star.hosts = 4;
    for (Tick shift = 0; shift < 12; ++shift) {
        Case alone;
        alone.topology = build_star(star);
        alone.config = config_for(congestion::Law::none);
        alone.config.congestion.window = false;  // a departure every frame time
        alone.config.nic.ack_every = 64;         // few ACKs put a port's next departure right
        alone.config.nic.retransmit_timeout = 100 * kMicrosecond;
        alone.flows = {flow(1, 3, 1'500'000, 20 * kMicrosecond + shift * 7 * kNanosecond)};
        const Outcome expected = run_windows(alone);
        Case together = alone;
        together.flows.push_back(flow(0, 2, 1'500'000, 0));
        for (Tick f = 0; f < 8; ++f) {
            together.flows.push_back(flow(0, 2, 500, f * kMicrosecond + 333 * kNanosecond));
        }
        assign_source_ports(together.flows);
        CAPTURE(shift);
        const Outcome outcome = run_windows(together);
        CHECK(outcome.flows[0].received == expected.flows[0].received);
        CHECK(outcome.flows[0].finish == expected.flows[0].finish);
        check_same(outcome, run_oracle(together));
        check_same(outcome, run_reversed(together));
    }
}
