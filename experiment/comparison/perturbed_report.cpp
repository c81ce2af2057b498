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
        text +=
            "  flows are numbered in the order in which they start: none is compared "
            "individually\n";
    }
    return text;
}

std::string verdict_words(const Equivalence& test) {
    std::string words = verdict_name(test.verdict);
    if (test.verdict == Verdict::equivalent) return words + " within " + percent(test.margin);
    if (test.verdict == Verdict::biased) return words + " by more than " + percent(test.margin);
    words += " at " + percent(test.margin);
    return words + (test.pairs_needed
                        ? fmt::format(": about {} pairs would be needed", *test.pairs_needed)
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

std::string judgement_lines(const PerturbedRow& row, const Spreads& spreads) {
    const Judgement& judgement = *row.judgement;
    std::string text = fmt::format("  {}: {}\n", row.label(), verdict_name(judgement.verdict()));
    text += test_line("job time", judgement.jct, spreads.jct);
    text += test_line("sensitive FCT, mean", judgement.mean_fct, spreads.mean_fct);
    text += test_line("sensitive FCT, p99", judgement.p99_fct, spreads.p99_fct);
    return text + distance_line(judgement);
}

}  // namespace

std::string perturbed_table(const PerturbedComparison& comparison) {
    const std::vector<const CostRow*> costs = costs_of(comparison);
    const int width = std::max(label_width(costs), kStableWidth);
    std::string text = title(comparison) + cost_table(costs, width);
    if (comparison.rows.size() == 1) return text;
    text += stable_table(comparison, width);
    const Spreads spreads = comparison.rows.front().spreads();
    text += fmt::format("  {:<24}{:>9}{:>22}{:>11}\n", "equivalence", "bias", "90% interval",
                        costs.front()->label() + " sd");
    for (std::size_t i = 1; i < comparison.rows.size(); ++i) {
        text += judgement_lines(comparison.rows[i], spreads);
    }
    return text;
}

}  // namespace sluice
