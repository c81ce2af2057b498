// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <numeric>

#include "core/error.h"
#include "core/topology/connectivity.h"
#include "core/topology/htsim_topology.h"
#include "tests/support/error_of.h"
#include "tests/support/fake_engine.h"
#include "tests/support/goal_support.h"
#include "tests/support/test_folder.h"
#include "workloads/goal/connection_matrix.h"
#include "workloads/goal/htsim_files.h"
#include "workloads/goal/trigger_application.h"

using namespace sluice;

namespace {

ConnectionMatrix matrix_of(const std::string& text) {
    ImportReport report;
    return read_connection_matrix(TokenReader("m.cm", text), report);
}

std::string matrix_error(const std::string& text) {
    return error_of([&] { matrix_of(text); });
}

Topology topology_of(const std::string& text) {
    std::vector<std::string> skipped;
    return read_htsim_topology(TokenReader("t.topo", text), skipped);
}

std::string topology_error(const std::string& text) {
    return error_of([&] { topology_of(text); });
}

/// When each flow starts. The engine of tests/support/fake_engine.h starts what an application tells it
/// to, so this one starts flows that have start times, too.
class Starts final : public Application {
  public:
    Starts(TriggerApplication& inner, std::vector<FlowSpec> flows)
        : started(flows.size(), kNever), inner_(inner), flows_(std::move(flows)) {}

    std::vector<Tick> started;

    void on_begin(NodeId host, HostServices& services) override {
        inner_.on_begin(host, services);
        for (FlowId flow = 0; flow < flows_.size(); ++flow) {
            if (flows_[flow].src != host || flows_[flow].start == kNever) continue;
            services.start_flow(flow, flows_[flow].start);
        }
    }
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override {
        // 1 us + 80 ps per byte after the start.
        started[flow] = now - kMicrosecond - flows_[flow].size * fake::kTicksPerByte;
        inner_.on_received(host, flow, now, services);
    }
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override {
        inner_.on_sent(host, flow, now, services);
    }
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override {
        inner_.on_timer(host, token, now, services);
    }

  private:
    TriggerApplication& inner_;
    std::vector<FlowSpec> flows_;
};

std::vector<Tick> starts_of(const std::string& text) {
    const ConnectionMatrix matrix = matrix_of(text);
    std::vector<NodeId> hosts(matrix.nodes);
    std::iota(hosts.begin(), hosts.end(), 0U);
    TriggerApplication application(matrix, hosts);
    const std::vector<FlowSpec> flows = application.flows();
    Starts starts(application, flows);
    fake::Engine engine(starts, flows, hosts.size());
    engine.run();
    return starts.started;
}

const char* const kLeafSpine = R"(Nodes 32
Tiers 2
Podsize 32

Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 4

Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Switch_Latency_ns 0
)";

const char* const kThreeTiers = R"(# three tiers
nodes 16
tiers 3
podsize 4
tier 0
downlink_speed_gbps 100
radix_down 2
radix_up 2
downlink_latency_ns 1000
switch_latency_ns 10
queue_down 100
tier 1
downlink_speed_gbps 100
radix_down 2
radix_up 2
downlink_latency_ns 2000
switch_latency_ns 20
tier 2
downlink_speed_gbps 200
radix_down 4
bundle 1
oversubscribed 1
downlink_latency_ns 3000
switch_latency_ns 40
)";

}  // namespace

