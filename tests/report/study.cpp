// SPDX-License-Identifier: Apache-2.0
/// Pages of batches, comparisons and evaluations.
#include <doctest/doctest.h>

#include <filesystem>

#include "experiment/batch/batch_store.h"
#include "report/study.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"

using namespace sluice;
using namespace sluice::test;
using report::Json;

namespace {

BatchRow row_of_law(std::size_t experiment, const std::string& law, const std::string& seed,
                    double jct) {
    BatchRow row;
    row.experiment = experiment;
    row.status = BatchStatus::done;
    row.values = {law, seed};
    row.digest = law + seed;
    row.figures.assign(batch_figures().size(), {});
    row.figures[0] = jct;
    return row;
}

}  // namespace

TEST_CASE("unit.report.a_batch_is_ranked_by_means_over_seeds") {
    const TestFolder folder;
    const std::string path = folder.file("batch.db");
    {
        BatchStore store(path, "test");
        store.begin({"congestion.law", "seed"}, {}, "");
        store.add(row_of_law(0, "hpcc", "1", 1e-3));
        store.add(row_of_law(1, "hpcc", "2", 5e-3));
        store.add(row_of_law(2, "dctcp", "1", 2e-3));
        store.add(row_of_law(3, "dctcp", "2", 2e-3));
        BatchRow refused;
        refused.experiment = 4;
        refused.status = BatchStatus::refused;
        refused.values = {"none", "1"};
        refused.digest = "r";
        refused.reason = "it <does> not fit";
        store.add(refused);
    }
    const Json page = report::batch_report(path);
    CHECK(page["keys"] == Json({"congestion.law", "seed"}));
    CHECK(page["repeats"] == Json({"seed"}));
    CHECK(page["status"].size() == 5);
    CHECK(page["figures"][0] == Json({{"name", "jct_s"}, {"unit", "s"}}));
    CHECK(
        page["answers"]["best"] ==
        "Best by jct_s is congestion.law dctcp: 2 ms; the worst of 2 has 3 ms, 1.50 times as much. "
        "1 refused of 5.");
    bool told = false;
    for (const Json& reason : page["reasons"]) told = told || reason == "it <does> not fit";
    CHECK(told);
}

TEST_CASE("unit.report.a_thinned_study_is_ranked_by_all_of_it") {
    report::Study study;
    study.keys = {"law", "seed"};
    study.figures = {{"jct_s", "s"}};
    study.metric = "jct_s";
    for (int i = 0; i < 1000; ++i) {
        study.add({i % 2 == 0 ? "a" : "b", std::to_string(i)},
                  {(i / 2) * 2e-3 + (i % 2 == 0 ? 2 : 1)}, "done", "");
    }
    thin(study, 100);
    CHECK(study.size() == 100);
    CHECK(study.values[1].size() == 100);
    CHECK(study.results[0].size() == 100);
    CHECK(study.left_out == 900);
    REQUIRE(study.intervals.size() == 2);
    CHECK(study.intervals[0]["label"] == "law b");
    CHECK(study.intervals[0]["n"] == 500);
    CHECK(study.intervals[0]["estimate"].get<double>() == doctest::Approx(1.499));
    CHECK(study.intervals[1]["estimate"].get<double>() == doctest::Approx(2.499));
    // Rows stay whole.
    for (std::size_t row = 0; row < 100; ++row) {
        const int i = std::stoi(study.values[1][row]);
        CHECK(study.values[0][row] == (i % 2 == 0 ? "a" : "b"));
        CHECK(study.results[0][row].get<double>() ==
              doctest::Approx((i / 2) * 2e-3 + (i % 2 == 0 ? 2 : 1)));
    }
}

TEST_CASE("unit.report.what_is_no_batch_is_refused") {
    const TestFolder folder;
    const std::string empty = folder.file("other.db");
    {
        Database database(empty, true);
        database.run("CREATE TABLE t(x)");
    }
    CHECK(error_of([&] { report::batch_report(empty); }) ==
          empty + ": is no batch's results: it has no view experiments");
    {
        Database database(empty, false);
        database.run("CREATE TABLE experiments(x)");
    }
    CHECK(error_of([&] { report::batch_report(empty); }) == empty + ": is no batch's results");
}

