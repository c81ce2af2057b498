// SPDX-License-Identifier: Apache-2.0
/// Which flows are judged by themselves, what is said of modes that differ by a known amount, and which
/// runs need not be run again.
#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/random.h"
#include "experiment/comparison/perturbed_comparison.h"
#include "experiment/comparison/perturbed_report.h"
#include "experiment/comparison/run_inputs.h"
#include "restore/restorers.h"

using namespace sluice;
using doctest::Approx;

namespace {

namespace fs = std::filesystem;

constexpr FlowId kStable = 20;
constexpr FlowId kFlows = 220;

/// Around 0, at most `width` / 2.
double drawn(std::uint64_t stream, std::uint64_t n, double width) {
    return width * (uniform(3, stream, n) - 0.5);
}

/// How a made-up mode behaves.
struct Made {
    std::uint64_t stream = 1;  ///< of the draws
    double slower = 1;         ///< sensitive flows and the job
    double stable_slower = 1;  ///< stable flows
    double jct_noise = 0.0004;
};

/// Flows 0 to 19 are stable, 20 to 219 move by up to 5% from run to run.
PerturbedRuns made(const Made& mode, std::size_t count = 6) {
    PerturbedRuns runs;
    for (std::size_t i = 0; i < count; ++i) {
        PerturbedRun run;
        run.costs = {1, 1, 1e6};
        run.jct_s = mode.slower * (1 + drawn(100 * mode.stream + i, 1, mode.jct_noise));
        for (FlowId flow = 0; flow < kFlows; ++flow) {
            const bool stable = flow < kStable;
            const double moved = drawn(100 * mode.stream + i, 10 + flow, stable ? 0.0002 : 0.1);
            const auto ideal = static_cast<Tick>(1'000'000 * (1 + flow % 7));
            const double fct = static_cast<double>(ideal) * (1 + moved) *
                               (stable ? mode.stable_slower : mode.slower);
            run.flows.push_back({flow, static_cast<Tick>(fct), ideal, 1000, flow});
        }
        runs.push_back(std::move(run));
    }
    return runs;
}

PerturbedComparison compared(const Made& mode) {
    return compare_perturbed_runs(
        {{Mode::packet, "", made({})}, {Mode::hybrid, "hold", made(mode)}});
}

struct Scratch {
    fs::path path = fs::temp_directory_path() / ("sluice-perturbed-" + std::to_string(::getpid()));
    Scratch() {
        fs::remove_all(path);
        fs::create_directories(path);
    }
    ~Scratch() { fs::remove_all(path); }
    std::string file(const char* name) const { return (path / name).string(); }
};

}  // namespace

TEST_CASE("unit.perturbed.flows_are_split_by_the_reference_alone") {
    const PerturbedRuns reference = made({});
    const PerturbedRuns wild = made({9, 3, 2});
    const FlowSplit split = split_flows(reference, {&wild});
    CHECK(split.stable.size() == kStable);
    CHECK(split.sensitive == kFlows - kStable);
    CHECK(split.same_flows);
    CHECK(split.is_stable(0));
    CHECK(!split.is_stable(kStable));
    CHECK(split_flows(reference, {}).stable == split.stable);
}

TEST_CASE("unit.perturbed.the_limit_of_a_stable_flow") {
    const auto run = [](Tick first, Tick second) {
        PerturbedRun made;
        made.flows = {{0, first, 1, 1, 1}, {5, second, 1, 1, 2}};
        return made;
    };
    // 1000 to 1001 is exactly a thousandth of the least; 1002 is more.
    CHECK(split_flows({run(1000, 1000), run(1001, 1002)}, {}).stable == std::vector<FlowId>{0});
    // What does not finish in every run has no answer of its own.
    PerturbedRun missing = run(1000, 1000);
    missing.flows.pop_back();
    const FlowSplit split = split_flows({run(1000, 1000), missing}, {});
    CHECK(split.stable == std::vector<FlowId>{0});
    CHECK(split.sensitive == 1);
    // A number that means another flow in one of the runs, whichever mode's.
    PerturbedRun renumbered = run(1000, 1000);
    renumbered.flows[1].identity = 3;
    const PerturbedRuns others{renumbered};
    for (const FlowSplit& none : {split_flows({run(1000, 1000), renumbered}, {}),
                                  split_flows({run(1000, 1000)}, {&others})}) {
        CHECK(!none.same_flows);
        CHECK(none.stable.empty());
        CHECK(none.sensitive == 2);
    }
}