TEST_CASE("unit.htsim.matrix.every_field_is_read") {
    const ConnectionMatrix m = matrix_of(
        "Nodes 4\r\nConnections 2\r\nTriggers 1\r\n# a comment\r\n\r\n"
        "0->1 id 1 start 2500 size 3000000000 send_done_trigger 7 prio 3\r\n"
        "2->3 id 2 trigger 7 size 100 recv_done_trigger 0\r\n"
        "trigger id 7 oneshot\r\n");
    REQUIRE(m.connections.size() == 2);
    CHECK(m.connections[0].start == 2500);
    CHECK(m.connections[0].size == 3'000'000'000);
    CHECK(m.connections[0].send_done == 0);
    CHECK(m.connections[1].start == kNever);
    CHECK(m.connections[1].recv_done == kNone);
    REQUIRE(m.triggers.size() == 1);
    CHECK(m.triggers[0].id == 7);
    CHECK(m.triggers[0].targets == std::vector<std::uint32_t>{1});
}

TEST_CASE("unit.htsim.matrix.mistakes_are_refused") {
    CHECK(matrix_error("") == "m.cm: has no Nodes line");
    CHECK(matrix_error("Connections 1\n0->1 start 0 size 1\n") ==
          "m.cm:2: the Nodes line must come before the first connection");
    const std::string head = "Nodes 4\nConnections 1\n";
    CHECK(matrix_error(head + "0->4 start 0 size 1\n").find("m.cm:3: destination \"4\"") == 0);
    CHECK(matrix_error(head + "0->0 start 0 size 1\n") == "m.cm:3: node 0 sends to itself");
    CHECK(matrix_error(head + "0->1 size 1\n") ==
          "m.cm:3: a connection has either a start or a trigger");
    CHECK(matrix_error(head + "0->1 start 0\n") == "m.cm:3: the connection has no size");
    CHECK(matrix_error(head + "0->1 msg start 0 size 1\n") ==
          "m.cm:3: msg needs the id of its connection");
    CHECK(matrix_error(head + "0->1 id 1 msg start 0 size 1\n1->0 id 1 msg start 0 size 1\n") ==
          "m.cm:4: connection 1 goes from 1 to 0, its messages above from 0 to 1");
    CHECK(matrix_error(head + "0->1 id 0 start 0 size 1\n").find("m.cm:3: id \"0\"") == 0);
    CHECK(matrix_error(head + "0->1 start 0 size\n") == "m.cm:3: the line ends where size is due");
    CHECK(matrix_error(head + "0->1 start 0 size 1 soon\n").find("m.cm:3: \"soon\"") == 0);
    CHECK(matrix_error(head + "0->1 trigger 3 size 1\n") ==
          "m.cm:3: trigger 3 has no line of its own");
    CHECK(matrix_error("Nodes 99999999\n") == "m.cm:1: Nodes 99999999: 1 to 4000000 are allowed");
    CHECK(matrix_error("Nodes 2\nTriggers 1\ntrigger id 1 barrier\n") ==
          "m.cm:3: barrier 1 needs a count of at least 1");
    CHECK(matrix_error("Nodes 2\nTriggers 1\ntrigger id 1\n") ==
          "m.cm:3: the trigger has no type: oneshot, multishot or barrier");
    CHECK(matrix_error("Nodes 2\nfailure switch_type ABC\n").find("m.cm:2: switch_type ABC") == 0);
}

TEST_CASE("unit.htsim.matrix.what_has_no_effect_and_what_never_starts_is_told") {
    ImportReport report;
    read_connection_matrix(
        TokenReader("m.cm",
                    "Nodes 2\nConnections 2\nTriggers 1\nFailures 1\n"
                    "0->1 id 1 start 0 size 1 prio 4\n1->0 id 2 trigger 5 size 1\n"
                    "trigger id 5 oneshot\nfailure switch_type AGG switch_id 0 link_id 1\n"),
        report);
    CHECK(report.count(ImportNote::Kind::skipped) == 2);
    CHECK(report.count(ImportNote::Kind::doubtful) == 1);
    CHECK(report.text().find("m.cm:6: doubtful: trigger 5 is activated 0 times") !=
          std::string::npos);
}

TEST_CASE("unit.htsim.matrix.wrong_counts_flows_without_end_and_messages_are_read") {
    ImportReport report;
    const ConnectionMatrix matrix = read_connection_matrix(
        TokenReader("m.cm",
                    "Nodes 3\nConnections 9\n0->1 start 0.000000 size 0\n"
                    "0->1 id 7 msg 1 start 0 size 5\n0->1 id 7 msg start 0 size 5\n"
                    "0->2 id 8 start 0 size 5 msg\n"),
        report);
    CHECK(report.text() ==
          "m.cm: doubtful: Connections 9, but there are 4 such lines, and all of them are taken\n"
          "m.cm: read: 3 nodes, 4 connections, 0 triggers\n"
          "m.cm: read: 1 flow of size 0: without end, as in htsim; a run needs a stop\n"
          "2 read, 0 skipped, 1 doubtful, 0 do not fit\n");
    CHECK(matrix.endless == 1);
    CHECK(matrix.connections[0].endless);
    CHECK(matrix.connections[0].queue == kNone);
    CHECK(matrix.connections[1].queue == 0);
    CHECK(matrix.connections[2].queue == 0);
    CHECK(matrix.connections[3].queue == 1);
}

TEST_CASE("unit.htsim.matrix.triggers_start_flows") {
    // Flow 0 has its last byte at node 1 after 1 us + 1000 x 80 ps = 1.08 us, its ACK at 2.08 us.
    const Tick received = kMicrosecond + 80 * kNanosecond;
    const Tick sent = received + kMicrosecond;
    // Node 0 goes on when its flow is acknowledged, node 1 when it has received: at once.
    CHECK(starts_of("Nodes 4\nConnections 3\nTriggers 2\n"
                    "0->1 id 1 start 0 size 1000 send_done_trigger 1 recv_done_trigger 2\n"
                    "0->2 id 2 trigger 1 size 1000\n1->3 id 3 trigger 2 size 1000\n"
                    "trigger id 1 oneshot\ntrigger id 2 oneshot\n") ==
          std::vector<Tick>{0, sent, received});
    // Another host hears of it one lookahead (1 us) later.
    CHECK(starts_of("Nodes 4\nConnections 2\nTriggers 1\n"
                    "0->1 id 1 start 0 size 1000 recv_done_trigger 2\n3->2 id 2 trigger 2 size 1\n"
                    "trigger id 2 oneshot\n")[1] == received + kMicrosecond);
    // A barrier of two waits for the later of its flows, of 1000 and 3000 bytes.
    CHECK(starts_of("Nodes 4\nConnections 3\nTriggers 1\n"
                    "0->1 id 1 start 0 size 1000 recv_done_trigger 1\n"
                    "2->1 id 2 start 0 size 3000 recv_done_trigger 1\n1->3 id 3 trigger 1 size 1\n"
                    "trigger id 1 barrier count 2\n")[2] == kMicrosecond + 240 * kNanosecond);
}

TEST_CASE("unit.htsim.matrix.multishot_starts_one_after_the_other") {
    // A window of two: four flows of 1000 bytes from node 0, each of which starts the next.
    const Tick round = 2 * kMicrosecond + 80 * kNanosecond;
    std::string text = "Nodes 6\nConnections 5\nTriggers 1\n";
    for (int i = 1; i <= 5; ++i) {
        text += "0->" + std::to_string(i) + " id " + std::to_string(i) +
                (i <= 2 ? " start 0" : " trigger 1") + " size 1000 send_done_trigger 1\n";
    }
    CHECK(starts_of(text + "trigger id 1 multishot\n") ==
          std::vector<Tick>{0, 0, round, round, 2 * round});
    // A oneshot does nothing the second time.
    CHECK(starts_of(text + "trigger id 1 oneshot\n") ==
          std::vector<Tick>{0, 0, round, round, round});
}

TEST_CASE("unit.htsim.topology.leaf_spine") {
    // 32 hosts, 4 ToRs of 8; 32 x 100 / (100 x 4) = 8 uplinks, 8 / 4 = 2 spines.
    const Topology t = topology_of(kLeafSpine);
    CHECK(t.host_count() == 32);
    CHECK(t.node_count() == 32 + 4 + 2);
    CHECK(t.links().size() == 32 + 4 * 2);
    CHECK(t.links()[0].rate == gigabits_per_second(100));
    CHECK(t.links()[0].delay == kMicrosecond);
    CHECK_FALSE(find_unreachable_hosts(t).has_value());
    const std::string file = goal::sample("htsim/leaf_spine_tiny.topo");
    if (!file.empty()) CHECK(topology_of(file).links().size() == 40);
}

TEST_CASE("unit.htsim.topology.three_tiers_and_switch_latencies") {
    // 4 pods of 2 ToRs; 16 uplinks, 16 / (4 x 2) = 2 aggregation switches per pod; 16 x 100 / 200 =
    // 8 of theirs, 8 / 4 = 2 cores: one per aggregation switch, but Radix_Up says 2.
    CHECK(topology_error(kThreeTiers) ==
          "t.topo: Tier 1's Radix_Up is 2, but there are 1 core switches per aggregation switch x "
          "Bundle 1");
    std::string text = kThreeTiers;
    text.replace(text.find("radix_up 2\ndownlink_latency_ns 2000"), 10, "radix_up 1");
    std::vector<std::string> skipped;
    const Topology t = read_htsim_topology(TokenReader("t.topo", text), skipped);
    CHECK(skipped == std::vector<std::string>{"t.topo:11: queue_down"});
    CHECK(t.host_count() == 16);
    CHECK(t.node_count() == 16 + 8 + 8 + 2);
    CHECK(t.links().size() == 16 + 16 + 8);
    // Latency plus half of each end's switch: 1000 + 5, 2000 + 5 + 10, 3000 + 10 + 20 ns.
    CHECK(t.links()[0].delay == 1'005'000);
    CHECK(t.links()[16].delay == 2'015'000);
    CHECK(t.links()[32].delay == 3'030'000);
    CHECK(t.links()[32].rate == gigabits_per_second(200));
    // Aggregation switch 1 of a pod joins core 1.
    CHECK(t.links()[33].a == 16 + 8 + 1);
    CHECK(t.links()[33].b == 16 + 16 + 1);
    CHECK_FALSE(find_unreachable_hosts(t).has_value());
}

TEST_CASE("unit.htsim.topology.mistakes_are_refused") {
    const auto changed = [](const std::string& from, const std::string& to) {
        std::string text = kLeafSpine;
        text.replace(text.find(from), from.size(), to);
        return topology_error(text);
    };
    CHECK(topology_error("") == "t.topo: has no Nodes line");
    CHECK(changed("Tiers 2", "Tiers 4").find("t.topo:2: Tiers \"4\"") == 0);
    CHECK(changed("Podsize 32", "") == "t.topo: has no Podsize line");
    CHECK(changed("Podsize 32", "Podsize 16") ==
          "t.topo: two tiers make one pod: Podsize must be Nodes");
    CHECK(changed("Tier 1", "Tier 0") == "t.topo:13: tier 0 is described twice");
    CHECK(changed("Radix_Down 8", "Radix_Down 7") ==
          "t.topo: Podsize (32) must be a multiple of Tier 0's Radix_Down (7)");
    CHECK(
        changed("Radix_Up 2\n", "Radix_Up 3\n") ==
        "t.topo: Tier 0's Radix_Up is 3, but there are 2 aggregation switches per pod x Bundle 1");
    CHECK(changed("Radix_Down 8", "Radix_Down eight").find("t.topo:7: Radix_Down \"eight\"") == 0);
    CHECK(changed("Nodes 32", "Nodes 99999999").find("t.topo:1: Nodes") == 0);
    CHECK(changed("Radix_Down 8", "Radix_Down 8\nRadix_Down 8") ==
          "t.topo:8: Radix_Down is given twice");
}

TEST_CASE("unit.htsim.files_of_the_other_kinds_are_named") {
    CHECK(matrix_error("num_ranks 2\nrank 0 {\n}\n") ==
          "m.cm:1: is a GOAL schedule, no connection matrix: workload type \"goal\" reads it");
    CHECK(matrix_error("Nodes 4\nTiers 2\n") ==
          "m.cm:2: is htsim's topology, no connection matrix: topology type \"file\" reads it");
    CHECK(topology_error("Nodes 4\nConnections 1\n0->1 start 0 size 1\n") ==
          "t.topo:2: is htsim's connection matrix, no topology: workload type \"htsim\" reads it");
    CHECK(topology_error("# a comment\n3 1 2\n2\n") ==
          "t.topo:2: a number where htsim's .topo has a key (Nodes, Tiers, Podsize); a "
          "topology.txt of HPCC ns-3 or SimAI has no comments before its header");
}

TEST_CASE("unit.htsim.dragonflies_and_slim_flies_are_named") {
    const std::string rest =
        "\nSwitch_latency_ns 500\nLink_speed_global_Gbps 200\nLink_speed_local_Gbps 200\n"
        "Link_speed_host_Gbps 200\nLink_latency_global_ns 500\nLink_latency_local_ns 25\n"
        "Link_latency_host_ns 25\n";
    const std::string dragonfly = topology_error("# Dragonfly\np 4\na 8\nh 4\n" + rest);
    CHECK(dragonfly.find("t.topo: is htsim's dragonfly (p 4, a 8, h 4), which is not read; "
                         "allowed: its fat trees (Nodes, Tiers, Podsize). Topology type "
                         "\"dragonfly\" builds one: hosts_per_router = 4, routers_per_group = 8, "
                         "global_cables_per_router = 4;") == 0);
    CHECK(topology_error("# Slim Fly\np 4\nq 5\n" + rest) ==
          "t.topo: is htsim's Slim Fly (p 4, q 5), which is not read; allowed: its fat trees "
          "(Nodes, Tiers, Podsize)");
    CHECK(topology_error("p\na 8\n") == "t.topo:2: ends where the value of p is due");
}

TEST_CASE("unit.htsim.kinds_are_told_by_what_files_begin_with") {
    const test::TestFolder folder;
    const auto kind = [&](const std::string& text) {
        folder.write("f", text);
        return htsim_file(folder.file("f"));
    };
    CHECK(kind("# a matrix\nNodes 2\nConnections 1\n0->1 start 0 size 1\n") == HtsimFile::matrix);
    CHECK(kind("Nodes 2\n0->1 start 0 size 1\n") == HtsimFile::matrix);
    CHECK(kind("Nodes 4\nTiers 2\n") == HtsimFile::topology);
    CHECK(kind("tiers 2\n") == HtsimFile::topology);
    CHECK(kind("# Dragonfly\np 4\na 8\nh 4\n\nSwitch_latency_ns 500\n") == HtsimFile::topology);
    CHECK(kind("num_ranks 2\nrank 0 {\n}\n") == HtsimFile::none);
    CHECK(kind("// Nodes\nnum_ranks 1\n") == HtsimFile::none);
    CHECK(kind(std::string("\x7f\x10\0\0\0\0\0\0Nodes 2\n", 16)) == HtsimFile::none);
    CHECK(kind("") == HtsimFile::none);
    CHECK(htsim_file(folder.file("absent")) == HtsimFile::none);
}
