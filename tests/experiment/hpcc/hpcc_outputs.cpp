// SPDX-License-Identifier: Apache-2.0
// Whole runs: SystemC elaborates once per process, so each case runs in a process of its own.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "experiment/hpcc/hpcc_outputs.h"

namespace {

namespace fs = std::filesystem;
using namespace sluice;

/// Two hosts on either side of two switches, three links of 100 Gb/s and 1 us between them.
class Experiment2x2 {
  public:
    explicit Experiment2x2(const std::string& flows, const std::string& config) {
        path_ = fs::temp_directory_path() / ("sluice-hpcc-run-" + std::to_string(::getpid()));
        fs::create_directories(path_);
        write("topology.txt",
              "6 2 5\n4 5\n0 4 100Gbps 0.001ms 0\n1 4 100Gbps 0.001ms 0\n4 5 100Gbps 0.001ms 0\n"
              "5 2 100Gbps 0.001ms 0\n5 3 100Gbps 0.001ms 0\n");
        write("flow.txt", flows);
        write("config.txt",
              "TOPOLOGY_FILE topology.txt FLOW_FILE flow.txt CC_MODE 8 EWMA_GAIN 0.0625\n"
              "DCTCP_RATE_AI 615Mb/s MIN_RATE 1000Mb/s VAR_WIN 1 L2_CHUNK_SIZE 4000\n"
              "KMAX_MAP 1 100000000000 300 KMIN_MAP 1 100000000000 300\n"
              "PMAX_MAP 1 100000000000 1.0 ENABLE_TRACE 0 FCT_OUTPUT_FILE mix/fct_x.txt\n" +
                  config);
        request_.directory = (path_ / "out").string();
    }
    ~Experiment2x2() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    HpccRequest& request() { return request_; }
    int run() const {
        return run_hpcc(import_hpcc((path_ / "config.txt").string(), "", 0), request_).exit_code();
    }
    std::string output(const std::string& name) const {
        std::ifstream in(path_ / "out" / name, std::ios::binary);
        REQUIRE_MESSAGE(in, name);
        return {std::istreambuf_iterator<char>(in), {}};
    }

  private:
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
    }
    fs::path path_;
    HpccRequest request_;
};

}  // namespace

TEST_CASE("unit.hpcc.run_gives_the_times_of_ns3_for_lone_flows") {
    // The reference's own answers (DCTCP, idle path of three links): 1 B in 6021 ns, 1001 B in
    // 6265 ns. Standalone: base round trip 6000 + 3 x 80 ns, and (1 + 48) B x 0.08 = 3.92 ns or
    // (1001 + 2 x 48) B x 0.08 = 87.76 ns, truncated.
    Experiment2x2 experiment("2\n0 2 3 100 1001 2.04\n0 2 3 100 1 2.0\n", "");
    CHECK(experiment.run() == 0);
    CHECK(experiment.output("fct_x.txt") ==
          "0b000001 0b000201 10000 100 1 2000000000 6021 6243\n"
          "0b000001 0b000201 10001 100 1001 2040000000 6265 6327\n");
    CHECK(experiment.output("pfc.txt").empty());
    const auto summary = nlohmann::json::parse(experiment.output("summary.json"));
    CHECK(summary["flows_completed"] == 2);
    CHECK(summary["config"]["CC_MODE"] == 8);
    // Three data packets over three links, and an ACK for each back.
    CHECK(summary["packet_hops"] == 18);
}

TEST_CASE("unit.hpcc.run_writes_queue_histograms_until_the_monitor_ends") {
    Experiment2x2 experiment("1\n0 2 3 100 1000 2.0\n",
                             "QLEN_MON_FILE q.txt QLEN_MON_START 2000000000 "
                             "QLEN_MON_END 2100000000\n");
    CHECK(experiment.run() == 0);
    // One packet never queues behind another; it may be seen in the port while it leaves, so the
    // totals are what is certain: 1,000,001 samples by 2.1 s.
    const std::string text = experiment.output("q.txt");
    CHECK(text.find("time: 2000000000\n4 1 1\n4 2 1\n4 3 1\n5 1 1\n5 2 1\n5 3 1\n"
                    "time: 2100000000\n4 1 1000001\n4 2 1000001\n") == 0);
}

TEST_CASE("unit.hpcc.run_that_is_stopped_keeps_what_finished") {
    Experiment2x2 experiment("2\n0 2 3 100 1000 2.0\n1 3 3 100 100000000 2.001\n", "");
    experiment.request().go_on = [](const RunPosition& at) {
        CHECK(at.run.results().size() == 2);
        return at.flows_finished == 0;
    };
    CHECK(experiment.run() == 130);
    CHECK(experiment.output("fct_x.txt") ==
          "0b000001 0b000201 10000 100 1000 2000000000 6261 6323\n");
    CHECK(nlohmann::json::parse(experiment.output("summary.json"))["interrupted"] == true);
}

TEST_CASE("unit.hpcc.run_at_rest_before_the_stop_time_has_work_left") {
    // The one cable between the switches fails 10 us after the flow of 1 MB, 80 us long, began.
    Experiment2x2 experiment("1\n0 2 3 100 1000000 2.0\n",
                             "SIMULATOR_STOP_TIME 4.0 LINK_DOWN 10 4 5\n");
    CHECK(experiment.run() == 3);
    CHECK(nlohmann::json::parse(experiment.output("summary.json"))["flows_completed"] == 0);
}

TEST_CASE("unit.hpcc.run_stops_at_the_stop_time") {
    Experiment2x2 experiment("2\n0 2 3 100 1000 2.0\n0 2 3 100 1000 2.5\n",
                             "SIMULATOR_STOP_TIME 2.4\n");
    CHECK(experiment.run() == 0);
    const auto summary = nlohmann::json::parse(experiment.output("summary.json"));
    CHECK(summary["flows_completed"] == 1);
    CHECK(summary["interrupted"] == false);
}
