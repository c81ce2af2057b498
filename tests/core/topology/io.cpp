// SPDX-License-Identifier: Apache-2.0
/// topology.txt in both variants: leniency, refusals with their line, round trips; connectivity.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "core/topology/builders.h"
#include "core/topology/connectivity.h"
#include "core/topology/topology_io.h"
#include "tests/support/network_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Topology read(const std::string& text) {
    TokenReader reader("t.txt", text);
    return read_topology(reader);
}

std::string read_error(const std::string& text) {
    return error_of([&] { read(text); });
}

/// Servers of these sizes, each with an NVSwitch, below one switch; `usual` in the header.
std::string with_nvswitches(const std::vector<int>& sizes, int usual) {
    int gpus = 0;
    for (const int size : sizes) gpus += size;
    const int servers = static_cast<int>(sizes.size());
    std::string links;
    std::string ids;
    int gpu = 0;
    for (int server = 0; server < servers; ++server) {
        ids += std::to_string(gpus + server) + " ";
        for (int i = 0; i < sizes[static_cast<std::size_t>(server)]; ++i, ++gpu) {
            links += std::to_string(gpu) + " " + std::to_string(gpus + server) +
                     " 2400Gbps 0.000025ms 0\n";
            links += std::to_string(gpu) + " " + std::to_string(gpus + servers) +
                     " 100Gbps 0.0005ms 0\n";
        }
    }
    return std::to_string(gpus + servers + 1) + " " + std::to_string(usual) + " " +
           std::to_string(servers) + " 1 " + std::to_string(2 * gpus) + " A100\n" + ids +
           std::to_string(gpus + servers) + "\n" + links;
}

void check_round_trip(const Topology& topology) {
    const std::string text = format_topology(topology);
    const Topology again = read(text);
    REQUIRE(again.node_count() == topology.node_count());
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        CHECK(again.kind(node) == topology.kind(node));
    }
    CHECK(again.gpus_per_server == topology.gpus_per_server);
    REQUIRE(again.links().size() == topology.links().size());
    for (std::size_t i = 0; i < topology.links().size(); ++i) {
        const Link& a = topology.links()[i];
        const Link& b = again.links()[i];
        const bool same =
            a.a == b.a && a.b == b.b && a.rate == b.rate && a.delay == b.delay && a.loss == b.loss;
        CHECK(same);
    }
    CHECK(format_topology(again) == text);
}

}  // namespace

TEST_CASE("unit.topology_io.servers_with_holes_are_those_of_their_nvswitches") {
    using Sizes = std::vector<std::uint32_t>;
    const Topology holes = read(with_nvswitches({6, 4, 6}, 6));
    CHECK(holes.server_sizes == Sizes{6, 4, 6});
    const std::vector<ServerPlace> places = server_places(holes);
    CHECK(places[9].server == 1);
    CHECK(places[9].rail == 3);
    CHECK(places[10].server == 2);
    CHECK(places[10].rail == 0);
    // What runs of the header's length say as well stays theirs, and so do islands inside a server.
    CHECK(read(with_nvswitches({6, 4}, 6)).server_sizes.empty());
    CHECK(read(with_nvswitches({4, 4, 4}, 4)).server_sizes.empty());
    CHECK(read(with_nvswitches({4, 4, 4, 4}, 8)).server_sizes.empty());
    // An NVLink domain of several servers.
    CHECK(read(with_nvswitches({8, 8}, 4)).server_sizes.empty());
}

TEST_CASE("unit.topology.io.hpcc_header") {
    const Topology t =
        read("4 1 3\n2\n0 2 100Gbps 0.001ms 0\n1 2 40Gb/s 1000ns 0.25\n3 2 1000000 2us 0\n");
    CHECK(t.hosts() == std::vector<NodeId>{0, 1, 3});
    CHECK(t.kind(2) == NodeKind::ethernet);
    CHECK(t.links()[0].rate == gigabits_per_second(100));
    CHECK(t.links()[0].delay == kMicrosecond);
    CHECK(t.links()[1].loss == 0.25);
    CHECK(t.links()[2].rate == megabits_per_second(1));
    CHECK(t.gpus_per_server == 1);
    CHECK(t.name == "t.txt");
    check_round_trip(t);
}

