// SPDX-License-Identifier: Apache-2.0
/// A run's pages: their figures are those of its files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "report/answers.h"
#include "report/paths.h"
#include "report/run_report.h"
#include "report/time_parts.h"
#include "tests/report/run_support.h"
#include "tests/support/error_of.h"

using namespace sluice;
using namespace sluice::test;
using report::Json;

TEST_CASE("unit.report.figures_are_those_of_the_summary") {
    const TestFolder folder;
    const Json page = report::run_report(run_of(folder, kPermutation));
    const Json summary = report::read_json(folder.file("run/summary.json"));
    CHECK(page["summary"] == summary);
    const Json& all = page["flows"]["classes"][0];
    CHECK(all["flows"] == summary["flows_completed"]);
    CHECK(all["bytes"] == summary["bytes_completed"]);
    for (const char* figure : {"mean", "p50", "p99", "max"}) {
        CAPTURE(figure);
        CHECK(all["fct"][figure].get<double>() ==
              doctest::Approx(summary["fct_s"][figure].get<double>()).epsilon(1e-12));
    }
    // Every byte that flows sent is in the rate over time.
    double bits = 0;
    const Json& activity = page["flows"]["activity"];
    for (const Json& rate : activity["rate"]) {
        bits += rate.get<double>() * activity["step"].get<double>();
    }
    CHECK(bits / 8 == doctest::Approx(summary["bytes_completed"].get<double>()).epsilon(1e-6));
}

TEST_CASE("unit.report.links_are_those_of_ports_csv") {
    const TestFolder folder;
    const Json page = report::run_report(small_run(folder));
    const Json& links = page["network"]["links"];
    CHECK(links["from"] == Json({0, 1, 2, 2}));
    CHECK(links["to"] == Json({2, 2, 0, 1}));
    CHECK(links["bytes"] == Json({1090, 88, 88, 1090}));
    CHECK(links["use"] == Json({0.5, 0.1, 0.1, 0.5}));
    CHECK(links["queue"] == Json({0, 0, 88, 1090}));
    CHECK(links["marks"] == Json({0, 0, 0, 3}));
    CHECK(links["paused"] == Json({1e-6, 0.0, 0.0, 0.0}));
    CHECK(links["flows"] == Json({1, 0, 0, 1}));
    CHECK(page["network"]["hottest"][0] == 3);
    // 1,090 B in 2 us on 100 Gb/s: 4.36% of the link, from 1 to 3 us of 4.
    const Json& series = page["network"]["series"];
    CHECK_FALSE(series["measured"].get<bool>());
    CHECK(series["whole"].get<bool>());
    CHECK(series["ports"]["3"]["use"][39] == 0.0);
    CHECK(series["ports"]["3"]["use"][40] == 0.0436);
    CHECK(series["ports"]["3"]["use"][119] == 0.0436);
    CHECK(series["ports"]["3"]["use"][120] == 0.0);
    CHECK(series["ports"]["3"]["peak"] == 0.0436);
    CHECK(page["flows"]["listed"][0]["path"] == Json({0, 3}));
    CHECK(page["flows"]["listed"][0]["slowdown"] == 2.0);
}

TEST_CASE("unit.report.answers_have_figures") {
    const TestFolder folder;
    const Json answers = report::run_report(small_run(folder))["answers"];
    CHECK(answers["bound"] ==
          "The last flow bounds the run: flow 0 from host 0 to host 1 ends at 3 us, 2.0 times its "
          "time "
          "in an idle network. The busiest link on its path is host0 to leaf0, 50% busy over the "
          "run.");
    CHECK(answers["hot"] ==
          "The hottest links are all 2 nic links, alike in their busier direction (within 5%): 50% "
          "busy over the run, 4.4% in the busiest 25 ns (estimated). The longest queue was 1.09 "
          "kB, at leaf0 to host1. The longest paused was host0 to "
          "leaf0, 1 us.");
    CHECK(answers["flows"] ==
          "Half of the 1 flows finish within 2 us, 99% within 2 us; the longest takes 2 us. "
          "Against an "
          "idle network they take 2.00 times as long on average, 2.00 times at p99.");
    CHECK(answers["trust"] ==
          "Every packet was simulated: 4 packet-hops, none copied or replaced by equations. Spread "
          "from chance: not measured (one run, seed 1).");
}

TEST_CASE("unit.report.what_a_run_says_nothing_of_is_listed") {
    const TestFolder folder;
    const auto unknown = report::run_report(small_run(folder))["trust"]["unknown"];
    REQUIRE(unknown.size() == 2);
    CHECK(unknown[0].get<std::string>().rfind("Chance: this is one run, with seed 1.", 0) == 0);
    CHECK(unknown[1].get<std::string>().rfind("Hardware: ", 0) == 0);
}

