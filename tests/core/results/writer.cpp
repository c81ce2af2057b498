// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/results/run_writer.h"

namespace {

namespace fs = std::filesystem;
using namespace sluice;

/// A folder of its own, removed at the end.
class Scratch {
  public:
    Scratch() {
        static int count = 0;
        path_ = fs::temp_directory_path() /
                ("sluice-results-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
        fs::create_directories(path_);
    }
    ~Scratch() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  private:
    fs::path path_;
};

std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    REQUIRE_MESSAGE(in, path);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Two hosts on one switch, 100 Gb/s, 1 us.
Topology pair_of_hosts() {
    Topology topology;
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::ethernet);
    topology.add_link({0, 2, gigabits_per_second(100), kMicrosecond, 0});
    topology.add_link({1, 2, gigabits_per_second(100), kMicrosecond, 0});
    topology.finish();
    return topology;
}

struct Fixture {
    Topology topology = pair_of_hosts();
    std::vector<FlowSpec> flows;
    RunInfo info;

    Fixture() {
        flows.push_back({0, 1, 1000, kMicrosecond, 10000, 100, 3});
        flows.push_back({0, 1, 2000, kMicrosecond, 10001, 200, 3});
        flows.push_back({1, 0, 4000, 2 * kMicrosecond, 10000, 100, 3});
        info.scenario = "two \"hosts\"";
        info.version = "1.2.3";
        info.seed = 7;
        info.config_json = R"({"a": [1, 2]})";
    }
    RunOutcome outcome() const {
        RunOutcome outcome;
        outcome.counters.packet_hops = 1000;
        outcome.counters.drops = 2;
        outcome.counters.pfc_pauses = 3;
        outcome.counters.ecn_marks = 4;
        outcome.counters.events = 5;
        outcome.ports.resize(topology.port_count());
        outcome.ports[0].tx_bytes = 25'000;
        outcome.simulated = 5 * kMicrosecond;
        outcome.user_s = 0.5;
        outcome.wall_s = 1;
        return outcome;
    }
    FlowRecord record(FlowId id, Tick start, Tick finish) const {
        FlowRecord record{id, flows.at(id), {}};
        record.result.start = start;
        record.result.received = finish - kNanosecond;
        record.result.finish = finish;
        return record;
    }
};

}  // namespace

TEST_CASE("unit.results.flows_csv_holds_rows_in_completion_order") {
    const Scratch scratch;
    Fixture f;
    RunWriter writer(scratch / "run", f.info, f.topology, f.flows);
    writer.flow_finished(f.record(1, 1'000'000, 4'000'000), 2'000'000, "dp,\"x\"");
    writer.flow_finished(f.record(0, 1'000'000, 5'000'000), 0, "");
    writer.finish(f.outcome());
    // Slowdown 3 us / 2 us = 1.5; without an ideal both columns stay empty.
    CHECK(read(scratch / "run/flows.csv") ==
          "flow,src,dst,sport,dport,priority,label,size_bytes,start_ps,received_ps,finish_ps,"
          "fct_ps,ideal_ps,slowdown,retransmitted_bytes\n"
          "1,0,1,10001,200,3,\"dp,\"\"x\"\"\",2000,1000000,3999000,4000000,3000000,2000000,"
          "1.500000,0\n"
          "0,0,1,10000,100,3,,1000,1000000,4999000,5000000,4000000,,,0\n");
}

TEST_CASE("unit.results.ports_csv_counts_utilization_from_the_first_start") {
    const Scratch scratch;
    Fixture f;
    RunWriter writer(scratch / "run", f.info, f.topology, f.flows);
    writer.finish(f.outcome());
    const std::string ports = read(scratch / "run/ports.csv");
    // Port 0 is host 0's: 25,000 B = 200,000 bits in the 4 us from 1 us to 5 us; 100 Gb/s would
    // have carried 400,000.
    CHECK(ports.find("\n0,0,host,1,2,100000000000,25000,0,0.500000,0,0,0,0,0\n") !=
          std::string::npos);
    // Port 2 and 3 are the switch's, in the order of its links.
    CHECK(ports.find("\n3,2,switch,2,1,") != std::string::npos);

    // Beside a job, whose flows have no planned start, time counts from 0: 5 us.
    f.flows.push_back({0, 1, 1000, kNever, 10002, 100, 3});
    RunWriter beside_a_job(scratch / "job", f.info, f.topology, f.flows);
    beside_a_job.finish(f.outcome());
    CHECK(read(scratch / "job/ports.csv").find(",25000,0,0.400000,") != std::string::npos);
}

