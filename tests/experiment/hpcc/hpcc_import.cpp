// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiment/hpcc/hpcc_import.h"
#include "workloads/hpcc/hpcc_flows.h"

namespace {

namespace fs = std::filesystem;
using namespace sluice;
using congestion::Law;

/// ns-3 reference experiments, or empty.
fs::path reference() {
    const char* const given = std::getenv("SLUICE_REFERENCE");
#ifdef SLUICE_SOURCE_DIR
    const fs::path beside = fs::path(SLUICE_SOURCE_DIR) / ".." / "shared" / "reference";
#else
    const fs::path beside;
#endif
    const fs::path folder = (given != nullptr ? fs::path(given) : beside) / "ns3";
    return fs::exists(folder) ? folder : fs::path();
}

/// An experiment's folder, with a config that names its files.
class Folder {
  public:
    Folder() {
        static int count = 0;
        path_ = fs::temp_directory_path() /
                ("sluice-hpcc-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
        fs::create_directories(path_);
        // Two hosts, one switch.
        write("topology.txt", "3 1 2\n2\n0 2 100Gbps 0.001ms 0\n1 2 100Gbps 0.001ms 0.01\n");
        write("flow.txt", "1 \r\n0 1 3 100 5000 2.001\r\n");
    }
    ~Folder() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(path_ / name, std::ios::binary) << text;
    }
    std::string path(const std::string& name) const { return (path_ / name).string(); }
    HpccImport import(const std::string& config, const std::string& paths = "") {
        write("config.txt", "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\n" + config);
        return import_hpcc(path("config.txt"), paths, 0);
    }
    std::string error_of(const std::string& config, const std::string& paths = "") {
        try {
            import(config, paths);
        } catch (const ConfigError& error) {
            const std::string text = error.what();
            CHECK_MESSAGE(text.find('\n') == text.npos, text);
            return text;
        }
        return "no error";
    }

  private:
    fs::path path_;
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

bool noted(const HpccImport& import, const std::string& part) {
    for (const std::string& note : import.notes) {
        if (contains(note, part)) {
            return true;
        }
    }
    return false;
}

}  // namespace

TEST_CASE("unit.hpcc.reads_every_reference_experiment") {
    const fs::path folder = reference();
    if (folder.empty()) {
        MESSAGE("skipped: no reference experiments (SLUICE_REFERENCE)");
        return;
    }
    int experiments = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().filename() != "config.txt") {
            continue;
        }
        ++experiments;
        const fs::path csv = entry.path().parent_path().parent_path() / "flow_paths.csv";
        const HpccImport import =
            import_hpcc(entry.path().string(), fs::exists(csv) ? csv.string() : "", 0);
        CHECK_MESSAGE(import.notes.empty(), entry.path().string());
        CHECK(import.experiment.network.arithmetic == Arithmetic::ns3);
        CHECK(!import.experiment.flows.empty());
        CHECK(import.experiment.network.ecn.points.size() == 2);
        for (const FlowPath& path : import.experiment.paths) {
            CHECK(!path.forward.empty());
        }
    }
    CHECK(experiments > 0);
}