TEST_CASE("unit.perturbed.identical_modes_are_equivalent_without_bias") {
    const PerturbedComparison comparison = compared({});
    const Judgement& judgement = *comparison.rows[1].judgement;
    CHECK(comparison.verdict() == Verdict::equivalent);
    CHECK(judgement.jct->bias == 0);
    CHECK(judgement.mean_fct->high == 0);
    CHECK(judgement.p99_fct->low == 0);
    CHECK(judgement.distance->distance == 0);
    CHECK(judgement.distance->p_value == 1);
    CHECK(judgement.stable.errors.max == 0);
    CHECK(judgement.stable.errors.flows == 6 * kStable);
    CHECK(!comparison.rows[0].judgement);
}

TEST_CASE("unit.perturbed.modes_that_differ_by_chance_only_are_equivalent") {
    const PerturbedComparison comparison = compared({2});
    const Judgement& judgement = *comparison.rows[1].judgement;
    CHECK(comparison.verdict() == Verdict::equivalent);
    CHECK(judgement.mean_fct->bias != 0);
    CHECK(judgement.distance->distance > 0);
    CHECK(!judgement.distributions_differ());
    CHECK(judgement.stable.errors.max < 0.0003);
}

TEST_CASE("unit.perturbed.a_planted_bias_is_found") {
    const PerturbedComparison comparison = compared({2, 1.02});
    const Judgement& judgement = *comparison.rows[1].judgement;
    CHECK(comparison.verdict() == Verdict::biased);
    CHECK(judgement.jct->verdict == Verdict::biased);
    CHECK(judgement.jct->bias == Approx(0.02).epsilon(0.1));
    CHECK(judgement.mean_fct->verdict == Verdict::biased);
    CHECK(judgement.distributions_differ());
    CHECK(judgement.distance->p_value == Approx(1.0 / 32));
    // Flows that are right are not blamed, and hide the others in the mean over all.
    CHECK(judgement.stable.within_margins());
    CHECK(judgement.mean_fct_of_all->bias < judgement.mean_fct->bias);
}

TEST_CASE("unit.perturbed.a_stable_flow_is_judged_by_itself") {
    const PerturbedComparison late = compared({2, 1, 1.02});
    CHECK(late.verdict() == Verdict::biased);
    CHECK(late.rows[1].judgement->stable.bias == Approx(0.02).epsilon(0.02));
    CHECK(late.rows[1].judgement->mean_fct->verdict == Verdict::equivalent);
    // Half a percent is within the margin of the mean; one flow of twenty by 10% is not within p99's.
    CHECK(compared({2, 1, 1.005}).verdict() == Verdict::equivalent);
    PerturbedRuns one_off = made({2});
    for (PerturbedRun& run : one_off) run.flows[3].fct = run.flows[3].fct * 11 / 10;
    CHECK(compare_perturbed_runs({{Mode::packet, "", made({})}, {Mode::hybrid, "", one_off}})
              .verdict() == Verdict::biased);
    PerturbedRuns lost = made({2});
    lost[4].flows.erase(lost[4].flows.begin() + 3);
    const PerturbedComparison missing =
        compare_perturbed_runs({{Mode::packet, "", made({})}, {Mode::hybrid, "", lost}});
    CHECK(missing.rows[1].judgement->stable.missing == 1);
    CHECK(missing.verdict() == Verdict::biased);
    CHECK(perturbed_table(missing).find("1 did not finish") != std::string::npos);
}

