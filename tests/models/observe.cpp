// SPDX-License-Identifier: Apache-2.0
/// Watched devices (models/observe/): what they do is what they would do anyway, and what is written of them is what
/// happened. Files are read by parsers of the test's own and, where they are installed, by tshark and vcdvcd.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "models/observe/link_capture.h"
#include "models/observe/port_waves.h"
#include "models/observe/watched_ports.h"
#include "tests/models/observe_files.h"
#include "tests/models/page_star.h"
#include "tests/support/test_folder.h"

namespace sluice::test {
namespace {

/// Three hosts send to the fourth, through a switch that marks, and pauses them.
struct Incast : Star {
    explicit Incast(congestion::Law law = congestion::Law::dcqcn) : Star(law) {
        config.ecn.points = {{gigabits_per_second(100), {10'000}, {40'000}, 1.0}};
        config.buffer.size = Bytes{300'000};
        config.buffer.reserve = Bytes{0};
    }
    /// Of host 0 to the switch, of the switch to host 0, of the switch to host 3.
    std::vector<PortId> ports() const {
        return {topology.first_port(0), topology.first_port(4), topology.first_port(4) + 3};
    }
};

/// Counts what it is told.
struct Count : Tap {
    bool watches(PortId port) const override { return port != 2; }
    void passed(const step::World&, Tick now) override {
        in_order = in_order && now >= last;
        last = now;
    }
    void sent(const step::World&, PortId port, const step::Packet& packet, Tick arrival) override {
        in_order = in_order && arrival > last;
        bytes[port] += packet.bytes;
    }
    void stepped(const step::World&, PortId, Tick now) override {
        in_order = in_order && now >= last;
    }
    std::map<PortId, std::int64_t> bytes;
    Tick last = 0;
    bool in_order = true;
};

void compare_watched(congestion::Law law) {
    Incast incast(law);
    Count count;
    NetworkOptions options;
    options.make_node = make_tapped({&count});
    Network plain("plain", incast.topology, incast.routing, incast.config, incast.flows,
                  incast.paths, nullptr);
    Network watched("watched", incast.topology, incast.routing, incast.config, incast.flows,
                    incast.paths, nullptr, options);
    plain.store().world().digest_hops = true;
    watched.store().world().digest_hops = true;
    sc_core::sc_start();
    CHECK(plain.counters().pfc_pauses > 0);
    CHECK(watched.counters().hop_checksum == plain.counters().hop_checksum);
    CHECK(watched.counters().pfc_pauses == plain.counters().pfc_pauses);
    CHECK(finishes(watched) == finishes(plain));
    CHECK(count.in_order);
    const std::vector<PortStatistics> ports =
        watched.store().port_statistics(watched.clock().now());
    for (PortId port = 0; port < ports.size(); ++port) {
        const std::int64_t sent = port == 2 ? 0 : ports[port].tx_bytes;
        CHECK(count.bytes[port] == sent);
    }
}

TEST_CASE("models.observe.a_watched_network_does_what_it_would_do_anyway") {
    compare_watched(congestion::Law::dcqcn);
}

TEST_CASE("models.observe.a_watched_network_with_int_does_what_it_would_do_anyway") {
    compare_watched(congestion::Law::hpcc);
}

/// What an incast leaves behind, in files.
struct Recorded {
    explicit Recorded(std::int64_t most_bytes = 1'000'000'000)
        : capture(folder.file("links.pcapng"), incast.topology, incast.ports(), most_bytes),
          waves(folder.file("ports.vcd"), incast.topology, incast.ports()) {
        NetworkOptions options;
        options.make_node = make_tapped({&capture, &waves});
        Network network("network", incast.topology, incast.routing, incast.config, incast.flows,
                        incast.paths, nullptr, options);
        sc_core::sc_start();
        end = network.clock().now();
        statistics = network.store().port_statistics(end);
        results = network.store().results();
        capture.finish();
        waves.finish(end);
    }
    Incast incast;
    TestFolder folder;
    LinkCapture capture;
    PortWaves waves;
    Tick end = 0;
    std::vector<PortStatistics> statistics;
    std::vector<FlowResult> results;
};

TEST_CASE("models.observe.a_capture_holds_every_packet_of_its_ports") {
    Recorded run;
    const Captured captured = read_capture(bytes_of(run.folder.file("links.pcapng")));
    REQUIRE(captured.interfaces == 3);
    std::vector<std::int64_t> frames(3, 0);
    std::uint64_t last = 0;
    std::uint64_t next_psn = 0;
    std::uint64_t pauses = 0;
    std::uint64_t marked = 0;
    std::int64_t payload = 0;
    for (const Frame& frame : captured.frames) {
        CHECK(frame.at >= last);
        last = frame.at;
        ++frames[frame.interface];
        if (frame.number(12, 2) == 0x8808) {
            CHECK(frame.number(16, 2) == 8);  // class 3
            CHECK(frame.bytes.size() == 60);
            pauses += frame.number(18 + 2 * 3, 2) != 0 ? 1 : 0;
            continue;
        }
        CHECK(frame.number(12, 2) == 0x0800);
        CHECK(header_sum(frame) == 0xffff);
        CHECK(frame.number(16, 2) == frame.bytes.size() - 14);
        CHECK(frame.number(36, 2) == 4791);
        CHECK(frame.number(38, 2) == frame.bytes.size() - 34);
        const std::uint64_t opcode = frame.number(42, 1);
        marked += frame.interface == 2 && (frame.number(15, 1) & 3) == 3 ? 1 : 0;
        if (frame.interface != 0 || opcode == 0x11) {
            continue;
        }
        // Host 0's flow of 1000 packets, none of which is sent again.
        const std::uint64_t psn = frame.number(51, 3);
        CHECK(psn == next_psn++);
        const std::uint64_t expected = psn == 0 ? 0x06 : psn == 999 ? 0x08 : 0x07;
        CHECK(opcode == expected);
        const std::size_t length = 14 + 20 + 8 + 12 + (psn == 0 ? 16U : 0U) + 1000 + 4;
        CHECK(frame.bytes.size() == length);
        CHECK(frame.number(26, 4) == 0x0a000001);
        CHECK(frame.number(30, 4) == 0x0a000004);
        payload += 1000;
    }
    const std::vector<PortId> ports = run.incast.ports();
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(frames[i] == run.statistics[ports[i]].tx_packets);
    }
    CHECK(payload == 1'000'000);
    CHECK(run.capture.left_out() == 0);
    CHECK(run.capture.frames() == captured.frames.size());
    CHECK(pauses > 0);
    CHECK(marked == static_cast<std::uint64_t>(run.statistics[ports[2]].ecn_marks));
}

TEST_CASE("models.observe.a_capture_ends_at_its_limit") {
    Recorded run(100'000);
    const Captured captured = read_capture(bytes_of(run.folder.file("links.pcapng")));
    std::size_t bytes = 0;
    for (const Frame& frame : captured.frames) {
        bytes += frame.bytes.size();
    }
    CHECK(bytes <= 100'000);
    CHECK(bytes > 98'000);
    const std::vector<PortId> ports = run.incast.ports();
    std::int64_t all = 0;
    for (const PortId port : ports) {
        all += run.statistics[port].tx_packets;
    }
    CHECK(captured.frames.size() + run.capture.left_out() == static_cast<std::size_t>(all));
}

TEST_CASE("models.observe.tshark_has_no_complaint_of_a_capture") {
    int status = 0;
    output_of("tshark --version", status);
    if (status != 0) {
        MESSAGE("skipped: tshark is not installed (apt-get install tshark)");
        return;
    }
    Recorded run;
    const std::string read = "tshark -r " + run.folder.file("links.pcapng") + " ";
    CHECK(output_of(read + "-Y '_ws.expert || _ws.malformed || _ws.short'", status) == "");
    CHECK(status == 0);
    std::istringstream lines(output_of(
        read +
            "-Y 'infiniband.bth.opcode && frame.interface_id == 0' -T fields -e frame.time_epoch "
            "-e infiniband.bth.opcode -e infiniband.bth.psn",
        status));
    std::string line;
    std::int64_t seen = 0;
    while (std::getline(lines, line)) {
        std::istringstream fields(line);
        double at = 0;
        std::uint32_t opcode = 0;
        std::int64_t psn = -1;
        REQUIRE(static_cast<bool>(fields >> at >> opcode >> psn));
        CHECK(psn == seen);
        const std::uint32_t expected = psn == 0 ? 6 : psn == 999 ? 8 : 7;
        CHECK(opcode == expected);
        ++seen;
        if (seen == 1) {
            // The first packet's last bit: serialization and 1 us of cable.
            CHECK(at == doctest::Approx(1.0e-6 + 1056 * 80e-12).epsilon(0.01));
        }
    }
    CHECK(seen == 1000);
}

TEST_CASE("models.observe.waves_are_what_the_ports_went_through") {
    Recorded run;
    Vcd vcd = read_vcd(bytes_of(run.folder.file("ports.vcd")));
    REQUIRE(vcd.id_of.size() == 12);
    CHECK(vcd.last == run.end);
    const std::vector<PortId> ports = run.incast.ports();
    const auto values = [&](PortId port, const std::string& variable) {
        return vcd.changes.at(vcd.id_of.at(port_name(run.incast.topology, port) + "." + variable));
    };
    double most = 0;
    for (const auto& [at, bytes] : values(ports[2], "queue_bytes")) {
        most = std::max(most, bytes);
    }
    CHECK(most <= static_cast<double>(run.statistics[ports[2]].max_queue_bytes));
    CHECK(most >= 0.99 * static_cast<double>(run.statistics[ports[2]].max_queue_bytes));
    CHECK(values(ports[2], "queue_bytes").back().second == 0);
    // Host 0's pauses, to the picosecond.
    Tick paused = 0;
    Tick since = -1;
    for (const auto& [at, mask] : values(ports[0], "paused")) {
        if (mask != 0 && since < 0) {
            since = at;
        } else if (mask == 0 && since >= 0) {
            paused += at - since;
            since = -1;
        }
    }
    CHECK(paused == run.statistics[ports[0]].paused_ticks);
    CHECK(paused > 0);
    // All that was sent is in the rates: of intervals of 10 us, each of which holds until the next change.
    double bits = 0;
    const auto rates = values(ports[2], "rate_bps");
    const Tick interval = 10 * kMicrosecond;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const Tick until = i + 1 < rates.size() ? rates[i + 1].first : rates[i].first + interval;
        bits += rates[i].second * static_cast<double>(until - rates[i].first) / kSecond;
    }
    const double sent = 8.0 * static_cast<double>(run.statistics[ports[2]].tx_bytes);
    CHECK(bits > 0.98 * sent);
    CHECK(bits < 1.02 * sent);
}

TEST_CASE("models.observe.a_skipped_interval_is_seen_in_the_waves") {
    Incast incast;
    const TestFolder folder;
    const PortId port = incast.ports()[2];
    PortWaves waves(folder.file("ports.vcd"), incast.topology, {port});
    NetworkOptions options;
    options.make_node = make_tapped({&waves});
    Network network("network", incast.topology, incast.routing, incast.config, incast.flows,
                    incast.paths, nullptr, options);
    sc_core::sc_start();
    // What a skip does to a link, after everything.
    step::World& world = network.store().world();
    const Tick end = network.clock().now();
    waves.passed(world, end);
    world.link[world.egress[port].out].base += 3 * kMillisecond;
    waves.passed(world, end + 3 * kMillisecond);
    waves.finish(end + 4 * kMillisecond);
    Vcd vcd = read_vcd(bytes_of(folder.file("ports.vcd")));
    const std::vector<std::pair<Tick, double>> expected = {
        {0, 0}, {end, 1}, {end + 3 * kMillisecond, 0}};
    const std::string name = port_name(incast.topology, port) + ".skipped";
    CHECK(vcd.changes.at(vcd.id_of.at(name)) == expected);
}

TEST_CASE("models.observe.vcdvcd_reads_the_waves") {
    int status = 0;
    output_of("python3 -c 'import vcdvcd'", status);
    if (status != 0) {
        MESSAGE("skipped: vcdvcd is not installed (pip install vcdvcd)");
        return;
    }
    Recorded run;
    const std::string program =
        "import sys, vcdvcd\n"
        "vcd = vcdvcd.VCDVCD(sys.argv[1])\n"
        "queue = [vcd[s] for s in vcd.signals if '_3_to_host3.queue_bytes' in s][0]\n"
        "print(vcd.timescale['magnitude'], vcd.timescale['unit'], vcd.endtime, "
        "max(int(v, 2) for _, v in queue.tv))\n";
    run.folder.write("read.py", program);
    std::istringstream words(output_of(
        "python3 " + run.folder.file("read.py") + " " + run.folder.file("ports.vcd"), status));
    REQUIRE(status == 0);
    std::string magnitude, unit;
    std::int64_t end = 0, most = 0;
    REQUIRE(static_cast<bool>(words >> magnitude >> unit >> end >> most));
    CHECK(magnitude == "1");
    CHECK(unit == "ps");
    CHECK(end == run.end);
    CHECK(most > 10'000);
    CHECK(most <= run.statistics[run.incast.ports()[2]].max_queue_bytes);
}

TEST_CASE("models.observe.the_code_of_the_page_works") {
    Star star;
    const TestFolder folder;
    std::filesystem::current_path(std::filesystem::path(folder.file("x")).parent_path());
    const Topology& topology = star.topology;
    Routing& routing = star.routing;
    const NetworkConfig& config = star.config;
    const std::vector<FlowSpec>& flows = star.flows;
    const std::vector<FlowPath>& paths = star.paths;
    const sluice::PortId uplink = topology.first_port(4);
    sluice::LinkCapture capture("links.pcapng", topology, {uplink, topology.peer_of(uplink)});
    sluice::PortWaves waves("ports.vcd", topology, {uplink});
    sluice::NetworkOptions options;
    options.make_node = sluice::make_tapped({&capture, &waves});
    sluice::Network network("network", topology, routing, config, flows, paths, nullptr, options);
    sc_core::sc_start();
    capture.finish();
    waves.finish(network.clock().now());
    const Captured captured = read_capture(bytes_of("links.pcapng"));
    CHECK(captured.frames.size() == capture.frames());
    CHECK(capture.frames() > 0);
    CHECK(read_vcd(bytes_of("ports.vcd")).id_of.size() == 4);
    std::filesystem::current_path("/");
}

TEST_CASE("models.observe.what_cannot_be_watched_is_refused") {
    Incast incast;
    TestFolder folder;
    CHECK_THROWS_WITH_AS(LinkCapture(folder.file("a"), incast.topology, {}),
                         "no port is watched; allowed: one or more", ConfigError);
    CHECK_THROWS_WITH_AS(LinkCapture(folder.file("b"), incast.topology, {8}),
                         "port 8 is to be watched; allowed: 0 to 7", ConfigError);
    CHECK_THROWS_WITH_AS(PortWaves(folder.file("c"), incast.topology, {0}, 0),
                         "waves: an interval of 0 ps for rates; allowed: above 0", ConfigError);
}

}  // namespace
}  // namespace sluice::test
