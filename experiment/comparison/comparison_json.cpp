// SPDX-License-Identifier: Apache-2.0
/// Comparisons as JSON. Keys and units: docs/outputs.md.
#include <cmath>

#include <nlohmann/json.hpp>

#include "experiment/comparison/comparison_report.h"
#include "experiment/comparison/perturbed_report.h"
#include "experiment/comparison/report_parts.h"

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

Json cost_json(const CostRow& row) {
    Json json;
    json["mode"] = mode_name(row.mode);
    if (!row.restorer.empty()) json["restorer"] = row.restorer;
    json["runs"] = row.runs;
    json["wall_s"] = row.costs.wall_s;
    json["user_s"] = row.costs.user_s;
    json["cpu_use"] = row.cpu_use();
    json["speedup"] = row.speedup;
    // A mode without packets executes none; that is the figure to compare.
    json["packet_hops"] = row.packet_hops.value_or(0);
    json["hops_saved"] = or_null<Json>(row.hops_saved);
    json["peak_rss_bytes"] = std::llround(row.costs.peak_rss_bytes);
    json["flows"] = row.flows;
    return json;
}

Json fct_json(const FctErrors& fct) {
    const auto value = [&](double error) { return fct.flows > 0 ? Json(error) : Json(nullptr); };
    return {{"mean", value(fct.mean)},
            {"p50", value(fct.p50)},
            {"p99", value(fct.p99)},
            {"max", value(fct.max)},
            {"byte_weighted", value(fct.byte_weighted)},
            {"flows", fct.flows}};
}

std::string json_text(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json json_row(const ComparisonRow& row) {
    const RunErrors& errors = row.errors;
    const auto of_links = [&](double error) {
        return errors.throughput.links > 0 ? Json(error) : Json(nullptr);
    };
    Json json = cost_json(row);
    json["fct_error"] = fct_json(errors.fct);
    json["fct_error_by_class"] = Json::object();
    for (const ClassErrors& one : errors.by_class) {
        json["fct_error_by_class"][one.name] = fct_json(one.fct);
    }
    json["jct_error"] = or_null<Json>(errors.jct);
    json["throughput_error"] = of_links(errors.throughput.mean);
    json["throughput_error_max"] = of_links(errors.throughput.max);
    json["links"] = errors.throughput.links;
    json["flows_missing"] = errors.missing;
    json["flows_extra"] = errors.extra;
    return json;
}

Json test_json(const std::optional<Equivalence>& test) {
    if (!test) return nullptr;
    return {{"bias", test->bias},
            {"low", test->low},
            {"high", test->high},
            {"sd", test->sd},
            {"margin", test->margin},
            {"verdict", verdict_name(test->verdict)},
            {"pairs_needed", or_null<Json>(test->pairs_needed)}};
}

Json distance_json(const Judgement& judgement) {
    if (!judgement.distance) return nullptr;
    return {{"by_rank", judgement.distance->distance},
            {"by_chance", judgement.distance->by_chance},
            {"p_value", judgement.distance->p_value},
            {"exchanges", judgement.distance->exchanges},
            {"differs", judgement.distributions_differ()}};
}

Json judgement_json(const Judgement& judgement) {
    Json stable = fct_json(judgement.stable.errors);
    stable["bias"] =
        judgement.stable.errors.flows > 0 ? Json(judgement.stable.bias) : Json(nullptr);
    stable["missing"] = judgement.stable.missing;
    stable["within_margins"] = judgement.stable.within_margins();
    return {{"verdict", verdict_name(judgement.verdict())},
            {"jct", test_json(judgement.jct)},
            {"sensitive_mean_fct", test_json(judgement.mean_fct)},
            {"sensitive_p99_fct", test_json(judgement.p99_fct)},
            {"sensitive_fct_distance", distance_json(judgement)},
            {"stable_fct_error", stable},
            {"all_mean_fct", test_json(judgement.mean_fct_of_all)},
            {"all_p99_fct", test_json(judgement.p99_fct_of_all)}};
}

Json row_json(const PerturbedRow& row) {
    Json json = cost_json(row);
    const Spreads spreads = row.spreads();
    json["sd"] = {{"jct", spreads.jct},
                  {"sensitive_mean_fct", spreads.mean_fct},
                  {"sensitive_p99_fct", spreads.p99_fct}};
    Json runs = Json::array();
    for (const RunLine& line : row.lines) {
        const auto of = [&](double FctFigures::*figure) {
            return line.sensitive ? Json((*line.sensitive).*figure) : Json(nullptr);
        };
        runs.push_back({{"perturbation", runs.size()},
                        {"wall_s", line.costs.wall_s},
                        {"user_s", line.costs.user_s},
                        {"packet_hops", line.packet_hops.value_or(0)},
                        {"jct_s", or_null<Json>(line.jct_s)},
                        {"sensitive_mean_fct_s", of(&FctFigures::mean_s)},
                        {"sensitive_p99_fct_s", of(&FctFigures::p99_s)}});
    }
    json["by_run"] = std::move(runs);
    if (row.judgement) json["judgement"] = judgement_json(*row.judgement);
    return json;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
    Json json;
    json["scenario"] = comparison.scenario;
    json["version"] = comparison.version;
    json["interrupted"] = comparison.interrupted;
    json["reference"] = comparison.rows.front().label();
    json["rows"] = Json::array();
    for (const ComparisonRow& row : comparison.rows) json["rows"].push_back(json_row(row));
    return json_text(json);
}

std::string perturbed_json(const PerturbedComparison& comparison) {
    Json json;
    json["scenario"] = comparison.scenario;
    json["version"] = comparison.version;
    json["interrupted"] = false;
    json["reference"] = comparison.rows.front().label();
    json["pairs"] = comparison.pairs;
    json["stable_spread"] = kStableSpread;
    json["stable_flows"] = comparison.stable_flows;
    json["sensitive_flows"] = comparison.sensitive_flows;
    json["same_flows"] = comparison.same_flows;
    json["verdict"] = verdict_name(comparison.verdict());
    json["rows"] = Json::array();
    for (const PerturbedRow& row : comparison.rows) json["rows"].push_back(row_json(row));
    return json_text(json);
}

}  // namespace sluice
