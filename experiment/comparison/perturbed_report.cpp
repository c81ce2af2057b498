// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/perturbed_report.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/text/human.h"
#include "experiment/comparison/report_parts.h"

namespace sluice {

namespace {

constexpr int kStableWidth = 10;  ///< of the word in the first column

std::vector<const CostRow*> costs_of(const PerturbedComparison& comparison) {
    std::vector<const CostRow*> rows;
    for (const PerturbedRow& row : comparison.rows) rows.push_back(&row);
    return rows;
}

std::string count_of_flows(std::size_t count) {
    return count < 1'000'000 ? fmt::format("{}", count) : human_count(static_cast<double>(count));
}

std::string title(const PerturbedComparison& comparison) {
    std::string text = fmt::format("{}: {}, {} pairs of perturbed runs\n", comparison.scenario,
                                   who_against_whom(costs_of(comparison)), comparison.pairs);
    text += fmt::format("  flows of {}: {} stable (within {} over its runs), {} sensitive\n",
                        comparison.rows.front().label(), count_of_flows(comparison.stable_flows),
                        percent(kStableSpread), count_of_flows(comparison.sensitive_flows));
    if (!comparison.same_flows) {
        text += "  flows are numbered as they are opened: none is judged by itself\n";
    }
    return text;
}

std::string verdict_words(const Equivalence& test) {
    std::string words = verdict_name(test.verdict);
    if (test.verdict == Verdict::equivalent) return words + " within " + percent(test.margin);
    if (test.verdict == Verdict::biased) return words + " by more than " + percent(test.margin);
    words += " at " + percent(test.margin);
    return words + (test.pairs_needed
                        ? fmt::format(": about {} pairs would", *test.pairs_needed)
                        : fmt::format(": more than {} pairs would be needed", kMostPairs));
}

std::string test_line(const char* what, const std::optional<Equivalence>& test, double spread) {
    if (!test) return "";
    return fmt::format(
        "    {:<22}{:>9}{:>22}{:>11}  {}\n", what, signed_percent(test->bias),
        fmt::format("{} to {}", signed_percent(test->low), signed_percent(test->high)),
        percent(spread), verdict_words(*test));
}

std::string distance_line(const Judgement& judgement) {
    if (!judgement.distance) return "";
    const DistributionDistance& distance = *judgement.distance;
    const char* words = "no more than chance";
    if (judgement.distributions_differ()) {
        words = "biased: more than chance";
    } else if (distance.p_value <= kSignificance) {
        words = "more than chance, within 1%";
    }
    return fmt::format("    {:<22}{:>9}{:>22}{:>11}  {}\n", "sensitive FCT by rank",
                       percent(distance.distance),
                       fmt::format("by chance {}", percent(distance.by_chance)),
                       fmt::format("p = {:.2g}", distance.p_value), words);
}

/// Errors of stable flows, a line per mode.
std::string stable_table(const PerturbedComparison& comparison, int width) {
    if (comparison.stable_flows == 0) return "";
    std::string text = fmt::format("  {:<{}}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n", "stable FCT", width,
                                   "flows", "mean", "p50", "p99", "max", "bias");
    for (const PerturbedRow& row : comparison.rows) {
        if (!row.judgement) continue;
        const StableErrors& stable = row.judgement->stable;
        const FctErrors& errors = stable.errors;
        text += fmt::format("  {:<{}}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}  {}\n", row.label(), width,
                            count_of_flows(errors.flows), percent(errors.mean), percent(errors.p50),
                            percent(errors.p99), percent(errors.max), signed_percent(stable.bias),
                            stable.within_margins() ? "within 1%, 3% at p99" : "off");
        if (stable.missing > 0) {
            text += fmt::format("  {:<{}}{:>9} did not finish\n", "", width,
                                count_of_flows(stable.missing));
        }
    }
    return text;
}

/// By how much the reference's own runs differ: standard deviations of logarithms.
struct Spreads {
    double jct = 0;
    double mean = 0;
    double p99 = 0;
};

Spreads spreads_of(const PerturbedRow& row) {
    std::vector<double> jct;
    std::vector<double> mean;
    std::vector<double> p99;
    for (const std::optional<double>& time : row.jct_s) {
        if (time && *time > 0) jct.push_back(*time);
    }
    for (const std::optional<FctFigures>& figures : row.sensitive) {
        if (!figures) continue;
        mean.push_back(figures->mean_s);
        p99.push_back(figures->p99_s);
    }
    return {log_deviation(jct), log_deviation(mean), log_deviation(p99)};
}

std::string judgement_lines(const PerturbedRow& row, const Spreads& spreads) {
    const Judgement& judgement = *row.judgement;
    std::string text = fmt::format("  {}: {}\n", row.label(), verdict_name(judgement.verdict()));
    text += test_line("job time", judgement.jct, spreads.jct);
    text += test_line("sensitive FCT, mean", judgement.mean_fct, spreads.mean);
    text += test_line("sensitive FCT, p99", judgement.p99_fct, spreads.p99);
    return text + distance_line(judgement);
}

ReportJson test_json(const std::optional<Equivalence>& test) {
    if (!test) return nullptr;
    return {{"bias", test->bias},
            {"low", test->low},
            {"high", test->high},
            {"sd", test->sd},
            {"margin", test->margin},
            {"verdict", verdict_name(test->verdict)},
            {"pairs_needed", json_or_null(test->pairs_needed)}};
}

ReportJson distance_json(const Judgement& judgement) {
    if (!judgement.distance) return nullptr;
    return {{"by_rank", judgement.distance->distance},
            {"by_chance", judgement.distance->by_chance},
            {"p_value", judgement.distance->p_value},
            {"exchanges", judgement.distance->exchanges},
            {"differs", judgement.distributions_differ()}};
}

ReportJson judgement_json(const Judgement& judgement) {
    ReportJson stable = fct_json(judgement.stable.errors);
    stable["bias"] = judgement.stable.errors.flows > 0 ? ReportJson(judgement.stable.bias)
                                                       : ReportJson(nullptr);
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

ReportJson row_json(const PerturbedRow& row) {
    ReportJson json = cost_json(row);
    const Spreads spreads = spreads_of(row);
    json["sd"] = {{"jct", spreads.jct},
                  {"sensitive_mean_fct", spreads.mean},
                  {"sensitive_p99_fct", spreads.p99}};
    ReportJson runs = ReportJson::array();
    for (std::size_t i = 0; i < row.jct_s.size(); ++i) {
        const std::optional<FctFigures>& figures = row.sensitive[i];
        runs.push_back({{"perturbation", i},
                        {"jct_s", json_or_null(row.jct_s[i])},
                        {"sensitive_mean_fct_s",
                         figures ? ReportJson(figures->mean_s) : ReportJson(nullptr)},
                        {"sensitive_p99_fct_s",
                         figures ? ReportJson(figures->p99_s) : ReportJson(nullptr)}});
    }
    json["by_run"] = std::move(runs);
    if (row.judgement) json["judgement"] = judgement_json(*row.judgement);
    return json;
}

}  // namespace

std::string perturbed_table(const PerturbedComparison& comparison) {
    const std::vector<const CostRow*> costs = costs_of(comparison);
    const int width = std::max(label_width(costs), kStableWidth);
    std::string text = title(comparison) + cost_table(costs, width);
    if (comparison.rows.size() == 1) return text;
    text += stable_table(comparison, width);
    const Spreads spreads = spreads_of(comparison.rows.front());
    text += fmt::format("  {:<24}{:>9}{:>22}{:>11}\n", "equivalence", "bias", "90% interval",
                        costs.front()->label() + " sd");
    for (std::size_t i = 1; i < comparison.rows.size(); ++i) {
        text += judgement_lines(comparison.rows[i], spreads);
    }
    return text;
}

std::string perturbed_json(const PerturbedComparison& comparison) {
    ReportJson json;
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
    json["rows"] = ReportJson::array();
    for (const PerturbedRow& row : comparison.rows) json["rows"].push_back(row_json(row));
    return json_text(json);
}

}  // namespace sluice
