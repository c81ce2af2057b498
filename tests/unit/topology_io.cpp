// SPDX-License-Identifier: Apache-2.0
/// topology.txt in both variants: leniency, refusals with their line, round trips; connectivity.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "core/topology/connectivity.h"
#include "core/topology/topology_io.h"
#include "tests/unit/network_support.h"

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
          "t.txt:3: the file ends where link source is expected");
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