TEST_CASE("unit.hpcc.reference_dumbbell_means_what_it_says") {
    const fs::path folder = reference();
    if (folder.empty()) {
        MESSAGE("skipped: no reference experiments (SLUICE_REFERENCE)");
        return;
    }
    const auto import = [&](const char* law) {
        return import_hpcc((folder / "a_dumbbell" / law / "config.txt").string(), "", 0);
    };
    const HpccImport hpcc_import = import("hpcc");
    const NetworkConfig& hpcc = hpcc_import.experiment.network;
    CHECK(hpcc.congestion.law == Law::hpcc);
    CHECK(hpcc.congestion.hpcc.target_utilization == 0.95);
    CHECK(hpcc.congestion.hpcc.max_stage == 5);
    CHECK(hpcc.congestion.hpcc.additive_rate == 50'000'000);
    CHECK(hpcc.congestion.hpcc.int_multiplier == 4);
    CHECK(hpcc.congestion.hpcc.fast_reaction);
    CHECK(!hpcc.congestion.hpcc.multi_rate);
    CHECK(hpcc.congestion.min_rate == 1'000'000'000);
    CHECK(hpcc.congestion.window);
    CHECK(hpcc.congestion.variable_window);
    CHECK(hpcc.format.extra_header == 42);
    CHECK(hpcc.format.ack == 88);  // 46 + 42
    CHECK(hpcc.buffer.size == mebibytes(32));
    CHECK(hpcc.ecn.points[1].rate == gigabits_per_second(400));
    CHECK(hpcc.ecn.points[1].kmax == Bytes{6'400'000});  // 6400 KB of 1000 bytes
    CHECK(hpcc.nic.ack_every == 1);
    CHECK(hpcc.nic.ack_chunk == 4);  // 4000 B in packets of 1000
    CHECK(hpcc.nic.retransmit_timeout == 0);
    CHECK(hpcc.queues.ack_pause_class == 3);
    // 2.001 as a double lies below 2.001; ns-3 truncates.
    CHECK(hpcc_import.experiment.flows[1].start == 2'000'999'999 * kNanosecond);
    CHECK(hpcc_import.experiment.stop == 4 * kSecond);
    CHECK(hpcc_import.queue_monitor.file == "qlen.txt");

    const NetworkConfig dcqcn = import("dcqcn").experiment.network;
    CHECK(dcqcn.congestion.law == Law::dcqcn);
    CHECK(dcqcn.congestion.dcqcn.alpha_interval == kMicrosecond);
    CHECK(dcqcn.congestion.dcqcn.decrease_interval == 4 * kMicrosecond);
    CHECK(dcqcn.congestion.dcqcn.increase_interval == 300 * kMicrosecond);
    CHECK(dcqcn.congestion.dcqcn.gain == 0.00390625);
    CHECK(dcqcn.congestion.dcqcn.fast_recovery_stages == 1);
    CHECK(dcqcn.congestion.dcqcn.additive_rate == 20'000'000);
    CHECK(dcqcn.congestion.dcqcn.hyper_rate == 200'000'000);
    CHECK(!dcqcn.congestion.window);
    CHECK(dcqcn.format.extra_header == 0);
    CHECK(dcqcn.format.ack == 60);
    CHECK(dcqcn.queues.ack_pause_class == 0);

    const NetworkConfig dctcp = import("dctcp").experiment.network;
    CHECK(dctcp.congestion.law == Law::dctcp);
    CHECK(dctcp.congestion.dctcp.gain == 0.0625);
    CHECK(dctcp.congestion.dctcp.additive_rate == 615'000'000);
    CHECK(dctcp.ecn.points[0].kmin == dctcp.ecn.points[0].kmax);

    const NetworkConfig timely = import("timely").experiment.network;
    CHECK(timely.congestion.law == Law::timely);
    CHECK(timely.congestion.timely.additive_rate == 100'000'000);
    CHECK(timely.congestion.timely.hyper_rate == 500'000'000);
    CHECK(timely.format.extra_header == 8);
    CHECK(timely.format.ack == 60);  // 46 + 8, padded
}

TEST_CASE("unit.hpcc.keys_in_any_order_with_comments_and_unknown_ones") {
    Folder folder;
    const HpccImport import = folder.import(
        "{a comment over\nseveral lines} RATE_AI 5Mb/s\n"
        "CC_MODE 3 {3: HPCC}\r\nMY_KEY 7 eight\n# a line\nLB_MODE 9\nPAUSE_TIME 5\n"
        "FCT_OUTPUT_FILE mix/out/fct_x.txt\nERROR_RATE_PER_LINK 0.02\n");
    CHECK(import.experiment.network.congestion.hpcc.additive_rate == 5'000'000);
    CHECK(import.fct_file == "fct_x.txt");
    CHECK(noted(import, "config.txt:6: unknown key MY_KEY 7 eight # a line skipped"));
    CHECK(noted(import, "not modelled: LB_MODE"));
    CHECK(!noted(import, "PAUSE_TIME"));
    // No thresholds at all: said, since the original would abort.
    CHECK(noted(import, "100Gbps"));
    // A link without a loss rate of its own gets the global one.
    CHECK(import.experiment.topology.links()[0].loss == 0.02);
    CHECK(import.experiment.topology.links()[1].loss == 0.01);
    CHECK(nlohmann::json::parse(import.config_json)["ERROR_RATE_PER_LINK"] == 0.02);
}

TEST_CASE("unit.hpcc.defaults_are_those_of_ns3") {
    Folder folder;
    const HpccImport import = folder.import("");
    const NetworkConfig& network = import.experiment.network;
    CHECK(network.congestion.law == Law::dcqcn);  // CC_MODE 1
    CHECK(network.congestion.dcqcn.alpha_interval == 55 * kMicrosecond);
    CHECK(network.congestion.dcqcn.gain == 0);  // 1 / 16 in integers
    CHECK(network.congestion.min_rate == 100'000'000);
    CHECK(network.buffer.size == mebibytes(16));
    CHECK(network.nic.ack_every == 1);
    CHECK(network.nic.ack_chunk == 0);
    CHECK(import.experiment.stop == ns3_seconds(3.01));
    CHECK(import.fct_file == "fct.txt");
    CHECK(import.queue_monitor.file.empty());
    CHECK(noted(import, "RP_TIMER is missing"));
    CHECK(noted(import, "EWMA_GAIN is missing"));
}

TEST_CASE("unit.hpcc.other_cc_modes") {
    Folder folder;
    const HpccImport none = folder.import("CC_MODE 12 HAS_WIN 1");
    CHECK(none.experiment.network.congestion.law == Law::none);
    CHECK(none.experiment.network.congestion.window);
    CHECK(noted(none, "CC_MODE 12 names no law"));
    CHECK(contains(folder.error_of("CC_MODE 10"), "config.txt:3: CC_MODE: 10 (HPCC-PINT)"));
}

TEST_CASE("unit.hpcc.ack_interval_and_chunk_in_packets") {
    Folder folder;
    // 2500 B are three packets of 1000; a byte count that is a multiple of 1500 comes every
    // 1500 / gcd(1500, 1000) = 3 packets.
    const HpccImport import = folder.import("L2_ACK_INTERVAL 2500 L2_CHUNK_SIZE 1500 CC_MODE 8");
    CHECK(import.experiment.network.nic.ack_every == 3);
    CHECK(import.experiment.network.nic.ack_chunk == 3);
}

TEST_CASE("unit.hpcc.link_down_takes_every_cable_of_the_pair") {
    Folder folder;
    folder.write("topology.txt",
                 "3 1 3\n2\n0 2 100Gbps 1us 0\n2 0 100Gbps 1us 0\n1 2 100Gbps 1us 0\n");
    const HpccImport import = folder.import("CC_MODE 8 LINK_DOWN 500 0 2");
    REQUIRE(import.experiment.link_events.size() == 2);
    CHECK(import.experiment.link_events[1].link == 1);
    // 500 us after 2 s.
    CHECK(import.experiment.link_events[0].at == 2 * kSecond + 500 * kMicrosecond);
    CHECK(!import.experiment.link_events[0].up);
    CHECK(folder.import("CC_MODE 8 LINK_DOWN 0 0 0").experiment.link_events.empty());
    CHECK(contains(folder.error_of("LINK_DOWN 5 0 1"), "no link joins the nodes 0 and 1"));
}

TEST_CASE("unit.hpcc.flows_are_sorted_and_get_source_ports") {
    Folder folder;
    folder.write("flow.txt",
                 "3\n0 1 3 100 5000000000 2.5\n0 1 3 200 1 2.0\n1 0 3 100 7 2.0\nprose follows\n");
    const HpccImport import = folder.import("CC_MODE 8 SIMULATOR_STOP_TIME 4e13");
    const auto& flows = import.experiment.flows;
    REQUIRE(flows.size() == 3);
    CHECK(flows[0].dport == 200);
    CHECK(flows[0].sport == 10000);
    CHECK(flows[1].src == 1);
    CHECK(flows[1].sport == 10000);
    CHECK(flows[2].size == 5'000'000'000);  // beyond the original's 32 bits
    CHECK(flows[2].sport == 10001);
    CHECK(flows[2].start == ns3_seconds(2.5));
    CHECK(import.experiment.stop == kNever);
    CHECK(noted(import, "text after the last flow"));
}

TEST_CASE("unit.hpcc.whole_numbers_that_are_written_as_reals") {
    Folder folder;
    // A script's floats, and numpy's.
    folder.write("flow.txt",
                 "3\n0 1 3 100 2.0 2.5\n1.0 0.0 3.0 100.0 1e+06 2.0\n"
                 "0.0e+00 1.000000000000000000e+00 3 100 2.5e3 2.1\n");
    const HpccImport import = folder.import("CC_MODE 8");
    const auto& flows = import.experiment.flows;
    REQUIRE(flows.size() == 3);
    CHECK(flows[0].src == 1);
    CHECK(flows[0].size == 1'000'000);
    CHECK(flows[0].dport == 100);
    CHECK(flows[1].size == 2500);
    CHECK(flows[2].size == 2);
    CHECK(noted(import, "flow.txt:2: 2.0 and 8 more whole numbers are written as a real"));
    folder.write("flow.txt", "src,dst,bytes,start_us,priority\n0.0,1.0,1000.0,5,3.0\n");
    const HpccImport csv = folder.import("CC_MODE 8");
    REQUIRE(csv.experiment.flows.size() == 1);
    CHECK(csv.experiment.flows[0].dst == 1);
    CHECK(csv.experiment.flows[0].size == 1000);
    CHECK(noted(csv, "whole numbers are written as a real"));
    for (const char* size : {"2.5", "0.0", "-2.0", "2.0.0", "1e99", "nan", "2.0B"}) {
        folder.write("flow.txt", "1\n0 1 3 100 " + std::string(size) + " 2.0\n");
        const std::string error = folder.error_of("CC_MODE 8");
        CHECK_MESSAGE(contains(error, "flow.txt:2: the flow's size in bytes"), error);
    }
}

TEST_CASE("unit.hpcc.a_map_that_lacks_a_ports_rate") {
    Folder folder;
    const HpccImport none = folder.import(
        "CC_MODE 1 KMAX_MAP 1 100000000000 400 KMIN_MAP 1 100000000000 100 EWMA_GAIN 0.1");
    REQUIRE(none.experiment.network.ecn.points.size() == 1);
    CHECK(none.experiment.network.ecn.points[0].pmax == 0);
    CHECK(none.experiment.network.ecn.points[0].kmin == Bytes{100'000});
    CHECK(noted(none, "PMAX_MAP lacks the port rate 100000000000: 0, as ns-3 without assertions"));
    const HpccImport low =
        folder.import("CC_MODE 8 KMAX_MAP 1 100000000000 400 PMAX_MAP 1 100000000000 0.2");
    REQUIRE(low.experiment.network.ecn.points.size() == 1);
    CHECK(low.experiment.network.ecn.points[0].kmin == Bytes{0});
    CHECK(noted(low, "KMIN_MAP lacks the port rate 100000000000"));
    const std::string error =
        folder.error_of("CC_MODE 8 KMIN_MAP 1 100000000000 4 PMAX_MAP 1 100000000000 0.2");
    CHECK(contains(error, "KMAX_MAP: lacks the port rate 100000000000"));
    CHECK(contains(error, "write it with its KB"));
}

TEST_CASE("unit.hpcc.paths_for_data_and_acks") {
    Folder folder;
    folder.write("paths.csv", "src,dst,sport,path\n0,1,10000,0-2-1\n1,0,100,1-2-0\n");
    const HpccImport import = folder.import("CC_MODE 8", folder.path("paths.csv"));
    REQUIRE(import.experiment.paths.size() == 1);
    const Topology& topology = import.experiment.topology;
    // Host 0's port, then the switch's second one; back from host 1's port by its first one.
    CHECK(import.experiment.paths[0].forward ==
          std::vector<PortId>{topology.first_port(0), topology.first_port(2) + 1});
    CHECK(import.experiment.paths[0].reverse ==
          std::vector<PortId>{topology.first_port(1), topology.first_port(2)});
    folder.write("paths.csv", "src,dst,sport,path\n");
    const HpccImport none = folder.import("CC_MODE 8", folder.path("paths.csv"));
    CHECK(none.experiment.paths[0].forward.empty());
    CHECK(noted(none, "1 of 1 flows are not listed"));
}

TEST_CASE("unit.hpcc.marking_of_rates_that_no_port_has_need_not_fit") {
    Folder folder;
    const std::string fits =
        "KMAX_MAP 2 100000000000 400 25000000000 100 PMAX_MAP 1 100000000000 0.2 KMIN_MAP ";
    const HpccImport import =
        folder.import("CC_MODE 8 " + fits + "3 25000000000 25 40000000000 10 100000000000 100");
    REQUIRE(import.experiment.network.ecn.points.size() == 1);
    CHECK(import.experiment.network.ecn.points[0].rate == gigabits_per_second(100));
    CHECK(import.experiment.network.ecn.points[0].kmin == Bytes{100'000});
    CHECK(noted(import, "KMAX_MAP lacks the port rate 40000000000"));
    CHECK(noted(import, "PMAX_MAP lacks the port rate 25000000000"));
    CHECK(noted(import, "no switch port has it"));
    const HpccImport below = folder.import(
        "CC_MODE 8 KMAX_MAP 1 40000000000 1 PMAX_MAP 1 40000000000 1 KMIN_MAP 1 40000000000 2");
    CHECK(below.experiment.network.ecn.points.empty());
    CHECK(noted(below, "KMAX_MAP is below KMIN_MAP at the port rate 40000000000"));
    CHECK(noted(below, "they never mark"));
    // Rates that fit are kept, whoever has them: others are scaled from them.
    const HpccImport other = folder.import(
        "CC_MODE 8 KMAX_MAP 1 25000000000 9 PMAX_MAP 1 25000000000 1 KMIN_MAP 1 25000000000 8");
    CHECK(other.experiment.network.ecn.points.size() == 1);
    CHECK(noted(other, "scaled from the nearest one"));
    CHECK(noted(folder.import("CC_MODE 8 " + fits + "1 25000000000 25"),
                "KMIN_MAP lacks the port rate 100000000000"));
}

TEST_CASE("unit.hpcc.refuses_hostile_configs_with_a_line") {
    Folder folder;
    const struct {
        const char* config;
        const char* message;
    } cases[] = {
        {"CC_MODE", "config.txt:3"},
        {"CC_MODE three", "config.txt:3"},
        {"CC_MODE -1", "config.txt:3"},
        {"CC_MODE 99999999999999999999", "config.txt:3"},
        {"\nU_TARGET nan", "config.txt:4"},
        {"ERROR_RATE_PER_LINK 1.5", "config.txt:3"},
        {"ERROR_RATE_PER_LINK -0.1", "config.txt:3"},
        {"PACKET_PAYLOAD_SIZE 0", "config.txt:3"},
        {"PACKET_PAYLOAD_SIZE 4294967295", "config.txt:3"},
        {"BUFFER_SIZE 0", "config.txt:3"},
        {"MIN_RATE 0Mb/s CC_MODE 8", "MIN_RATE"},
        {"RATE_AI fast", "config.txt:3"},
        {"KMAX_MAP 999999999 1 1", "config.txt:3"},
        {"KMAX_MAP -1", "config.txt:3"},
        {"KMAX_MAP 2 100000000000 400", "config.txt:3"},
        {"CC_MODE 8 KMAX_MAP 1 100000000000 400 KMIN_MAP 1 100000000000 500 PMAX_MAP 1 "
         "100000000000 0.1",
         "KMAX_MAP: is below KMIN_MAP"},
        {"PMAX_MAP 1 100000000000 2", "config.txt:3"},
        {"CC_MODE 1 RP_TIMER 0", "RP_TIMER: must be at least 1 us"},
        {"{never closed", "config.txt:3"},
        {"FCT_OUTPUT_FILE a/ CC_MODE 8", "FCT_OUTPUT_FILE"},
        {"FLOW_FILE nowhere.txt", "config.txt:3: FLOW_FILE: no such file: nowhere.txt"},
        {"TOPOLOGY_FILE /nowhere/t.txt", "config.txt:3: TOPOLOGY_FILE: no such file"},
        {"LINK_DOWN 1 2", "config.txt:3"},
    };
    for (const auto& test : cases) {
        const std::string error = folder.error_of(test.config);
        CHECK_MESSAGE(contains(error, test.message), std::string(test.config), " -> ", error);
    }
    CHECK_THROWS_AS(import_hpcc(folder.path("absent.txt"), "", 0), ConfigError);
    folder.write("empty.txt", "");
    CHECK_THROWS_AS(import_hpcc(folder.path("empty.txt"), "", 0), ConfigError);
}

TEST_CASE("unit.hpcc.more_flows_than_the_count_are_not_read") {
    Folder folder;
    folder.write("flow.txt", "1\n0 1 3 100 5 2.0\n0 1 3 100 5 2.0\n");
    const HpccImport import = folder.import("CC_MODE 8");
    CHECK(import.experiment.flows.size() == 1);
    CHECK(noted(import,
                "flow.txt:3: more flows follow than the 1 that the first line says; not read"));
}

TEST_CASE("unit.hpcc.written_flows_read_back") {
    Folder folder;
    folder.write("flow.txt", "0\n");
    const HpccImport import = folder.import("CC_MODE 8");
    const Topology& topology = import.experiment.topology;
    const Routing routing(topology);
    std::mt19937_64 random(7);
    std::vector<FlowSpec> flows;
    for (int i = 0; i < 20'000; ++i) {
        FlowSpec flow;
        flow.src = static_cast<NodeId>(random() % 2);
        flow.dst = 1 - flow.src;
        flow.size = 1 + static_cast<std::int64_t>(random() % 1'000'000'000'000);
        // Up to 100 s, whole nanoseconds: every one has a decimal that ns-3 reads as that.
        flow.start = static_cast<Tick>(random() % 100'000'000'000) * kNanosecond;
        flow.dport = static_cast<std::uint16_t>(random() % 65536);
        flow.priority = static_cast<std::uint8_t>(1 + random() % 7);
        flows.push_back(flow);
    }
    flows[0].start = 0;
    flows[1].start = 2'001'000'000 * kNanosecond;  // 2.001 s alone would read as 2,000,999,999 ns
    std::vector<std::string> notes;
    const std::vector<FlowSpec> again =
        read_hpcc_flows(TokenReader("again", format_hpcc_flows(flows)), topology, routing, notes);
    std::stable_sort(flows.begin(), flows.end(),
                     [](const FlowSpec& a, const FlowSpec& b) { return a.start < b.start; });
    assign_source_ports(flows);
    REQUIRE(again.size() == flows.size());
    CHECK(notes.empty());
    for (std::size_t i = 0; i < flows.size(); ++i) {
        const bool same = again[i].src == flows[i].src && again[i].dst == flows[i].dst &&
                          again[i].size == flows[i].size && again[i].start == flows[i].start &&
                          again[i].sport == flows[i].sport && again[i].dport == flows[i].dport &&
                          again[i].priority == flows[i].priority;
        CHECK(same);
    }
    // A part of a nanosecond is cut; the shortest text that says the start is written.
    CHECK(format_hpcc_flows({{0, 1, 5, 2 * kSecond + 999, 10000, 100, 3}}) ==
          "1\n0 1 3 100 5 2.000000000\n");
    CHECK(format_hpcc_flows({}) == "0\n");
    CHECK_THROWS_AS(format_hpcc_flows({{0, 1, 5, kNever, 10000, 100, 3}}), InternalError);
}

TEST_CASE("unit.hpcc.check_lists_what_the_files_hold") {
    Folder folder;
    const auto checked = [&](const std::string& config) {
        folder.write("config.txt",
                     "TOPOLOGY_FILE mix/topology.txt\nFLOW_FILE mix/flow.txt\n" + config);
        std::string text = check_hpcc(folder.path("config.txt"), "").text();
        const std::string prefix = folder.path("");
        for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix)) {
            text.erase(at, prefix.size());
        }
        return text;
    };
    const std::string quiet =
        "CC_MODE 8 EWMA_GAIN 0.06 KMAX_MAP 1 100000000000 400 KMIN_MAP 1 100000000000 100 "
        "PMAX_MAP 1 100000000000 0.2\n";
    // The files that the config names under mix/ lie beside it.
    folder.write("trace.txt", "2\n0 77\n");
    CHECK(checked(quiet + "TRACE_FILE mix/trace.txt\n") ==
          "config.txt: read: 8 keys\n"
          "topology.txt:1: read: HPCC header: 2 hosts, 1 switch\n"
          "topology.txt: read: 2 links: 2 nic\n"
          "flow.txt: read: 1 flows, 5000 bytes in all, starting from 2000999999ns to 2000999999ns "
          "(src dst pg dport size start, as of HPCC)\n"
          "trace.txt: read: 1 nodes to trace\n"
          "config.txt: skipped: the binary packet trace (TRACE_OUTPUT_FILE) is not written; "
          "trace.json is\n"
          "5 read, 1 skipped, 0 do not fit\n");
    // A flow that does not fit the topology ends it there; what was read stays listed.
    folder.write("flow.txt", "1\n0 9 3 100 5000 2.001\n");
    CHECK(checked(quiet + "NO_SUCH_KEY\n") ==
          "config.txt: read: 7 keys\n"
          "topology.txt:1: read: HPCC header: 2 hosts, 1 switch\n"
          "topology.txt: read: 2 links: 2 nic\n"
          "flow.txt:2: does not fit: the flow's destination 9 is not a host of the topology\n"
          "config.txt:4: skipped: unknown key NO_SUCH_KEY skipped\n"
          "3 read, 1 skipped, 1 do not fit\n");
    CHECK(contains(checked("CC_MODE 1 RP_TIMER 0\n"),
                   "config.txt:3: does not fit: RP_TIMER: must be at least 1 us"));
    const std::string absent = check_hpcc(folder.path("absent.txt"), "").text();
    CHECK(contains(absent,
                   "absent.txt: does not fit: no such file\n0 read, 0 skipped, 1 do not fit"));
}

TEST_CASE("unit.hpcc.the_simulators_own_example_imports") {
    const fs::path ns3 = reference();
    const fs::path config = ns3.parent_path() / "samples" / "hpcc" / "config.txt";
    if (ns3.empty() || !fs::exists(config)) {
        MESSAGE("skipped: no reference experiments (SLUICE_REFERENCE)");
        return;
    }
    // Its files hold more links and flows than their headers say; ns-3 reads as many as those.
    const HpccImport import = import_hpcc(config.string(), "", 0);
    CHECK(import.experiment.topology.links().size() == 65);
    CHECK(import.experiment.flows.size() == 2);
    CHECK(noted(import, "more flows follow"));
    CHECK(noted(import, "topology.txt:67: 191 more links follow than the 65 that the header says"));
}

TEST_CASE("unit.hpcc.refuses_hostile_flow_and_trace_files_with_a_line") {
    Folder folder;
    const struct {
        const char* text;
        const char* message;
    } cases[] = {
        {"", "flow.txt:1"},
        {"many", "flow.txt:1"},
        {"-1", "flow.txt:1"},
        {"99999999\n0 1 3 100 5 2.0\n", "ends after 1 flows"},
        {"9999999999999999999999\n", "flow.txt:1"},
        {"1\n0 1 3 100", "flow.txt:2: a flow of 4 words"},
        {"2\n0 1 3 100 5 2.0\n0 1 3 100 5\n", "flow.txt:3: the file ends where"},
        {"2\n0 1 3 100 5 2.0\n", "ends after 1 flows, its first line says 2"},
        {"1\n0 2 3 100 5 2.0\n", "destination 2 is not a host"},
        {"1\n7 1 3 100 5 2.0\n", "source 7 is not a host"},
        {"1\n0 0 3 100 5 2.0\n", "to itself"},
        {"1\n0 1 0 100 5 2.0\n", "flow.txt:2"},
        {"1\n0 1 8 100 5 2.0\n", "flow.txt:2"},
        {"1\n0 1 3 70000 5 2.0\n", "flow.txt:2"},
        {"1\n0 1 3 100 0 2.0\n", "flow.txt:2"},
        {"1\n0 1 3 100 -5 2.0\n", "flow.txt:2"},
        {"1\n0 1 3 100 5 -2.0\n", "flow.txt:2"},
        {"1\n0 1 3 100 5 nan\n", "flow.txt:2"},
        {"1\n0 1 3 100 5 1e30\n", "flow.txt:2"},
    };
    for (const auto& test : cases) {
        folder.write("flow.txt", test.text);
        const std::string error = folder.error_of("CC_MODE 8");
        CHECK_MESSAGE(contains(error, test.message), std::string(test.text), " -> ", error);
    }
    folder.write("flow.txt", "0\n");
    CHECK(folder.import("CC_MODE 8").experiment.flows.empty());

    folder.write("trace.txt", "2\n0 77\nnodes to trace");
    const HpccImport import = folder.import("CC_MODE 8 TRACE_FILE trace.txt");
    CHECK(import.traced_nodes == std::vector<NodeId>{0});
    CHECK(noted(import, "binary packet trace"));
    folder.write("trace.txt", "4000000000\n0");
    CHECK(contains(folder.error_of("CC_MODE 8 TRACE_FILE trace.txt"), "trace.txt:2"));
    CHECK(noted(folder.import("CC_MODE 8 TRACE_FILE gone.txt"), "no node is traced"));
}

TEST_CASE("unit.hpcc.refuses_flows_without_a_path") {
    Folder folder;
    folder.write("topology.txt", "4 2 2\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n");
    CHECK(
        contains(folder.error_of("CC_MODE 8"), "flow.txt:2: no path leads from host 0 to host 1"));
}