TEST_CASE("unit.report.estimated_loads_add_up_to_the_bytes_carried") {
    const TestFolder folder;
    const Json page = report::run_report(run_of(folder, kPermutation));
    const Json& network = page["network"];
    const Json& series = network["series"];
    REQUIRE_FALSE(series["measured"].get<bool>());
    const Json& links = network["links"];
    std::size_t checked = 0;
    for (std::size_t i = 0; i < links["port"].size(); ++i) {
        const std::string port = std::to_string(links["port"][i].get<PortId>());
        CAPTURE(port);
        const double carried = links["bytes"][i].get<double>();
        if (carried <= 0) continue;
        const double full = links["rate"][i].get<double>() / 8 * series["step"].get<double>();
        double bytes = 0;
        double peak = 0;
        for (const Json& use : series["ports"][port]["use"]) {
            bytes += use.get<double>() * full;
            peak = std::max(peak, use.get<double>());
        }
        CHECK(peak <= 1.0);
        CHECK(series["ports"][port]["peak"] == peak);
        // Each of the 160 steps is rounded to 0.01% of the line.
        CHECK(std::abs(bytes - carried) <= 160 * 0.5e-4 * full);
        ++checked;
    }
    CHECK(checked > 32);
}

TEST_CASE("unit.report.what_mean_rates_put_above_the_line_lies_beside_it") {
    const TestFolder folder;
    const std::string run = small_run(folder);
    // 30,000 B from 0 to 4 us and 10,000 B within 1 us of that: at mean rates 140% of 100 Gb/s, but 83% over all.
    folder.write(
        "small/flows.csv",
        "flow,src,dst,sport,dport,priority,label,size_bytes,start_ps,received_ps,finish_ps,"
        "fct_ps,ideal_ps,slowdown,retransmitted_bytes\n"
        "1,0,1,10001,100,3,demo,10000,1000000,1900000,2000000,1000000,1000000,1.000000,0\n"
        "0,0,1,10000,100,3,demo,30000,0,3900000,4000000,4000000,1000000,4.000000,0\n");
    std::string ports = read_bytes(folder.file("small/ports.csv"));
    ports.replace(ports.rfind(",1090,1,"), 8, ",41600,1,");
    ports.replace(ports.find(",1090,1,"), 8, ",41600,1,");
    folder.write("small/ports.csv", ports);
    std::string summary = read_bytes(folder.file("small/summary.json"));
    summary.replace(summary.find("\"flows_completed\": 1"), 20, "\"flows_completed\": 2");
    folder.write("small/summary.json", summary);
    const Json use = report::run_report(run)["network"]["series"]["ports"]["3"]["use"];
    double sum = 0;
    for (std::size_t i = 0; i < use.size(); ++i) {
        CHECK(use[i].get<double>() <= 1.0);
        sum += use[i].get<double>();
    }
    CHECK(sum / static_cast<double>(use.size()) ==
          doctest::Approx(41'600 / 50'000.0).epsilon(1e-3));
    CHECK(use[60] == 1.0);
    // What was too much lies next to it.
    CHECK(use[39] == 1.0);
    CHECK(use[81] == 1.0);
    CHECK(use[5].get<double>() < 0.7);
}

TEST_CASE("unit.report.parts_of_a_job_say_what_they_rest_on") {
    report::RunFiles run;
    run.summary = Json::parse(
        R"({"mode": "flow", "config": {"workload": {"compute": "flops"}}, "jobs": [{"name": "job", "jct_s": 1.0,
            "critical_path_s": {"compute": 0.5, "DP over leaf-spine": 0.25, "TP inside servers": 0.2, "DP software": 0.05}}]})");
    const auto parts = report::time_parts(run, run.summary["jobs"][0]);
    REQUIRE(parts.size() == 4);
    CHECK(parts[0].label == "computation");
    CHECK(parts[0].share == doctest::Approx(0.5));
    CHECK(parts[1].label == "DP flows across leaf-spine links");
    CHECK(parts[1].basis == "flow model: fair shares of links, no queues");
    CHECK(parts[2].label == "TP inside servers");
    CHECK(parts[3].label == "DP software around collectives");
    CHECK(report::share_of(parts, report::PartKind::network) == doctest::Approx(0.25));
    CHECK(report::bound_answer(run, {}) ==
          "Computation bounds the iteration: 500 ms of its 1 s, 50% of the critical path. "
          "Communication is the other 50%: mainly DP (250 ms, 25%) "
          "and TP inside servers (200 ms, 20%).");
    const Json trust = {
        {"hops", nullptr}, {"audit", nullptr}, {"replicas", nullptr}, {"random", false}};
    CHECK(
        report::trust_answer(run, trust) ==
        "No packet was simulated: mode flow shares links by max-min fairness, without queues. Its "
        "error was not measured: no run in mode packet is beside it. 25% of the critical path "
        "(250 ms) depends on the simulated network; the rest is computation (50%), communication "
        "inside "
        "servers (20%) and software (5.0%), taken from the scenario. Nothing in this run is "
        "random.");
}