TEST_CASE("unit.topology.io.any_blanks_and_trailing_text") {
    const Topology t = read(
        "\r\n 3\t1 2\r\n\r\n0 1\r\n0 10Gbps\n1us 0.000000 2 0 10Gbps 1us 0 First line: nodes\n");
    CHECK(t.host_count() == 2);
    CHECK(t.links().size() == 2);
    const Topology one_line = read("3 1 2 2 0 2 1Gbps 1ns 0 1 2 1Gbps 1ns 0");
    CHECK(one_line.hosts() == std::vector<NodeId>{0, 1});
}

TEST_CASE("unit.topology.io.parallel_links_are_all_kept") {
    const Topology t = read(
        "3 1 4  2  0 2 1Gbps 1us 0  0 2 1Gbps 1us 0  1 2 1Gbps 1us 0 "
        "1 2 1Gbps 1us 0");
    CHECK(t.port_count(2) == 4);
    check_round_trip(t);
}

TEST_CASE("unit.topology.io.no_switches") {
    const Topology t = read("2 0 1\n\n0 1 100Gbps 1us 0\n");
    CHECK(t.host_count() == 2);
    check_round_trip(t);
    CHECK(read("2 0 1 0 1 100Gbps 1us 0").host_count() == 2);
    CHECK(read("2 1 0 0 0\n").links().empty());
    CHECK(read("1 0 0 trailing words may follow here").host_count() == 1);
}

TEST_CASE("unit.topology.io.simai_header") {
    const Topology t = read(
        "6 2 1 1 6 H100\n4 5\n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n"
        "0 5 400Gbps 0.0005ms 0\n1 5 400Gbps 0.0005ms 0\n2 5 1Gbps 1us 0\n3 5 1Gbps 1us 0\n");
    CHECK(t.gpus_per_server == 2);
    CHECK(t.gpu_type == "H100");
    CHECK(t.kind(4) == NodeKind::nvswitch);
    CHECK(t.kind(5) == NodeKind::ethernet);
    CHECK(t.links()[0].delay == 25 * kNanosecond);
    CHECK(t.links()[2].delay == 500 * kNanosecond);
    check_round_trip(t);
    // Nothing but GPUs and NVSwitches, one GPU per server, an unusual type.
    CHECK(read("3 1 1 0 2 910B\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0").gpu_type == "910B");
    CHECK(read("2 1 0 0 1 NONE\n\n0 1 1Gbps 1us 0").host_count() == 2);
}

TEST_CASE("unit.topology.io.errors_name_the_line") {
    CHECK(read_error("") == "t.txt:1: the file ends where number of nodes is expected");
    CHECK(read_error("3 1\n") == "t.txt:1: the file ends where number of links is expected");
    CHECK(read_error("3 1 2\n2\n0 2 100Gbps 1us 0\n") ==
          "t.txt:3: the file ends after 1 links, the header says 2");
    CHECK(read_error("3 1 1\n2\n0 3 100Gbps 1us 0\n") ==
          "t.txt:3: link destination \"3\": out of range (allowed: 0 to 2)");
    CHECK(read_error("3 1 1\n7\n") == "t.txt:2: switch id \"7\": out of range (allowed: 0 to 2)");
    CHECK(read_error("3 1 1\n2\n\n0 0 100Gbps 1us 0\n") == "t.txt:4: link joins node 0 to itself");
    CHECK(contains(read_error("3 1 1\n2\n0 2 100Gpbs 1us 0\n"),
                   "t.txt:3: link rate \"100Gpbs\": unknown unit \"Gpbs\""));
    CHECK(contains(read_error("3 1 1\n2\n0 2 100Gbps\n-1us 0\n"),
                   "t.txt:4: link delay \"-1us\": must not be negative"));
    CHECK(contains(read_error("3 1 1\n2\n0 2 0Gbps 1us 0\n"), "t.txt:3: link rate 0bps out of"));
    CHECK(contains(read_error("3 1 1\n2\n0 2 1Gbps 1us 1.0\n"), "t.txt:3: link loss"));
    CHECK(contains(read_error("3 1 1\n2\n0 2 1Gbps 1us nan\n"), "t.txt:3: link loss"));
    CHECK(contains(read_error("3 9 1\n2\n"), "t.txt:1: number of switches \"9\""));
    CHECK(contains(read_error("-3 1 1\n2\n"), "t.txt:1: number of nodes \"-3\""));
    CHECK(contains(read_error("6 2 1 1 6 H100\n5 5\n0"), "t.txt:2: switch id 5 is listed as"));
    CHECK(contains(read_error("word"), "t.txt:1: number of nodes \"word\": not a whole number"));
}

