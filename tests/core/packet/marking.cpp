// SPDX-License-Identifier: Apache-2.0
/// What a switch writes into packets: ECN marks on the line from kmin to kmax, INT records.
#include <cmath>

#include "core/congestion/int_record.h"
#include "tests/support/star_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// `senders` hosts keep one window each in flight towards the last host of a star.
Case standing_queue(std::int64_t senders, std::int64_t size) {
    Case given;
    StarParams star;
    star.hosts = senders + 1;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::none);
    given.config.queues.ack_strict_in_switch = true;
    for (NodeId src = 0; src < static_cast<NodeId>(senders); ++src) {
        given.flows.push_back(flow(src, static_cast<NodeId>(senders), size, 0));
    }
    assign_source_ports(given.flows);
    return given;
}

PortId sink_port(const Case& given) {
    const NodeId sink = given.topology.hosts().back();
    return given.topology.peer_of(given.topology.first_port(sink));
}

}  // namespace

TEST_CASE("unit.step.marking.ecn_frequency_follows_the_line") {
    // 20,000 draws at each depth; the standard deviation is at most 0.5 / sqrt(20000) = 0.0035.
    Case given = standing_queue(2, 1000);
    given.config.ecn.points = {
        EcnPoint{gigabits_per_second(100), Bytes{10'000}, Bytes{50'000}, 0.4}};
    Rig rig(given);
    const PortId port = sink_port(given);
    step::Egress& egress = rig.world.egress[port];
    for (const std::uint32_t depth : {10'001U, 20'000U, 30'000U, 40'000U, 50'000U}) {
        egress.class_bytes[3] = depth;
        int marks = 0;
        for (int draw = 0; draw < 20'000; ++draw) {
            marks +=
                step::RedMarking::marks(rig.world, port, egress, egress.class_bytes[3]) ? 1 : 0;
        }
        const double expected = 0.4 * (depth - 10'000.0) / 40'000.0;
        CAPTURE(depth);
        CHECK(std::abs(marks / 20'000.0 - expected) < 4 * 0.0035);
    }
    egress.class_bytes[3] = 50'001;
    for (int draw = 0; draw < 1000; ++draw) {
        CHECK(step::RedMarking::marks(rig.world, port, egress, egress.class_bytes[3]));
    }
    egress.class_bytes[3] = 0;
}

TEST_CASE("unit.step.marking.standing_queue_is_marked_at_its_depth") {
    // Four windows in flight, one of them on the wires: a standing queue of three windows.
    Case given = standing_queue(4, 4'000'000);
    Rig probe(given);
    const std::int64_t window = probe.world.max_window;
    given.config.ecn.points = {
        EcnPoint{gigabits_per_second(100), Bytes{window}, Bytes{window * 6}, 0.5}};
    Rig rig(given);
    const PortId port = sink_port(given);
    RunHooks hooks;
    double depth = 0;
    std::int64_t samples = 0;
    std::int64_t marks_before = 0;
    std::int64_t packets_before = 0;
    hooks.sample_from = 100 * kMicrosecond;
    hooks.sample_every = 1048 * 80;
    hooks.sample_to = 1100 * kMicrosecond;
    hooks.on_sample = [&](Tick, const std::vector<std::int64_t>& queue_bytes) {
        REQUIRE(queue_bytes.size() == given.topology.port_count());
        CHECK(queue_bytes[port] == rig.world.egress[port].queued_bytes);
        if (samples == 0) {
            marks_before = rig.world.egress[port].ecn_marks;
            packets_before = rig.world.egress[port].tx_packets;
        }
        ++samples;
        depth += rig.world.egress[port].class_bytes[3];
    };
    engine::Driver driver(rig.store, {}, hooks);
    driver.advance(1100 * kMicrosecond, rig);
    depth /= static_cast<double>(samples);
    const auto packets = static_cast<double>(rig.world.egress[port].tx_packets - packets_before);
    const auto marks = static_cast<double>(rig.world.egress[port].ecn_marks - marks_before);
    CHECK(packets > 10'000);
    const double expected =
        0.5 * (depth - static_cast<double>(window)) / (static_cast<double>(window) * 5);
    // Four standard deviations of about 12,000 draws, and one packet of depth.
    CHECK(std::abs(marks / packets - expected) < 4 * 0.0046 + 0.5 * 1048 / (5.0 * window));
    CHECK(expected > 0.1);
}

TEST_CASE("unit.step.marking.none_below_kmin_all_above_kmax") {
    Case given = standing_queue(4, 1'000'000);
    const PortId port = sink_port(given);
    given.config.ecn.points = {
        EcnPoint{gigabits_per_second(100), Bytes{100'000'000}, Bytes{200'000'000}, 1.0}};
    CHECK(run_windows(given).counters.ecn_marks == 0);
    given.config.ecn.points = {EcnPoint{gigabits_per_second(100), Bytes{0}, Bytes{0}, 0.0}};
    const Outcome marked = run_windows(given);
    // Marked unless nothing remained behind it in the queue: the first packet and the last, and
    // those that met an empty queue before the four windows had met.
    CHECK(marked.ports[port].ecn_marks > marked.ports[port].tx_packets - 100);
    CHECK(marked.ports[port].ecn_marks < marked.ports[port].tx_packets);
    given.config.ecn.enabled = false;
    CHECK(run_windows(given).counters.ecn_marks == 0);
}

TEST_CASE("unit.step.marking.int_records_of_two_packets") {
    // Hosts 0 and 1 send one packet of 1000 bytes each to host 2 at the same instant. Both are at
    // the switch after 1090 x 80 ps + 1 us = 1,087,200 ps. Port 0's goes first and leaves the other
    // in the queue; the other goes when the first has left, 87,200 ps later.
    Case given;
    StarParams star;
    star.hosts = 3;
    given.topology = build_star(star);
    given.config = config_for(congestion::Law::hpcc);
    given.flows = {flow(0, 2, 1000, 0), flow(1, 2, 1000, 0)};
    Rig rig(given);
    engine::Driver driver(rig.store, {}, {});
    driver.advance(1'500 * kNanosecond, rig);
    const auto record = [&](FlowId f) {
        const congestion::IntRecord* slot = step::int_slot(rig.world, rig.world.route[f], 0);
        CHECK(slot[0] == step::int_tag(f, 0));
        return slot[1];
    };
    const congestion::IntRecord first = record(0);
    const congestion::IntRecord second = record(1);
    const auto time = [](congestion::IntRecord r) {
        return r >> congestion::kIntTimeShift & congestion::kIntTimeMask;
    };
    const auto bytes = [](congestion::IntRecord r) {
        return r >> congestion::kIntBytesShift & congestion::kIntBytesMask;
    };
    CHECK(time(first) == 1087);
    CHECK(time(second) == 1174);
    // Units of 4 x 128 and 4 x 80 bytes, without the packet that carries the record.
    CHECK(bytes(first) == 0);
    CHECK(bytes(second) == 1090 / 512);
    CHECK(congestion::int_queue_bytes(first, 4) == 1090 / 320 * 320);
    CHECK(congestion::int_queue_bytes(second, 4) == 0);
    const int rate = congestion::int_rate_index(first);
    CHECK(rig.world.int_rates.bits_per_second[rate] == 100'000'000'000);
    // The packets on their last cable say that one record was written.
    step::Wire& link = rig.world.link[given.topology.first_port(2)];
    CHECK(link.size() == 2);
    CHECK(+link.front().int_hops == 1);
}

TEST_CASE("unit.step.marking.marked_packets_may_be_answered_at_once") {
    // Two senders at one port, where every packet that leaves others behind is marked. An ACK for eight packets, or for each
    // marked one.
    Case given = incast(congestion::Law::dcqcn, 2, 400'000);
    given.config.ecn.points = {{gigabits_per_second(100), Bytes{0}, Bytes{0}, 1.0}};
    given.config.nic.ack_every = 8;
    given.config.nic.ack_chunk = 0;
    given.stop = kSecond;
    for (const Transport transport : {Transport::go_back_n, Transport::selective_repeat}) {
        given.config.nic.transport = transport;
        const auto acks = [&](bool at_once) {
            given.config.nic.ack_early = at_once;
            Rig rig(given);
            engine::Driver driver(rig.store, {}, {});
            driver.advance(given.stop, rig);
            const std::vector<PortStatistics> ports = rig.store.port_statistics(given.stop);
            const PortStatistics& receiver = ports[given.topology.first_port(2)];
            const PortStatistics& marking =
                ports[given.topology.peer_of(given.topology.first_port(2))];
            return std::make_pair(receiver.tx_packets, marking.ecn_marks);
        };
        const auto [few, marks] = acks(false);
        CHECK(marks > 200);
        CHECK(few < marks / 2);
        const auto [many, marked] = acks(true);
        CHECK(many >= marked);
        CHECK(many <= 800);
    }
}