TEST_CASE("unit.report.commands_measure_what_a_run_leaves_open") {
    const TestFolder folder;
    const std::string run = small_run(folder);
    const auto commands = [&] { return report::run_report(run + "/")["trust"]["commands"]; };
    REQUIRE(commands().size() == 1);
    CHECK(commands()[0]["command"] == "sluice run SCENARIO.toml --mode packet --replicas 8 --out " +
                                          run + "-replicas &&\nsluice report " + run +
                                          "-replicas -o " + run + "-replicas.html");
    std::string summary = read_bytes(folder.file("small/summary.json"));
    summary.replace(summary.find("\"packet\""), 8, "\"flow\"");
    folder.write("small/summary.json", summary);
    REQUIRE(commands().size() == 2);
    CHECK(commands()[0]["command"] == "sluice run SCENARIO.toml --mode packet --out " + run +
                                          "-packet &&\nsluice report " + run + " " + run +
                                          "-packet -o " + run + "-packet.html");
    CHECK(commands()[1]["command"] == "sluice run SCENARIO.toml --mode flow --set seed=2 --out " +
                                          run + "-seed2 &&\nsluice report " + run + " " + run +
                                          "-seed2 -o " + run + "-seed2.html");
    // Nothing is random: no other seed is of any use.
    summary.insert(1, "\"keys_without_effect\": [\"seed: no workload uses random numbers\"], ");
    folder.write("small/summary.json", summary);
    CHECK(commands().size() == 1);
}

TEST_CASE("unit.report.copies_are_told_from_packets_and_equations") {
    report::RunFiles run;
    run.summary = Json::parse(R"({"mode": "packet", "seed": 1, "config": {}})");
    Json trust = {{"hops", {{"executed", 25}, {"copies", 75}, {"equations", 0}}},
                  {"audit", nullptr},
                  {"replicas", nullptr},
                  {"random", true}};
    CHECK(
        report::trust_answer(run, trust) ==
        "No packet was replaced by equations: 25% of the 100 packet-hops were executed, and the "
        "others are exact copies of parts that do the same. Spread from chance: not measured (one "
        "run, seed 1).");
    trust["hops"]["equations"] = 900;
    CHECK(report::trust_answer(run, trust) ==
          "Equations replaced 90% of the packet-hops. Their error was not measured: there is no "
          "estimate of an audit. Spread from chance: not measured (one run, seed 1).");
}

TEST_CASE("unit.report.series_csv_is_preferred") {
    const TestFolder folder;
    const std::string run = small_run(folder);
    folder.write("small/series.csv",
                 "time_ps,port,from,to,queue_bytes,tx_bytes,utilization\n"
                 "2000000,3,leaf0,host1,500,312,0.0125\n");
    const Json series = report::run_report(run)["network"]["series"];
    CHECK(series["measured"].get<bool>());
    // A row is of the time before it, here of 2 us; a step is 25 ns, 312.5 B of the link.
    CHECK(series["ports"]["3"]["use"][1] == 0.0125);
    CHECK(series["ports"]["3"]["use"][79] == 0.0125);
    CHECK(series["ports"]["3"]["queue"][79] == 500.0);
    CHECK(series["ports"]["3"]["use"][80] == 0.0);
}

TEST_CASE("unit.report.ways_lead_from_source_to_destination") {
    const TestFolder folder;
    const report::RunFiles run = report::read_run_files(run_of(folder, kPermutation));
    const report::FlowPaths paths = report::paths_of(run);
    REQUIRE(paths.unknown.empty());
    std::size_t crossings = 0;
    for (std::size_t i = 0; i < run.flows.size(); ++i) {
        NodeId at = run.flows[i].key.src;
        for (const PortId port : paths.ports[i]) {
            REQUIRE(run.topology.node_of(port) == at);
            at = run.topology.neighbor(port);
        }
        CHECK(at == run.flows[i].key.dst);
        crossings += paths.ports[i].size();
    }
    std::size_t counted = 0;
    for (const std::uint32_t flows : paths.flows) counted += flows;
    CHECK(counted == crossings);
}

TEST_CASE("unit.report.ways_that_ports_csv_contradicts_are_not_shown") {
    const TestFolder folder;
    const std::string run = small_run(folder);
    std::string ports = read_bytes(folder.file("small/ports.csv"));
    ports.replace(ports.rfind(",1090,1,"), 8, ",999,1,");
    folder.write("small/ports.csv", ports);
    const Json network = report::run_report(run)["network"];
    CHECK(network["paths_unknown"] == "flows did not go by ECMP alone");
    CHECK(network["links"]["flows"] == Json({0, 0, 0, 0}));
}