TEST_CASE("unit.topology.io.traps_are_refused_with_one_line") {
    const auto trap = [](const std::string& body) { return read_error("6 2 1 1 6 H100\n" + body); };
    // Wrong units: of a time where a rate stands, misspelt, in bytes, without a rate at all.
    CHECK(read_error("3 1 2\n2\n0 2 400Gbs 1us 0\n1 2 1Gbps 1us 0\n") ==
          "t.txt:3: link rate \"400Gbs\": unknown unit \"Gbs\" (allowed: bps, kbps, Mbps, Gbps, "
          "Tbps, "
          "b/s, kb/s, Mb/s, Gb/s, Tb/s, B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s)");
    CHECK(read_error("3 1 2\n2\n0 2 1us 100Gbps 0\n1 2 1Gbps 1us 0\n") ==
          "t.txt:3: link rate \"1us\": unknown unit \"us\" (allowed: bps, kbps, Mbps, Gbps, Tbps, "
          "b/s, "
          "kb/s, Mb/s, Gb/s, Tb/s, B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s)");
    CHECK(read_error("3 1 2\n2\n0 2 100 1us 0\n1 2 1Gbps 1us 0\n") ==
          "t.txt:3: link rate 100bps (a number without a unit is bits per second) out of range "
          "(allowed: 1kbps to 1000Tbps)");
    CHECK(read_error("3 1 2\n2\n0 2 1Gbps 1mus 0\n1 2 1Gbps 1us 0\n") ==
          "t.txt:3: link delay \"1mus\": unknown unit \"mus\" (allowed: s, ms, us, ns, ps)");
    CHECK(read_error("3 1 2\n2\n0 2 1Gbps 1e6s 0\n1 2 1Gbps 1us 0\n") ==
          "t.txt:3: link delay 1000000s out of range (allowed: 0 to 1000s)");
    // Header counts that disagree with the file.
    CHECK(read_error("4 1 3\n2 3\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n2 3 1Gbps 1us 0\n") ==
          "t.txt:2: 2 switch ids are listed, the header says 1");
    CHECK(read_error("4 2 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n") ==
          "t.txt:2: 1 switch ids are listed, the header says 2");
    CHECK(trap("4 5 3\n0 4 1Gbps 1us 0\n") ==
          "t.txt:2: 3 switch ids are listed, the header says 1 NVSwitches and 1 switches");
    CHECK(trap("\n0 4 1Gbps 1us 0\n") ==
          "t.txt:1: 0 switch ids are listed, the header says 1 NVSwitches and 1 switches");
    CHECK(trap("4 5\n0 4 1Gbps 1us 0\n") ==
          "t.txt:3: the file ends after 1 links, the header says 6");
    CHECK(read_error("3 4 1\n2\n0 2 1Gbps 1us 0\n") ==
          "t.txt:1: number of switches \"4\": out of range (allowed: 0 to 3)");
    CHECK(read_error("6 0 1 1 6 H100\n4 5\n0 4 1Gbps 1us 0\n") ==
          "t.txt:1: GPUs per server \"0\": out of range (allowed: 1 to 4000000)");
    // One node as both kinds of switch; an id that does not exist.
    CHECK(trap("4 4\n0 4 1Gbps 1us 0\n") ==
          "t.txt:2: switch id 4 is listed as an NVSwitch before; a node is one or the other");
    CHECK(trap("4 6\n0 4 1Gbps 1us 0\n") ==
          "t.txt:2: switch id \"6\": out of range (allowed: 0 to 5)");
    CHECK(error_of([] { read_topology("/nowhere/t.txt"); }) == "/nowhere/t.txt: no such file");
}