TEST_CASE("unit.perturbed.noise_beyond_the_margin_is_not_resolved") {
    const PerturbedComparison comparison = compared({2, 1, 1, 0.1});
    const Judgement& judgement = *comparison.rows[1].judgement;
    CHECK(judgement.jct->verdict == Verdict::not_resolved);
    CHECK(comparison.verdict() == Verdict::not_resolved);
    CHECK(perturbed_table(comparison).find("not resolved at 0.5%: about") != std::string::npos);
    // A job that is not complete in one of the runs has no time to compare.
    PerturbedRuns cut = made({2});
    cut[0].jct_s.reset();
    const PerturbedComparison open =
        compare_perturbed_runs({{Mode::packet, "", made({})}, {Mode::hybrid, "", cut}});
    CHECK(!open.rows[1].judgement->jct);
    CHECK(open.verdict() == Verdict::not_resolved);
    CHECK(nlohmann::json::parse(perturbed_json(open))["rows"][1]["judgement"]["jct"].is_null());
    CHECK_THROWS_AS(
        compare_perturbed_runs({{Mode::packet, "", made({}, 1)}, {Mode::hybrid, "", made({}, 1)}}),
        InternalError);
}

TEST_CASE("unit.perturbed.without_flows_of_one_kind_the_other_is_judged") {
    PerturbedRuns calm = made({});
    for (PerturbedRun& run : calm) run.flows.resize(kStable);
    const PerturbedComparison alone =
        compare_perturbed_runs({{Mode::packet, "", calm}, {Mode::hybrid, "", calm}});
    CHECK(alone.verdict() == Verdict::equivalent);
    CHECK(!alone.rows[1].judgement->mean_fct);
    CHECK(!alone.rows[1].judgement->distance);
    CHECK(perturbed_table(alone).find("sensitive FCT") == std::string::npos);
    PerturbedRuns contended = made({});
    for (PerturbedRun& run : contended) run.flows.erase(run.flows.begin(), run.flows.begin() + 20);
    const PerturbedComparison none =
        compare_perturbed_runs({{Mode::packet, "", contended}, {Mode::hybrid, "", contended}});
    CHECK(none.verdict() == Verdict::equivalent);
    CHECK(none.rows[1].judgement->stable.errors.flows == 0);
    CHECK(perturbed_table(none).find("stable FCT") == std::string::npos);
}

TEST_CASE("unit.perturbed.table_and_json_hold_the_judgement") {
    PerturbedComparison comparison = compared({2, 1.02});
    comparison.scenario = "two \"rings\"";
    const std::string table = perturbed_table(comparison);
    for (const char* text :
         {"two \"rings\": hybrid-hold against packet, 6 pairs", "20 stable (within 0.1%",
          "200 sensitive", "hybrid-hold: biased", "biased by more than 0.5%", "by rank"}) {
        CAPTURE(text);
        CHECK(table.find(text) != std::string::npos);
    }
    const auto json = nlohmann::json::parse(perturbed_json(comparison));
    CHECK(json["scenario"] == "two \"rings\"");
    CHECK(json["pairs"] == 6);
    CHECK(json["verdict"] == "biased");
    REQUIRE(json["rows"].size() == 2);
    CHECK(!json["rows"][0].contains("judgement"));
    CHECK(json["rows"][0]["by_run"].size() == 6);
    CHECK(json["rows"][0]["sd"]["jct"] > 0);
    const auto& row = json["rows"][1];
    CHECK(row["mode"] == "hybrid");
    CHECK(row["restorer"] == "hold");
    const auto& judgement = row["judgement"];
    CHECK(judgement["jct"]["verdict"] == "biased");
    CHECK(judgement["jct"]["bias"] == Approx(0.02).epsilon(0.1));
    CHECK(judgement["jct"]["low"] < judgement["jct"]["high"]);
    CHECK(judgement["sensitive_fct_distance"]["differs"] == true);
    CHECK(judgement["stable_fct_error"]["within_margins"] == true);
    CHECK(row["by_run"][5]["perturbation"] == 5);
}