TEST_CASE("unit.report.ranks_that_do_the_same_are_one_row") {
    const TestFolder folder;
    const std::string run = small_run(folder);
    folder.write(
        "small/trace.json",
        "[\n"
        R"({"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"host 0: job rank 0"}},)"
        "\n"
        R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"host 1: job rank 1"}},)"
        "\n"
        R"({"ph":"X","name":"forward mb0","cat":"compute","pid":0,"tid":3,"ts":0.5,"dur":1.25},)"
        "\n"
        R"({"ph":"X","name":"forward mb0","cat":"compute","pid":1,"tid":3,"ts":0.5,"dur":1.25},)"
        "\n"
        R"({"ph":"X","name":"all-reduce","cat":"DP 2","pid":1,"tid":4,"ts":1.75,"dur":0.001})"
        "\n]\n");
    const Json timeline = report::run_report(run)["timeline"];
    CHECK(timeline["computed"].get<bool>());
    REQUIRE(timeline["rows"].size() == 1);
    CHECK(timeline["rows"][0]["label"] == "ranks 0 to 1");
    CHECK(timeline["rows"][0]["hosts"] == 2);
    CHECK(timeline["rows"][0]["spans"] == Json({0, 0, 500, 1750}));
    CHECK(timeline["lanes"][0] == "compute");
    CHECK(timeline["names"][0] == "forward");
}

TEST_CASE("unit.report.without_a_trace_flows_are_the_timeline") {
    const TestFolder folder;
    const Json timeline = report::run_report(small_run(folder))["timeline"];
    CHECK_FALSE(timeline["computed"].get<bool>());
    REQUIRE(timeline["rows"].size() == 1);
    CHECK(timeline["rows"][0]["spans"] == Json({5, 0, 1000, 3000}));
    CHECK(timeline["lanes"][5] == "demo");
}

TEST_CASE("unit.report.phases_add_up_to_the_time_of_flows") {
    const TestFolder folder;
    const std::string run = small_run(folder);
    folder.write("small/phases.csv",
                 "partition,phase,start_ps,end_ps,ended_by,flows,bytes_skipped,hops_saved\n"
                 "0,unsteady,1000000,1500000,steady found,2,0,0\n"
                 "0,steady,1500000,3000000,finisher near,2,500,2\n");
    const Json phases = report::run_report(run)["trust"]["phases"];
    double packets = 0;
    double equations = 0;
    for (const Json& flows : phases["unsteady"]) packets += flows.get<double>();
    for (const Json& flows : phases["steady"]) equations += flows.get<double>();
    const double step = phases["step"].get<double>();
    CHECK(packets * step == doctest::Approx(2 * 0.5e-6).epsilon(1e-3));
    CHECK(equations * step == doctest::Approx(2 * 1.5e-6).epsilon(1e-3));
    CHECK(phases["count"] == 2);
}

TEST_CASE("unit.report.damaged_runs_are_refused_by_name") {
    const TestFolder folder;
    const std::string run = small_run(folder);
    const auto message = [&] { return error_of([&] { report::run_report(run); }); };
    const auto damage = [&](const char* name, const std::string& bytes) {
        const std::string whole = read_bytes(folder.file(name));
        folder.write(name, bytes);
        const std::string text = message();
        folder.write(name, whole);
        return text;
    };
    const std::string ports = read_bytes(folder.file("small/ports.csv"));
    CHECK(damage("small/summary.json", "{\"scenario\": ") ==
          run + "/summary.json: is no JSON, or cut off");
    CHECK(damage("small/summary.json", "{}") ==
          run + "/summary.json: is no summary of a run: it has no scenario");
    CHECK(damage("small/ports.csv", ports.substr(0, ports.size() - 5)) ==
          run + "/ports.csv:5: the file ends within this line");
    CHECK(damage("small/ports.csv", ports.substr(0, ports.rfind("3,2,switch"))) ==
          run + "/ports.csv: its ports do not pair up: a row is missing");
    CHECK(damage("small/flows.csv", "flow,src\n1,2\n") == run + "/flows.csv:1: has no column dst");
    std::string flows = read_bytes(folder.file("small/flows.csv"));
    flows.replace(flows.find("\n0,0,1,"), 7, "\n0,0,9,");
    CHECK(damage("small/flows.csv", flows) ==
          run + "/flows.csv: flow 0 ends at a node that ports.csv lacks");
    folder.write("small/trace.json", "[\n{\"ph\":\"M\"");
    CHECK(message() == run + "/trace.json:2: is no event of a trace");
    folder.write("small/trace.json", "[\n");
    CHECK(message() == run + "/trace.json: is cut off: it does not end with ]");
}