TEST_CASE("unit.topology.io.traps_that_are_fine") {
    // No NVSwitch, one GPU a server, three GPUs; ids out of order, and a switch before the hosts.
    const Topology odd = read(
        "4 1 0 1 3 A100\r\n0\r\n3 0 400Gbps 0.0005ms 0\r\n1 0 400Gbps 0.0005ms 0\r\n"
        "0 2 400Gbps 0.0005ms 0\r\n");
    CHECK(odd.hosts() == std::vector<NodeId>{1, 2, 3});
    CHECK(odd.neighbor(odd.first_port(3)) == 0);
    check_round_trip(odd);
    CHECK(!find_unreachable_hosts(odd));
    // Five GPUs in servers of four: the second server has one GPU.
    const Topology unequal = read(
        "8 4 2 1 10 H100\n6 5 7\n0 5 1Gbps 1us 0\n1 5 1Gbps 1us 0\n2 5 1Gbps 1us 0\n"
        "3 5 1Gbps 1us 0\n4 6 1Gbps 1us 0\n0 7 1Gbps 1us 0\n1 7 1Gbps 1us 0\n"
        "2 7 1Gbps 1us 0\n3 7 1Gbps 1us 0\n4 7 1Gbps 1us 0\n");
    CHECK(unequal.host_count() == 5);
    CHECK(unequal.kind(6) == NodeKind::nvswitch);
    check_round_trip(unequal);
    // More links than the header says are not read; prose may follow.
    CHECK(read("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\nsrc dst\n")
              .links()
              .size() == 2);
    // NONE is SimAI's word for a type it does not know.
    CHECK(read("2 2 0 0 1 NONE\n\n0 1 1Gbps 1us 0").gpu_type.empty());
}

TEST_CASE("unit.topology.io.report_says_what_was_read_and_what_does_not_fit") {
    const auto report_of = [](const std::string& text) {
        ImportReport report;
        TokenReader reader("t.txt", text);
        read_topology(reader, &report);
        return report.text();
    };
    CHECK(report_of("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n") ==
          "t.txt:1: read: HPCC header: 2 hosts, 1 switch\n"
          "t.txt: read: 2 links: 2 nic\n"
          "2 read, 0 skipped, 0 do not fit\n");
    // Parallel links, a link too many, prose.
    CHECK(report_of("3 1 3\n2\n0 2 1Gbps 1us 0\n2 0 1Gbps 1us 0\n1 2 1Gbps 1us 0\n"
                    "1 2 1Gbps 1us 0\nFirst line: nodes\n") ==
          "t.txt:1: read: HPCC header: 2 hosts, 1 switch\n"
          "t.txt:5: doubtful: 1 more link follows than the 3 that the header says: not read\n"
          "t.txt:7: skipped: text after the last link\n"
          "t.txt: read: 3 links: 3 nic\n"
          "t.txt:4: read: link 2-0 is listed again after line 3: all are used, in parallel\n"
          "3 read, 1 skipped, 1 doubtful, 0 do not fit\n");
    // A type of GPU that SimAI has not heard of, servers of 4 and 1 GPUs.
    CHECK(report_of("8 4 2 1 10 B300\n6 5 7\n0 5 1Gbps 1us 0\n1 5 1Gbps 1us 0\n2 5 1Gbps 1us 0\n"
                    "3 5 1Gbps 1us 0\n4 6 1Gbps 1us 0\n0 7 1Gbps 1us 0\n1 7 1Gbps 1us 0\n"
                    "2 7 1Gbps 1us 0\n3 7 1Gbps 1us 0\n4 7 1Gbps 1us 0\n") ==
          "t.txt:1: read: SimAI header: 5 GPUs, 4 a server, 2 NVSwitches, 1 switch, GPU type B300\n"
          "t.txt:1: skipped: GPU type B300 is none that SimAI knows (A100, A800, H100, H800, H20); "
          "it stays a name\n"
          "t.txt: read: 10 links: 5 nvlink, 5 nic\n"
          "t.txt:1: doubtful: 4 GPUs a server do not divide 5 GPUs: the last server has 1\n"
          "t.txt: doubtful: NVSwitch 6 joins 1 GPU of a server of 4\n"
          "2 read, 1 skipped, 2 doubtful, 0 do not fit\n");
    // An NVSwitch across servers, a host and a switch that nothing joins, an id listed twice.
    CHECK(report_of("6 1 1 2 2 H100\n5 4 4\n0 5 1Gbps 1us 0\n1 5 1Gbps 1us 0\n") ==
          "t.txt:2: doubtful: switch id 4 is listed again: there are fewer switches than the "
          "header says\n"
          "t.txt:1: read: SimAI header: 4 GPUs, 1 a server, 1 NVSwitch, 1 switch, GPU type H100\n"
          "t.txt: read: 2 links: 2 nvlink\n"
          "t.txt: doubtful: NVSwitch 5 joins GPUs of 2 servers of 1 GPUs: the header's servers "
          "are not the NVLink's\n"
          "t.txt: doubtful: host 2 has no link\n"
          "t.txt: doubtful: host 3 has no link\n"
          "t.txt: doubtful: switch 4 has no link\n"
          "t.txt: doubtful: not connected: no path from host 0 to host 2; packets pass "
          "through no hosts but those of topology.forwarding_hosts\n"
          "2 read, 0 skipped, 6 doubtful, 0 do not fit\n");
}