TEST_CASE("unit.perturbed.a_run_is_used_again_only_for_the_same_inputs") {
    const Scratch scratch;
    const std::string scenario = scratch.file("s.toml");
    std::ofstream(scenario) << "first";
    std::ofstream(scratch.file("trace.0.et")) << "data";
    const auto inputs = [&](const std::string& text, std::vector<std::string> arguments) {
        return run_inputs(parse_config(text, "s.toml"), scenario, arguments, scratch.file("out"),
                          "");
    };
    const std::string text = "[workload]\ntrace = \"trace\"\n[output]\ndir = \"s\"\n";
    const std::string before = inputs(text, {"run"});
    CHECK(inputs(text, {"run"}) == before);
    CHECK(inputs(text, {"run", "--set=seed=2"}) != before);

    CHECK(stamped_exit_code(scratch.file("run"), before) == -1);
    fs::create_directories(scratch.file("run"));
    write_stamp(scratch.file("run"), before, 3);
    CHECK(stamped_exit_code(scratch.file("run"), before) == 3);
    CHECK(stamped_exit_code(scratch.file("run"), inputs(text, {"other"})) == -1);
    for (const char* broken :
         {"", "[]", "{\"inputs\": 1}", "\xff", "{\"inputs\": {}, \"exit_code\": 0}"}) {
        std::ofstream(scratch.file("run") + "/stamp.json") << broken;
        CHECK(stamped_exit_code(scratch.file("run"), before) == -1);
    }
    remove_stamp(scratch.file("run"));
    CHECK(!fs::exists(scratch.file("run") + "/stamp.json"));
    fs::create_directories(scratch.file("run") + "/stamp.json/below");
    CHECK(stamped_exit_code(scratch.file("run"), before) == -1);
    CHECK_THROWS_AS(write_stamp(scratch.file("run"), before, 0), ConfigError);

    // A trace of one rank, named by the prefix of all; then the scenario itself.
    std::ofstream(scratch.file("trace.0.et"), std::ios::app) << "more";
    const std::string longer = inputs(text, {"run"});
    CHECK(longer != before);
    fs::last_write_time(scratch.file("trace.0.et"),
                        fs::last_write_time(scratch.file("trace.0.et")) + std::chrono::hours(1));
    CHECK(inputs(text, {"run"}) != longer);
    const std::string now = inputs(text, {"run"});
    std::ofstream(scenario) << "other";
    CHECK(inputs(text, {"run"}) != now);
}

TEST_CASE("unit.perturbed.results_are_no_input") {
    const Scratch scratch;
    const std::string scenario = scratch.file("s.toml");
    fs::create_directories(scratch.file("incast"));
    const auto inputs = [&] {
        return run_inputs(parse_config("[workload]\ntype = \"incast\"\n", "s.toml"), scenario, {},
                          scratch.file("incast"), "");
    };
    const std::string before = inputs();
    std::ofstream(scratch.file("incast") + "/compare.json") << "{}";
    CHECK(inputs() == before);
    // A folder of that name that is not the results' is.
    fs::create_directories(scratch.file("traces"));
    const auto of_folder = [&] {
        return run_inputs(parse_config("[workload]\ntraces = \"traces\"\n", "s.toml"), scenario, {},
                          scratch.file("incast"), "");
    };
    const std::string empty = of_folder();
    std::ofstream(scratch.file("traces") + "/0.et") << "x";
    CHECK(of_folder() != empty);
}

TEST_CASE("unit.perturbed.a_model_is_an_input_by_its_content") {
    const Scratch scratch;
    const std::string model = scratch.file("queues.model");
    const auto inputs = [&](const std::string& file) {
        return run_inputs(parse_config("[workload]\n", "s.toml"), scratch.file("s.toml"), {},
                          scratch.file("out"), file);
    };
    std::ofstream(model) << "one model";
    const std::string before = inputs(model);
    const auto made = fs::last_write_time(model);
    CHECK(inputs("") != before);
    std::ofstream(model) << "two model";  // as long, and as old
    fs::last_write_time(model, made);
    CHECK(inputs(model) != before);
    std::ofstream(model) << "one model";
    CHECK(inputs(model) == before);
}

TEST_CASE("unit.perturbed.restorers_that_read_a_model_say_which") {
    PhaseConfig config;
    for (const auto& [word, restoration] : restorer_words()) {
        CAPTURE(word);
        config.restore = restoration;
        const std::string name = word;
        config.restore_model = "";
        const bool reads = name != "hold" && name != "empty";
        CHECK(restorer_model(config) == (reads ? restore::shipped_model_path() : ""));
        config.restore_model = "own.model";
        CHECK(restorer_model(config) == (reads ? "own.model" : ""));
    }
}