TEST_CASE("unit.report.comparisons_of_each_kind") {
    const TestFolder folder;
    const std::string here = std::filesystem::path(folder.file("x")).parent_path().string();
    folder.write("compare.json",
                 R"({"scenario": "s", "varied": ["law"], "rows": [
                     {"values": {"law": "a"}, "folder": "gone/law=a", "flows_left": 0, "jct_s": 2.0,
                      "fct_s": {"mean": 1.0, "p50": 1.0, "p99": 1.0, "max": 1.0}, "wall_s": 1.0},
                     {"values": {"law": "b"}, "folder": "gone/law=b", "flows_left": 1, "jct_s": null,
                      "fct_s": {"mean": 3.0, "p50": 1.0, "p99": 1.0, "max": 1.0}, "wall_s": 1.0}]})");
    const Json values = report::comparison_report(here);
    CHECK(values["source"] == "comparison of values");
    CHECK(values["results"][0] == Json({2.0, nullptr}));
    CHECK(values["answers"]["best"] ==
          "Best by fct_mean_s is law a: 1 s; the worst of 2 has 3 s, 3.00 times as much. 1 left of "
          "2.");

    folder.write("compare.json",
                 R"({"scenario": "s", "reference": "packet", "rows": [
                     {"mode": "packet", "wall_s": 2.0, "speedup": 1.0, "fct_error": {"mean": 0.0}},
                     {"mode": "hybrid", "restorer": "hold", "wall_s": 1.0, "speedup": 2.0,
                      "fct_error": {"mean": 0.012}}]})");
    CHECK(
        report::comparison_report(here)["answers"]["best"] ==
        "Mode hybrid-hold is 2 times as fast as packet, with flow completion times off by 1.2% on "
        "average.");

    folder.write("compare.json",
                 R"({"scenario": "s", "reference": "packet", "pairs": 6, "rows": [
                     {"mode": "packet", "by_run": [{"perturbation": 0, "jct_s": 1.0}]},
                     {"mode": "hybrid", "by_run": [{"perturbation": 0, "jct_s": 1.1}],
                      "judgement": {"verdict": "biased", "jct": {"bias": 0.1, "low": 0.09, "high": 0.11}}}]})");
    const Json perturbed = report::comparison_report(here);
    CHECK(perturbed["answers"]["best"] ==
          "Mode hybrid is biased, compared to packet: bias of the job's time 10% (90% interval "
          "9.0% to "
          "11%), over 6 pairs.");
    CHECK(perturbed["values"] ==
          Json::array({Json::array({"packet", "hybrid"}), Json::array({"0", "0"})}));

    folder.write("compare.json", R"({"scenario": "s", "varied": ["law"], "rows": [{}]})");
    CHECK(error_of([&] {
              report::comparison_report(here);
          }).find(here + "/compare.json: is no comparison: ") == 0);
}

TEST_CASE("unit.report.an_evaluation_keeps_its_intervals") {
    const TestFolder folder;
    const std::string here = std::filesystem::path(folder.file("x")).parent_path().string();
    folder.write("evaluation.json",
                 R"({"name": "e", "confidence": 0.95, "ending": "reached", "candidates": [
                     {"label": "A", "metrics": [{"name": "m", "unit": "s", "estimate": 0.002, "low": 0.001,
                      "high": 0.003, "trials": 3}]},
                     {"label": "B", "metrics": [{"name": "m", "unit": "s", "estimate": 0.001, "low": 0.0005,
                      "high": null, "trials": 2}]}],
                     "comparison": {"reference": "A", "pairs": [{"candidate": "B", "verdict": "better",
                      "difference": -0.001, "reference_mean": 0.002}]}})");
    folder.write("trials.csv", "candidate,trial,seed,m\nA,0,1,0.002\nB,0,1,\n");
    const Json page = report::evaluation_report(here);
    CHECK(page["intervals"][0]["low"] == 0.001);
    CHECK(page["intervals"][1]["high"].is_null());
    CHECK(page["results"] == Json({{0.002, nullptr}}));
    CHECK(page["answers"]["best"] == "B has the least m: 1 ms. B is better than A (-50%).");
}
