// SPDX-License-Identifier: Apache-2.0
/// The arithmetic of `sluice compare`, by hand, and the files that it reads and writes.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/results/run_writer.h"
#include "experiment/comparison/comparison.h"
#include "experiment/comparison/comparison_report.h"
#include "tests/support/error_of.h"

using namespace sluice;
using doctest::Approx;

namespace {

namespace fs = std::filesystem;

FinishedFlow finished(FlowId flow, std::uint32_t flow_class, std::int64_t size, Tick fct) {
    FinishedFlow made;
    made.flow = flow;
    made.flow_class = flow_class;
    made.size = size;
    made.fct = fct;
    return made;
}

/// Two classes, four flows, two links; finished after 10 s.
RunFigures reference() {
    RunFigures figures;
    figures.classes = {"dp", "pp"};
    figures.flows = {finished(0, 0, 1000, 100), finished(1, 0, 3000, 200),
                     finished(2, 1, 4000, 400), finished(3, 1, 8000, 800)};
    figures.jct_s = 2;
    figures.simulated_s = 10;
    figures.port_bytes = {1000, 500};
    return figures;
}

ComparisonRow row_of(Mode mode, const RunFigures& figures) {
    ComparisonRow row;
    row.mode = mode;
    row.runs = 1;
    row.costs = figures.costs;
    row.flows = figures.flows.size();
    row.packet_hops = figures.packet_hops;
    row.hops_saved = figures.hops_saved;
    row.errors = run_errors(reference(), figures);
    return row;
}

constexpr const char* kHeader = "flow,label,size_bytes,fct_ps,src,dst,ideal_ps\n";

struct Scratch {
    fs::path path = fs::temp_directory_path() / ("sluice-comparison-" + std::to_string(::getpid()));
    Scratch() { fs::remove_all(path); }
    ~Scratch() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("unit.comparison.a_run_equals_itself") {
    const RunErrors errors = run_errors(reference(), reference());
    CHECK(errors.fct.flows == 4);
    CHECK(errors.fct.max == 0);
    CHECK(errors.fct.byte_weighted == 0);
    CHECK(errors.jct == 0);
    CHECK(errors.throughput.links == 2);
    CHECK(errors.throughput.max == 0);
    CHECK(errors.missing == 0);
    CHECK(errors.extra == 0);
}

TEST_CASE("unit.comparison.fct_errors_over_flows_bytes_and_classes") {
    RunFigures run = reference();
    run.flows[0].fct = 110;  // 10% late
    run.flows[1].fct = 160;  // 20% early
    run.flows[2].fct = 400;  // exact
    run.flows[3].fct = 840;  // 5% late
    const RunErrors errors = run_errors(reference(), run);
    CHECK(errors.fct.mean == Approx((0.1 + 0.2 + 0 + 0.05) / 4));
    // Sorted 0, 0.05, 0.1, 0.2: ranks ceil(2) = 2 and ceil(3.96) = 4.
    CHECK(errors.fct.p50 == Approx(0.05));
    CHECK(errors.fct.p99 == Approx(0.2));
    CHECK(errors.fct.max == Approx(0.2));
    // (0.1 x 1000 + 0.2 x 3000 + 0 + 0.05 x 8000) / 16000.
    CHECK(errors.fct.byte_weighted == Approx(1100.0 / 16000));
    REQUIRE(errors.by_class.size() == 2);
    CHECK(errors.by_class[0].name == "dp");
    CHECK(errors.by_class[0].fct.flows == 2);
    CHECK(errors.by_class[0].fct.mean == Approx(0.15));
    CHECK(errors.by_class[1].name == "pp");
    CHECK(errors.by_class[1].fct.max == Approx(0.05));
}

TEST_CASE("unit.comparison.flows_are_matched_by_id_and_strays_counted") {
    RunFigures run = reference();
    // Flow 0 and 3 did not finish here; 5 and 6 only here. Flow 1 is 50% late, 2 exact.
    run.flows = {finished(1, 1, 3000, 300), finished(2, 0, 4000, 400), finished(5, 0, 10, 10),
                 finished(6, 0, 10, 10)};
    run.classes = {"pp", "dp"};
    const RunErrors errors = run_errors(reference(), run);
    CHECK(errors.missing == 2);
    CHECK(errors.extra == 2);
    CHECK(errors.fct.flows == 2);
    CHECK(errors.fct.mean == Approx(0.25));
    // Classes are the reference's: flow 1 is dp, whatever number it has in the other file.
    CHECK(errors.by_class[0].fct.mean == Approx(0.5));
    CHECK(errors.by_class[1].fct.mean == 0);
    // A stray between two common flows.
    RunFigures sparse = reference();
    sparse.flows = {reference().flows[0], reference().flows[3]};
    const RunErrors between = run_errors(sparse, reference());
    CHECK(between.extra == 2);
    CHECK(between.missing == 0);
    CHECK(between.fct.flows == 2);
}

TEST_CASE("unit.comparison.nothing_in_common_gives_no_figures") {
    RunFigures run = reference();
    run.flows.clear();
    run.jct_s.reset();
    const RunErrors errors = run_errors(reference(), run);
    CHECK(errors.fct.flows == 0);
    CHECK(errors.missing == 4);
    CHECK(!errors.jct.has_value());
    Comparison comparison;
    comparison.rows = {row_of(Mode::packet, reference()), row_of(Mode::flow, run)};
    const auto json = nlohmann::json::parse(comparison_json(comparison));
    CHECK(json["rows"][1]["fct_error"]["mean"].is_null());
    CHECK(json["rows"][1]["jct_error"].is_null());
    CHECK(comparison_table(comparison).find("4 flows finished in packet only") !=
          std::string::npos);
}

TEST_CASE("unit.comparison.jct_and_throughput_errors") {
    RunFigures run = reference();
    run.jct_s = 1.5;  // 25% early
    run.simulated_s = 8;
    // 1000 B in 8 s is 125 B/s against 100; 400 B in 8 s is 50 B/s, exact.
    run.port_bytes = {1000, 400};
    const RunErrors errors = run_errors(reference(), run);
    CHECK(*errors.jct == Approx(0.25));
    CHECK(errors.throughput.links == 2);
    CHECK(errors.throughput.mean == Approx(0.125));
    CHECK(errors.throughput.max == Approx(0.25));
}

TEST_CASE("unit.comparison.links_that_carry_next_to_nothing_are_left_out") {
    RunFigures base = reference();
    base.port_bytes = {100'000, 1000, 1001, 0};
    RunFigures run = base;
    run.port_bytes = {100'000, 9999, 2002, 5};
    // 1000 B are 1% of the busiest's, not more; 1001 are, and doubled.
    const RunErrors errors = run_errors(base, run);
    CHECK(errors.throughput.links == 2);
    CHECK(errors.throughput.max == Approx(1));
    CHECK(errors.throughput.mean == Approx(0.5));
    base.port_bytes = {0, 0, 0, 0};
    CHECK(run_errors(base, base).throughput.links == 0);
}

TEST_CASE("unit.comparison.different_experiments_are_a_defect") {
    RunFigures run = reference();
    run.flows[1].size += 1;
    CHECK_THROWS_AS(run_errors(reference(), run), InternalError);
    run = reference();
    run.port_bytes.push_back(1);
    CHECK_THROWS_AS(run_errors(reference(), run), InternalError);
}

TEST_CASE("unit.comparison.medians") {
    CHECK(median({3}) == 3);
    CHECK(median({9, 1, 5}) == 5);
    CHECK(median({4, 1, 2, 9}) == 3);  // of 2 and 4
    CHECK_THROWS_AS(median({}), InternalError);
    // Each figure by itself: the run of median wall time need not be that of median memory.
    const RunCosts costs = median_costs({{1, 30, 500}, {2, 10, 700}, {3, 20, 600}});
    CHECK(costs.wall_s == 2);
    CHECK(costs.user_s == 20);
    CHECK(costs.peak_rss_bytes == 600);
}

TEST_CASE("unit.comparison.json_and_csv_hold_the_same_table") {
    RunFigures packet = reference();
    packet.costs = {10, 9, 1000};
    packet.packet_hops = 4000;
    RunFigures flow = reference();
    flow.costs = {0.5, 0.25, 500};
    flow.flows[0].fct = 150;
    Comparison comparison;
    comparison.scenario = "two \"rings\"";
    comparison.rows = {row_of(Mode::packet, packet), row_of(Mode::flow, flow)};
    comparison.rows[1].speedup = 20;
    const auto json = nlohmann::json::parse(comparison_json(comparison));
    CHECK(json["reference"] == "packet");
    CHECK(json["scenario"] == "two \"rings\"");
    CHECK(json["interrupted"] == false);
    REQUIRE(json["rows"].size() == 2);
    CHECK(json["rows"][0]["packet_hops"] == 4000);
    CHECK(json["rows"][0]["speedup"] == 1);
    CHECK(json["rows"][0]["fct_error"]["max"] == 0);
    const auto& row = json["rows"][1];
    CHECK(row["mode"] == "flow");
    CHECK(row["wall_s"] == 0.5);
    CHECK(row["user_s"] == 0.25);
    CHECK(row["cpu_use"] == 0.5);
    CHECK(row["speedup"] == 20);
    CHECK(row["packet_hops"] == 0);
    CHECK(row["hops_saved"].is_null());
    CHECK(row["fct_error"]["mean"] == Approx(0.125));  // 50% of one in four
    CHECK(row["fct_error"]["max"] == Approx(0.5));
    CHECK(row["fct_error_by_class"]["dp"]["mean"] == Approx(0.25));
    CHECK(row["fct_error_by_class"]["pp"]["mean"] == 0);
    CHECK(row["jct_error"] == 0);
    CHECK(row["throughput_error"] == 0);
    CHECK(row["peak_rss_bytes"] == 500);
    CHECK(comparison_csv(comparison) ==
          "mode,class,runs,wall_s,user_s,cpu_use,speedup,packet_hops,hops_saved,peak_rss_bytes,"
          "flows,flows_compared,flows_missing,flows_extra,fct_error_mean,fct_error_p50,"
          "fct_error_p99,fct_error_max,fct_error_byte_weighted,jct_error,throughput_error,"
          "throughput_error_max,links\n"
          "packet,all,1,10,9,0.9,1,4000,,1000,4,4,0,0,0,0,0,0,0,0,0,0,2\n"
          "packet,dp,,,,,,,,,,2,,,0,0,0,0,0,,,,\n"
          "packet,pp,,,,,,,,,,2,,,0,0,0,0,0,,,,\n"
          "flow,all,1,0.5,0.25,0.5,20,,,500,4,4,0,0,0.125,0,0.5,0.5,0.03125,0,0,0,2\n"
          "flow,dp,,,,,,,,,,2,,,0.25,0,0.5,0.5,0.125,,,,\n"
          "flow,pp,,,,,,,,,,2,,,0,0,0,0,0,,,,\n");
}

TEST_CASE("unit.comparison.a_written_run_is_read_back") {
    const Scratch scratch;
    Topology topology;
    topology.add_node(NodeKind::host);
    topology.add_node(NodeKind::host);
    topology.add_link({0, 1, gigabits_per_second(100), kMicrosecond, 0});
    topology.finish();
    const std::vector<FlowSpec> flows{{0, 1, 1000}, {0, 1, 2000}, {1, 0, 3000}};
    RunInfo info;
    info.mode = Mode::hybrid;
    RunOutcome outcome;
    outcome.counters.packet_hops = 77;
    outcome.counters.phases.hops_saved = 5;
    outcome.ports.resize(2);
    outcome.ports[1].tx_bytes = 4321;
    outcome.simulated = kSecond;
    outcome.elaboration_s = 0.25;
    outcome.elaboration_user_s = 0.125;
    outcome.wall_s = 2;
    outcome.user_s = 1;
    {
        RunWriter writer(scratch.path.string(), info, topology, flows);
        FlowRecord flow{2, flows[2], {0, 10, 20, 0}};
        writer.flow_finished(flow, 19, "a,\"b\"");
        flow = {0, flows[0], {0, 10, 30, 0}};
        writer.flow_finished(flow, 0, "dp");
        writer.finish(outcome);
    }
    const RunFigures figures = read_run(scratch.path.string());
    CHECK(figures.costs.wall_s == 2.25);
    CHECK(figures.costs.user_s == 1.125);
    CHECK(figures.costs.peak_rss_bytes > 0);
    CHECK(figures.packet_hops == 77U);
    CHECK(figures.hops_saved == 5U);
    CHECK(figures.simulated_s == 1);
    REQUIRE(figures.flows.size() == 2);
    const FinishedFlow& first = figures.flows[0];
    CHECK(std::tie(first.flow, first.flow_class) == std::tuple{FlowId{0}, 1U});
    CHECK(std::tie(first.size, first.fct, first.ideal) == std::tuple{1000, 30, 0});
    CHECK(std::tie(first.key.src, first.key.dst) == std::tuple{0U, 1U});
    const FinishedFlow& second = figures.flows[1];
    CHECK(std::tie(second.flow, second.flow_class) == std::tuple{FlowId{2}, 0U});
    CHECK(std::tie(second.size, second.fct, second.ideal) == std::tuple{3000, 20, 19});
    CHECK(std::tie(second.key.src, second.key.dst) == std::tuple{1U, 0U});
    CHECK(figures.classes == std::vector<std::string>{"a,\"b\"", "dp"});
    CHECK(figures.port_bytes == std::vector<std::int64_t>{0, 4321});
}

TEST_CASE("unit.comparison.what_is_no_run_is_refused") {
    const Scratch scratch;
    const auto read = [&] { read_run(scratch.path.string()); };
    const auto says = [&](const char* text) {
        return error_of(read).find(text) != std::string::npos;
    };
    CHECK(says("summary.json: is missing"));
    fs::create_directories(scratch.path);
    std::ofstream(scratch.path / "summary.json") << "{\"wall_s\": 1}";
    CHECK(says("is no summary of a run"));
    std::ofstream(scratch.path / "summary.json")
        << R"({"elaboration_s": 1, "elaboration_user_s": 1, "wall_s": 1, "user_s": 1,
               "peak_rss_bytes": 1, "simulated_s": 1, "jct_s": null})";
    CHECK(says("flows.csv: is missing or empty"));
    std::ofstream(scratch.path / "flows.csv") << "flow,label,size_bytes\n";
    CHECK(says("flows.csv:1: has no column fct_ps"));
    std::ofstream(scratch.path / "flows.csv") << kHeader << "1,dp,2\n";
    CHECK(says("flows.csv:2: has 3 fields, the header 7"));
    std::ofstream(scratch.path / "flows.csv") << kHeader << "1,dp,2,x,0,1,\n";
    CHECK(says("flows.csv:2: "));
}
