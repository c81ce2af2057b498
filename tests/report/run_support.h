// SPDX-License-Identifier: Apache-2.0
/// Folders of runs, for tests of reports.
#pragma once

#include <string>

#include "experiment/build_experiment.h"
#include "experiment/run_to_folder.h"
#include "scenario/scenario.h"
#include "tests/support/test_folder.h"

namespace sluice::test {

/// Runs a scenario in mode flow into `folder`/run.
inline std::string run_of(const TestFolder& folder, const std::string& text) {
    Scenario scenario = parse_scenario(text, "test.toml", {"mode=flow"});
    const BuiltExperiment built = build_experiment(scenario);
    RunRequest request;
    request.mode = Mode::flow;
    request.name = scenario.name;
    request.seed = scenario.seed;
    request.config_json = scenario.effective->json();
    request.directory = folder.file("run");
    run_to_folder(built, request);
    return request.directory;
}

inline const char* const kPermutation =
    "name = \"permutation\"\n[topology]\ntype = \"fat-tree\"\nk = 4\n"
    "[workload]\ntype = \"permutation\"\nsize = \"200KB\"\n";

/// Two hosts at a switch: host 0 has sent 1,000 B to host 1 in 2 us, alone it takes 1 us.
inline std::string small_run(const TestFolder& folder) {
    std::filesystem::create_directories(folder.file("small"));
    folder.write(
        "small/summary.json",
        R"({"scenario": "small", "mode": "packet", "seed": 1, "interrupted": false, "jct_s": 2e-6,
                     "simulated_s": 4e-6, "flows": 1, "flows_completed": 1, "packet_hops": 4,
                     "fct_s": {"mean": 2e-6, "p50": 2e-6, "p99": 2e-6, "max": 2e-6},
                     "config": {"topology": {"type": "star"}, "network": {"load_balance": "ecmp"}}})");
    folder.write("small/ports.csv",
                 "port,node,kind,interface,peer,rate_bps,tx_bytes,tx_packets,utilization,"
                 "max_queue_bytes,ecn_marks,drops,pauses_sent,paused_ps\n"
                 "0,0,host,1,2,100000000000,1090,1,0.5,0,0,0,0,1000000\n"
                 "1,1,host,1,2,100000000000,88,1,0.1,0,0,0,0,0\n"
                 "2,2,switch,1,0,100000000000,88,1,0.1,88,0,0,0,0\n"
                 "3,2,switch,2,1,100000000000,1090,1,0.5,1090,3,0,0,0\n");
    folder.write(
        "small/flows.csv",
        "flow,src,dst,sport,dport,priority,label,size_bytes,start_ps,received_ps,finish_ps,"
        "fct_ps,ideal_ps,slowdown,retransmitted_bytes\n"
        "0,0,1,10000,100,3,demo,1000,1000000,2500000,3000000,2000000,1000000,2.000000,0\n");
    return folder.file("small");
}

}  // namespace sluice::test