TEST_CASE("unit.results.summary_has_every_key_and_nearest_rank_percentiles") {
    const Scratch scratch;
    Fixture f;
    RunWriter writer(scratch / "run", f.info, f.topology, f.flows);
    writer.flow_finished(f.record(0, 1'000'000, 4'000'000), 0, "");
    writer.flow_finished(f.record(1, 1'000'000, 5'000'000), 0, "");
    writer.finish(f.outcome());
    const auto json = nlohmann::json::parse(read(scratch / "run/summary.json"));
    for (const char* key : {"mode",           "scenario",        "seed",   "jct_s",
                            "flows",          "flows_completed", "bytes",  "packet_hops",
                            "events",         "wall_s",          "user_s", "packet_hops_per_s",
                            "peak_rss_bytes", "fct_s",           "drops",  "pfc_pauses",
                            "ecn_marks",      "version",         "config", "elaboration_s",
                            "interrupted"}) {
        CHECK_MESSAGE(json.contains(key), key);
    }
    CHECK(json["scenario"] == "two \"hosts\"");
    CHECK(json["flows"] == 3);
    CHECK(json["flows_completed"] == 2);
    CHECK(json["bytes"] == 7000);            // 1000 + 2000 + 4000
    CHECK(json["bytes_completed"] == 3000);  // 1000 + 2000
    CHECK(json["jct_s"] == 4e-6);            // 1 us to 5 us
    CHECK(json["fct_s"]["mean"] == doctest::Approx(3.5e-6));
    CHECK(json["fct_s"]["p50"] == 3e-6);  // rank ceil(0.5 x 2) = 1
    CHECK(json["fct_s"]["p99"] == 4e-6);  // rank ceil(0.99 x 2) = 2
    CHECK(json["fct_s"]["max"] == 4e-6);
    CHECK(json["packet_hops_per_s"] == 2000);  // 1000 hops in 0.5 user seconds
    CHECK(json["config"]["a"][1] == 2);
    CHECK(json["interrupted"] == false);
}

TEST_CASE("unit.results.speed_is_of_executed_hops") {
    const Scratch scratch;
    Fixture f;
    RunWriter writer(scratch / "run", f.info, f.topology, f.flows);
    RunOutcome outcome = f.outcome();
    outcome.counters.fold.hops = 400;
    outcome.counters.fold.images = 1;
    writer.finish(outcome);
    const auto json = nlohmann::json::parse(read(scratch / "run/summary.json"));
    CHECK(json["packet_hops"] == 1000);
    CHECK(json["fold"]["hops"] == 400);
    CHECK(json["packet_hops_per_s"] == 1200);  // in 0.5 user seconds
}

TEST_CASE("unit.results.summary_without_a_finished_flow_says_null") {
    const Scratch scratch;
    Fixture f;
    RunWriter writer(scratch / "run", f.info, f.topology, f.flows);
    RunOutcome outcome = f.outcome();
    outcome.interrupted = true;
    writer.finish(outcome);
    const auto json = nlohmann::json::parse(read(scratch / "run/summary.json"));
    CHECK(json["jct_s"].is_null());
    CHECK(json["fct_s"]["max"].is_null());
    CHECK(json["interrupted"] == true);
}

TEST_CASE("unit.results.names_appear_only_when_the_run_is_over") {
    const Scratch scratch;
    Fixture f;
    RunWriter writer(scratch / "run", f.info, f.topology, f.flows, {"flows", "trace", "fct"});
    OutputFile& extra = writer.add_file("pfc.txt");
    extra << "1 2 3\n";
    writer.flow_finished(f.record(0, 0, 4'000'000), 2'000'000, "");
    for (const char* name : {"flows.csv", "collectives.csv", "ports.csv", "summary.json",
                             "trace.json", "fct.txt", "pfc.txt"}) {
        CHECK_MESSAGE(!fs::exists(scratch / ("run/" + std::string(name))), name);
        CHECK_MESSAGE(fs::exists(scratch / ("run/" + std::string(name) + ".partial")), name);
    }
    writer.finish(f.outcome());
    for (const char* name : {"flows.csv", "collectives.csv", "ports.csv", "summary.json",
                             "trace.json", "fct.txt", "pfc.txt"}) {
        CHECK_MESSAGE(fs::exists(scratch / ("run/" + std::string(name))), name);
        CHECK_MESSAGE(!fs::exists(scratch / ("run/" + std::string(name) + ".partial")), name);
    }
    CHECK(read(scratch / "run/pfc.txt") == "1 2 3\n");
    // 0b000001 = 11.0.0.1; FCT 4000 ns, ideal 2000 ns.
    CHECK(read(scratch / "run/fct.txt") == "0b000001 0b000101 10000 100 1000 0 4000 2000\n");
}

TEST_CASE("unit.results.a_second_run_replaces_the_first") {
    const Scratch scratch;
    Fixture f;
    for (int run = 0; run < 2; ++run) {
        RunWriter writer(scratch / "run", f.info, f.topology, f.flows);
        writer.flow_finished(f.record(static_cast<FlowId>(run), 0, 4'000'000), 0, "");
        writer.finish(f.outcome());
    }
    CHECK(read(scratch / "run/flows.csv").find("\n1,0,1,") != std::string::npos);
    CHECK(read(scratch / "run/flows.csv").find("\n0,0,1,") == std::string::npos);
}