namespace {

/// What a check says of the header: its first line.
std::string header_of(const std::string& text) {
    ImportReport report;
    TokenReader reader("t.txt", text);
    read_topology(reader, &report);
    return report.text().substr(0, report.text().find('\n'));
}

}  // namespace

TEST_CASE("unit.topology.io.headers_of_the_family_are_told_apart") {
    const std::string links = "0 2 25000000000.0 1us 0\n1 3 25Gbps 1us 0\n2 3 100Gbps 1us 0\n";
    // PowerTCP counts its ToRs, Reverie gives two capacities as well.
    CHECK(
        header_of("4 2 2 3\n2 3\n" + links)
            .rfind("t.txt:1: read: PowerTCP header, its number of ToRs without effect: 2 hosts, 2 "
                   "switches",
                   0) == 0);
    CHECK(header_of("4 2 2 3 25000000000 100000000000\n2 3\n" + links)
              .rfind("t.txt:1: read: Reverie header, its ToRs and capacities without effect: 2 "
                     "hosts, 2 switches",
                     0) == 0);
    CHECK(read("4 2 2 3\n2 3\n" + links).links().size() == 3);
    // No switches, five on one line before links of whole numbers, and damage.
    CHECK(read("2 0 0 1\n0 1 1Gbps 1us 0\n").host_count() == 2);
    CHECK(read("6 5 2 2\n1 2 3 4 5\n0 1 25000000000 0.000001 0\n1 2 25000000000 0.000001 0\n")
              .host_count() == 1);
    CHECK(read_error("4 2 2 3\n2\n3\n1\n" + links) ==
          "t.txt:4: 3 switch ids are listed, the header says 2");
    // HPCC's header with ids on its line.
    CHECK(header_of("4 2 3 2\n3\n" + links).rfind("t.txt:1: read: HPCC header: 2 hosts", 0) == 0);
    CHECK(header_of("4 2 3 2 3\n" + links).rfind("t.txt:1: read: HPCC header: 2 hosts", 0) == 0);
    CHECK(header_of("4 1 1 3\n0 3 1Gbps 1us 0\n").rfind("t.txt:1: read: HPCC header: 3", 0) == 0);
}

TEST_CASE("unit.topology.io.formats") {
    RailParams rail;
    rail.gpus = 4;
    rail.gpus_per_server = 2;
    rail.servers_per_segment = 2;
    rail.spines = 1;
    rail.nvswitches_per_server = 1;
    const Topology t = build_rail(rail);
    // HPCC knows no NVSwitch: they become switches, servers are lost, links stay.
    const Topology plain = read(format_topology(t, TopologyFormat::hpcc));
    CHECK(plain.gpus_per_server == 1);
    CHECK(plain.kind(4) == NodeKind::ethernet);
    CHECK(plain.links().size() == t.links().size());
    CHECK(format_topology(plain) == format_topology(t, TopologyFormat::hpcc));
    // A network without servers, as SimAI writes it: gps 1, no NVSwitch, an unknown GPU.
    const Topology star = build_star({});
    const std::string text = format_topology(star, TopologyFormat::simai);
    CHECK(text.substr(0, text.find('\n')) == "17 1 0 1 16 NONE");
    CHECK(format_topology(read(text)) == format_topology(star));
    // A picosecond is 1e-9 ms.
    CHECK(contains(format_topology(read("2 0 1\n\n0 1 1Gbps 1ps 0")), "1Gbps 0.000000001ms 0\n"));
    CHECK(contains(format_topology(read("2 0 1\n\n0 1 1Gbps 12.3s 0.5")), "1Gbps 12300ms 0.5\n"));
    CHECK(contains(format_topology(read("2 0 1\n\n0 1 1Gbps 0 0")), "1Gbps 0ms 0\n"));
    for (const char* type : {"H100", "910B", "B200-SXM"}) CHECK(is_gpu_type(type));
    for (const char* type : {"", "100", "100Gbps", "H 100", "H100\n"}) CHECK(!is_gpu_type(type));
}

TEST_CASE("unit.topology.io.absurd_counts_allocate_nothing") {
    CHECK(contains(read_error("4000000 1 1\n2\n"), "too short to connect so many"));
    CHECK(contains(read_error("99999999999 1 1\n2\n"), "out of range"));
    CHECK(contains(read_error("3 1 32000000\n2\n"), "the file ends"));
}

