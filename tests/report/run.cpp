// SPDX-License-Identifier: Apache-2.0
/// A run's pages: their figures are those of its files.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "report/paths.h"
#include "report/run_report.h"
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
    // 1,000 B in 2 us on 100 Gb/s: 4% of the link, from 1 to 3 us of 4.
    const Json& series = page["network"]["series"];
    CHECK_FALSE(series["measured"].get<bool>());
    CHECK(series["ports"]["3"]["use"][39] == 0.0);
    CHECK(series["ports"]["3"]["use"][40] == 0.04);
    CHECK(series["ports"]["3"]["use"][119] == 0.04);
    CHECK(series["ports"]["3"]["use"][120] == 0.0);
    CHECK(page["flows"]["listed"][0]["path"] == Json({0, 3}));
    CHECK(page["flows"]["listed"][0]["slowdown"] == 2.0);
}

TEST_CASE("unit.report.answers_have_figures") {
    const TestFolder folder;
    const Json answers = report::run_report(small_run(folder))["answers"];
    CHECK(answers["bound"] ==
          "The last flow bounds the run: flow 0 from host 0 to host 1 ends at 3 us, 2.0 times its "
          "time "
          "in an idle network. The busiest link on its way is host0 to leaf0, 50% busy over the "
          "run.");
    CHECK(answers["hot"] ==
          "The hottest link is host0 to leaf0: 50% busy over the run, with 1 other within a "
          "twentieth "
          "of that. The longest queue was 1.09 kB, at leaf0 to host1. The longest paused was host0 "
          "to "
          "leaf0, 1 us.");
    CHECK(answers["flows"] ==
          "Half of the 1 flows finish within 2 us, 99% within 2 us; the longest takes 2 us. "
          "Against an "
          "idle network they take 2.00 times as long on average, 2.00 times at p99.");
    CHECK(
        answers["trust"] ==
        "Every packet was simulated, or copied from a part that does exactly the same: nothing was "
        "replaced by equations. It is one run: --replicas 8 shows how much chance there is in it.");
}

TEST_CASE("unit.report.series_csv_is_preferred") {
    const TestFolder folder;
    const std::string run = small_run(folder);
    folder.write("small/series.csv",
                 "time_ps,port,from,to,queue_bytes,tx_bytes,utilization\n"
                 "2000000,3,leaf0,host1,500,312,0.0125\n");
    const Json series = report::run_report(run)["network"]["series"];
    CHECK(series["measured"].get<bool>());
    // A row is of the time before it; a step is 25 ns, 312.5 B of the link.
    CHECK(series["ports"]["3"]["use"][79] == 0.998);
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