TEST_CASE("unit.results.abandoned_without_results_leaves_nothing") {
    const Scratch scratch;
    Fixture f;
    {
        RunWriter writer(scratch / "outer/run", f.info, f.topology, f.flows);
        CHECK(fs::exists(scratch / "outer/run/flows.csv.partial"));
    }
    CHECK(!fs::exists(scratch / "outer"));
}

TEST_CASE("unit.results.abandoned_with_results_keeps_them") {
    const Scratch scratch;
    Fixture f;
    {
        RunWriter writer(scratch / "run", f.info, f.topology, f.flows);
        writer.flow_finished(f.record(0, 0, 4'000'000), 0, "");
    }
    CHECK(read(scratch / "run/flows.csv.partial").find("\n0,0,1,") != std::string::npos);
    CHECK(!fs::exists(scratch / "run/collectives.csv.partial"));
    CHECK(!fs::exists(scratch / "run/flows.csv"));
}

TEST_CASE("unit.results.refuses_folders_that_cannot_hold_results") {
    const Scratch scratch;
    Fixture f;
    const auto open = [&](const std::string& folder) {
        RunWriter writer(folder, f.info, f.topology, f.flows);
    };
    std::ofstream(scratch / "file") << "x";
    CHECK_THROWS_AS(open(scratch / "file"), ConfigError);
    CHECK_THROWS_AS(open(scratch / "file/below"), ConfigError);
    CHECK_THROWS_AS(open(""), ConfigError);
    CHECK_THROWS_AS(open("/proc/sluice"), ConfigError);
    CHECK(read(scratch / "file") == "x");
}

TEST_CASE("unit.results.refuses_two_runs_in_one_folder") {
    const Scratch scratch;
    Fixture f;
    RunWriter first(scratch / "run", f.info, f.topology, f.flows);
    first.flow_finished(f.record(0, 0, 4'000'000), 0, "");
    CHECK_THROWS_AS(RunWriter(scratch / "run", f.info, f.topology, f.flows), ConfigError);
    first.finish(f.outcome());
    CHECK(read(scratch / "run/flows.csv").find("\n0,0,1,") != std::string::npos);
}

TEST_CASE("unit.results.refuses_output_names_that_leave_the_folder_or_collide") {
    const Scratch scratch;
    Fixture f;
    RunWriter writer(scratch / "run", f.info, f.topology, f.flows);
    for (const char* name : {"", ".", "..", "a/b", "/etc/x", "flows.csv", "trace.json"}) {
        CHECK_THROWS_AS(writer.add_file(name), ConfigError);
    }
    writer.add_file("fct.txt");
    CHECK_THROWS_AS(writer.add_file("fct.txt"), ConfigError);
}

TEST_CASE("unit.results.same_calls_give_same_bytes") {
    const Scratch scratch;
    Fixture f;
    for (const char* folder : {"a", "b"}) {
        RunWriter writer(scratch / folder, f.info, f.topology, f.flows, {"flows", "trace", "fct"});
        writer.span({0, TraceLane::compute, "forward 0", 0, 1'000'000});
        writer.flow_finished(f.record(2, 2'000'000, 4'000'000), 2'000'000, "dp");
        writer.collective_finished({"job", 1, "all_gather", "dp0", 4, 4000, 2, 0, 4'000'000});
        writer.finish(f.outcome());
    }
    for (const char* name :
         {"flows.csv", "collectives.csv", "ports.csv", "trace.json", "fct.txt"}) {
        CHECK_MESSAGE(read(scratch / ("a/" + std::string(name))) ==
                          read(scratch / ("b/" + std::string(name))),
                      name);
    }
    CHECK(read(scratch / "a/collectives.csv") ==
          "job,collective,kind,group,ranks,flows,bytes,start_ps,finish_ps,duration_ps\n"
          "job,1,all_gather,dp0,4,2,4000,0,4000000,4000000\n");
}

TEST_CASE("unit.results.optional_outputs_are_written_where_they_are_wanted") {
    const Scratch scratch;
    Fixture f;
    std::set<std::string> names;
    for (const OutputType& type : output_types()) CHECK(names.insert(type.name).second);
    CHECK(usual_outputs() == std::vector<std::string>{"flows", "trace"});
    RunWriter none(scratch / "none", f.info, f.topology, f.flows, {});
    CHECK_FALSE(none.wants_spans());
    none.finish(f.outcome());
    RunWriter usual(scratch / "usual", f.info, f.topology, f.flows);
    CHECK(usual.wants_spans());
    usual.finish(f.outcome());
    for (const OutputType& type : output_types()) {
        const bool hybrid = std::string(type.name) == "phases.csv";
        CHECK_MESSAGE(fs::exists(scratch / ("none/" + std::string(type.name))) ==
                          (type.key == nullptr && !hybrid),
                      type.name);
        CHECK_MESSAGE(
            fs::exists(scratch / ("usual/" + std::string(type.name))) == (type.usual && !hybrid),
            type.name);
    }
}