TEST_CASE("unit.topology.io.real_files_round_trip") {
    const std::string folder = reference_file("samples/hpcc/topology.txt");
    if (folder.empty()) {
        MESSAGE("skipped: no reference files (set SLUICE_REFERENCE)");
        return;
    }
    std::vector<std::string> files = {folder, reference_file("samples/hpcc/fat.txt")};
    for (const char* part : {"samples/simai/topo", "ns3"}) {
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(reference_file(part))) {
            const std::string name = entry.path().filename().string();
            const bool topology = std::string(part) != "ns3" || name == "topology.txt";
            if (entry.is_regular_file() && topology) {
                files.push_back(entry.path().string());
            }
        }
    }
    CHECK(files.size() >= 8);
    for (const std::string& file : files) {
        CAPTURE(file);
        const Topology topology = read_topology(file);
        check_round_trip(topology);
        CHECK(!find_unreachable_hosts(topology));
    }
    // The 66-node sample: switch 0, hosts 1 to 65.
    const Topology star = read_topology(folder);
    CHECK(star.host_count() == 65);
    CHECK(!star.is_host(0));
}

TEST_CASE("unit.topology.connectivity.names_an_unreachable_pair") {
    CHECK(!find_unreachable_hosts(read("1 0 0")));
    const auto islands = find_unreachable_hosts(
        read("6 2 4  4 5  0 4 1Gbps 1us 0  1 4 1Gbps 1us 0  2 5 1Gbps 1us 0  3 5 1Gbps 1us 0"));
    REQUIRE(islands);
    CHECK(*islands == std::pair<NodeId, NodeId>{0, 2});
    const auto lone = find_unreachable_hosts(read("3 0 1\n 1 2 1Gbps 1us 0"));
    REQUIRE(lone);
    CHECK(lone->first == 0);
}

TEST_CASE("unit.topology.connectivity.hosts_are_not_transit") {
    // 0 - switch 3 - 1 - switch 4 - 2: host 1 sits on both, yet 0 cannot reach 2 through it.
    const auto pair = find_unreachable_hosts(
        read("5 2 4  3 4  0 3 1Gbps 1us 0  1 3 1Gbps 1us 0  1 4 1Gbps 1us 0  2 4 1Gbps 1us 0"));
    REQUIRE(pair);
    CHECK(*pair == std::pair<NodeId, NodeId>{0, 2});
    // Three hosts cabled in a triangle are connected; in a chain they are not.
    CHECK(!find_unreachable_hosts(read("3 0 3\n0 1 1Gbps 1us 0 1 2 1Gbps 1us 0 0 2 1Gbps 1us 0")));
    CHECK(find_unreachable_hosts(read("3 0 2\n0 1 1Gbps 1us 0 1 2 1Gbps 1us 0")));
}

TEST_CASE(
    "unit.topology.io.lines_that_are_no_links_are_named_rather_than_what_their_shift_leads_to") {
    const std::string five =
        " fields, and a link five: source, destination, rate, delay, loss, such as \"0 8 100Gbps "
        "1us 0\"";
    // An edge list: the next line's source would be the rate.
    CHECK(read_error("7 1 6\n0\n1 0\n6 0\n2 0\n3 0\n4 0\n5 0\n") == "t.txt:3: has 2" + five);
    CHECK(read_error("3 1 2\n2\n0 2 6 100Gbps 1us 0\n1 2 6 100Gbps 1us 0\n") ==
          "t.txt:3: has 6" + five);
    // No loss: the next line's source is taken for it.
    CHECK(read_error("4 1 3\n2\n0 2 100Gbps 1us\n0 2 100Gbps 1us\n1 2 100Gbps 1us\n") ==
          "t.txt:3: has 4" + five);
    CHECK(read_error("3 1 1\n2\n0 2\n") == "t.txt:3: has 2" + five);
    CHECK(read_error("4 1 3\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us\n3 2 100Gbps 1us 0\n") ==
          "t.txt:4: has 4" + five);
    // Five to a line: the number is what is wrong.
    CHECK(read_error("3 1 1\n2\n0 2 6 1us 0\n") ==
          "t.txt:3: link rate 6bps (a number without a unit is bits per second) out of range "
          "(allowed: 1kbps to 1000Tbps)");
    // Fields need no lines.
    CHECK(read("3 1 2\n2\n0 2 100Gbps 1us\n0 1 2 100Gbps\n1us 0\n").links().size() == 2);
}
