// SPDX-License-Identifier: Apache-2.0
/// What differs by mode in a run's folder: phases in hybrid mode, no packets in flow mode.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/results/run_writer.h"

using namespace sluice;

namespace {

namespace fs = std::filesystem;

struct Fixture {
    fs::path folder =
        fs::temp_directory_path() / ("sluice-results-phases-" + std::to_string(::getpid()));
    Topology topology;
    std::vector<FlowSpec> flows;
    RunInfo info;

    explicit Fixture(Mode mode) {
        fs::remove_all(folder);
        topology.add_node(NodeKind::host);
        topology.add_node(NodeKind::host);
        Link link;
        link.a = 0;
        link.b = 1;
        link.rate = gigabits_per_second(100);
        link.delay = kMicrosecond;
        topology.add_link(link);
        topology.finish();
        flows.push_back({0, 1, 1000, 0, 10000, 100, 3});
        info.mode = mode;
    }
    ~Fixture() { fs::remove_all(folder); }

    std::string read(const std::string& name) const {
        std::ifstream in(folder / name, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }
    RunOutcome outcome() const {
        RunOutcome outcome;
        outcome.ports.resize(topology.port_count());
        outcome.ports[0].tx_bytes = 1000;
        outcome.ports[0].tx_packets = 1;
        outcome.simulated = 8 * kMicrosecond;
        return outcome;
    }
};

FlowResult finished_at(Tick finish) {
    FlowResult result;
    result.start = 0;
    result.received = finish - kNanosecond;
    result.finish = finish;
    return result;
}

}  // namespace

TEST_CASE("unit.results.phases_csv_has_a_row_per_phase_as_they_end") {
    Fixture f(Mode::hybrid);
    RunWriter writer(f.folder.string(), f.info, f.topology, f.flows);
    writer.phase({3, Phase::unsteady, 0, 2'000'000, PhaseEnd::steady_found, 4, 0, 0});
    writer.phase({3, Phase::steady, 2'000'000, 5'000'000, PhaseEnd::cap, 4, 150'000, 620});
    CHECK(fs::exists(f.folder / "phases.csv.partial"));
    writer.finish(f.outcome());
    CHECK(!fs::exists(f.folder / "phases.csv.partial"));
    CHECK(f.read("phases.csv") ==
          "partition,phase,start_ps,end_ps,ended_by,flows,bytes_skipped,hops_saved\n"
          "3,unsteady,0,2000000,steady found,4,0,0\n"
          "3,steady,2000000,5000000,cap,4,150000,620\n");
}

TEST_CASE("unit.results.phases_are_tracks_of_the_timeline_by_partition") {
    Fixture f(Mode::hybrid);
    RunWriter writer(f.folder.string(), f.info, f.topology, f.flows);
    for (std::uint32_t partition : {0U, 1U, 63U, 64U}) {
        writer.phase({partition, Phase::unsteady, 0, 1'000'000, PhaseEnd::steady_found, 2, 0, 0});
        writer.phase(
            {partition, Phase::steady, 1'000'000, 4'000'000, PhaseEnd::flow_entered, 2, 9000, 5});
    }
    writer.finish(f.outcome());
    std::set<std::string> tracks;
    std::size_t steady = 0;
    // Two nodes: their processes are 0 and 1, the collectives' is 2, the phases' 3.
    for (const auto& event : nlohmann::json::parse(f.read("trace.json"))) {
        if (event["name"] == "process_name") {
            CHECK(event["pid"] == 3);
            CHECK(event["args"]["name"] == "phases");
        }
        if (event["name"] == "thread_name") tracks.insert(event["args"]["name"]);
        if (event["ph"] == "X" && event["name"] == "steady") {
            ++steady;
            CHECK(event["ts"] == 1);
            CHECK(event["dur"] == 3);
            CHECK(event["args"]["bytes"] == 9000);
            CHECK(event["args"]["ended_by"] == "flow entered");
        }
    }
    // 64 partitions have a track, ids 0 to 63.
    CHECK(tracks == std::set<std::string>{"partition 0", "partition 1", "partition 63"});
    CHECK(steady == 3);
}

TEST_CASE("unit.results.every_end_of_a_phase_has_a_name_of_its_own") {
    std::set<std::string> names;
    for (int end = 0; end <= static_cast<int>(PhaseEnd::run_end); ++end) {
        names.insert(phase_end_name(static_cast<PhaseEnd>(end)));
    }
    CHECK(names.size() == 9);
    CHECK(std::string(phase_name(Phase::steady)) == "steady");
    CHECK(std::string(phase_name(Phase::unsteady)) == "unsteady");
}

TEST_CASE("unit.results.hybrid_summary_says_what_was_skipped") {
    Fixture f(Mode::hybrid);
    RunWriter writer(f.folder.string(), f.info, f.topology, f.flows);
    RunOutcome outcome = f.outcome();
    PhaseCounters& phases = outcome.counters.phases;
    phases.hops_saved = 5'000'000'000;
    phases.bytes_skipped = 7;
    phases.skips = 11;
    phases.skip_backs = 2;
    phases.most_partitions = 64;
    phases.largest_partition = 16;
    phases.flow_s = 4;
    phases.steady_flow_s = 3;
    phases.restoration = {40, 30, 20, 10, 9};
    writer.finish(outcome);
    const auto json = nlohmann::json::parse(f.read("summary.json"));
    CHECK(json["mode"] == "hybrid");
    CHECK(json["hops_saved"] == 5'000'000'000);
    CHECK(json["bytes_skipped"] == 7);
    CHECK(json["skips"] == 11);
    CHECK(json["skip_backs"] == 2);
    CHECK(json["partitions"]["most"] == 64);
    CHECK(json["partitions"]["largest"] == 16);
    CHECK(json["steady_share"] == 0.75);  // 3 of 4 flow-seconds
    CHECK(json["restored_queues"] == nlohmann::json({{"ports", 40},
                                                     {"asked", 30},
                                                     {"moved", 20},
                                                     {"packets_placed", 10},
                                                     {"packets_taken_out", 9}}));
}

TEST_CASE("unit.results.packet_mode_has_no_phases") {
    Fixture f(Mode::packet);
    RunWriter writer(f.folder.string(), f.info, f.topology, f.flows);
    CHECK_THROWS_AS(writer.phase({}), InternalError);
    writer.finish(f.outcome());
    CHECK(!fs::exists(f.folder / "phases.csv"));
    const auto json = nlohmann::json::parse(f.read("summary.json"));
    for (const char* key : {"skips", "hops_saved", "steady_share", "partitions"}) {
        CHECK_MESSAGE(!json.contains(key), key);
    }
    CHECK(json.contains("packet_hops"));
}

TEST_CASE("unit.results.flow_mode_leaves_out_what_only_packets_have") {
    Fixture f(Mode::flow);
    RunWriter writer(f.folder.string(), f.info, f.topology, f.flows);
    writer.flow_finished({0, f.flows[0], finished_at(8'000'000)}, 4'000'000, "dp");
    writer.finish(f.outcome());
    const auto json = nlohmann::json::parse(f.read("summary.json"));
    for (const char* key : {"packet_hops", "packet_hops_per_s", "windows", "drops", "pfc_pauses",
                            "ecn_marks", "retransmitted_bytes", "skips"}) {
        CHECK_MESSAGE(!json.contains(key), key);
    }
    CHECK(json["mode"] == "flow");
    CHECK(json["flows_completed"] == 1);
    CHECK(f.read("flows.csv")
              .find("\n0,0,1,10000,100,3,dp,1000,0,7999000,8000000,8000000,"
                    "4000000,2.000000,\n") != std::string::npos);
    // 1000 B in 8 us of 100 Gb/s: 8,000 of 800,000 bits.
    CHECK(f.read("ports.csv").find("\n0,0,host,1,1,100000000000,1000,1,0.010000,,,,,\n") !=
          std::string::npos);
}
