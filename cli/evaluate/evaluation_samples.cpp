// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluate/evaluation_samples.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "core/results/output_folder.h"
#include "core/text/human.h"
#include "eval/executor/readers.h"
#include "eval/executor/samples_executor.h"
#include "eval/report/report.h"

namespace sluice {

namespace {

constexpr std::size_t kMostColumns = 20;

/// The columns that are asked for: those that a trial has.
std::vector<std::string> quantities_of(const SampleOptions& options,
                                       const std::vector<eval::SampledCandidate>& candidates) {
    std::set<std::string> columns;
    bool flows = false;
    for (const eval::SampledCandidate& candidate : candidates) {
        for (const eval::TrialRecord& trial : candidate.trials) {
            flows = flows || !trial.flows.empty();
            for (const auto& [name, values] : trial.columns) columns.insert(name);
        }
    }
    std::vector<std::string> known(columns.begin(), columns.end());
    if (flows) known.insert(known.begin(), {"fct", "slowdown"});
    if (options.metric.empty()) {
        if (flows) return {"fct"};
        known.resize(std::min(known.size(), kMostColumns));
        return known;
    }
    if (std::find(known.begin(), known.end(), options.metric) != known.end()) {
        return {options.metric};
    }
    std::string allowed;
    for (const std::string& name : known) allowed += (allowed.empty() ? "" : ", ") + name;
    throw ConfigError(options.files.front() + ": has no column " + options.metric +
                      "; must be one of " + allowed);
}

bool has_flows(const std::vector<eval::SampledCandidate>& candidates) {
    return std::any_of(candidates.begin(), candidates.end(), [](const auto& candidate) {
        return std::any_of(candidate.trials.begin(), candidate.trials.end(),
                           [](const eval::TrialRecord& trial) { return !trial.flows.empty(); });
    });
}

std::vector<eval::Metric> metrics_of(const SampleOptions& options,
                                     const std::vector<eval::SampledCandidate>& candidates) {
    std::vector<eval::Metric> metrics;
    for (const std::string& quantity : quantities_of(options, candidates)) {
        eval::Metric metric;
        metric.name = metric.quantity = quantity;
        metric.column = eval::find_quantity(quantity) == nullptr || !has_flows(candidates);
        if (!eval::parse_statistic(options.statistic, metric.quantile)) {
            throw ConfigError("--statistic " + options.statistic +
                              ": must be mean or a percentile such as p99 or p99.9");
        }
        metric.estimand = options.pooled ? eval::Estimand::pooled : eval::Estimand::per_trial;
        metrics.push_back(std::move(metric));
    }
    return metrics;
}

/// After how many trials the rule would have stopped, and with which interval.
std::string stop_lines(const eval::EvaluationPlan& plan, const eval::Aim& aim,
                       const std::vector<eval::TrialRecord>& trials) {
    std::string text;
    for (const eval::Metric& metric : plan.metrics) {
        eval::Estimator estimator(metric, aim);
        std::size_t next = estimator.first_look();
        eval::Decision decision;
        while (decision.outcome == eval::Outcome::Continue && next <= trials.size()) {
            while (estimator.trials() < next) {
                estimator.add(eval::observe(metric, trials[estimator.trials()], {}));
            }
            decision = estimator.decide();
            next = std::max(decision.next_look, next + 1);
        }
        const double accuracy = 100 * *aim.accuracy;
        if (decision.outcome == eval::Outcome::Reached) {
            text += fmt::format(
                "  stop         {}: +-{:g}% after {} trials: {}\n", metric.name, accuracy,
                estimator.trials(),
                eval::shown_interval(estimator.estimate().interval, eval::unit_of(metric)));
        } else {
            text += fmt::format("  stop         {}: not before trial {}; +-{:g}% is not reached\n",
                                metric.name, std::min(next, aim.maximum_trials), accuracy);
        }
    }
    return text;
}

/// By candidate, the trials that all have, in the same order: by their names, else by their place.
std::vector<std::vector<eval::TrialRecord>> common_trials(
    std::vector<eval::SampledCandidate>& candidates, std::size_t& without) {
    std::map<std::uint32_t, std::size_t> seen;
    std::size_t all = 0;
    for (eval::SampledCandidate& candidate : candidates) {
        if (candidate.numbers.empty()) {
            candidate.numbers.resize(candidate.trials.size());
            std::iota(candidate.numbers.begin(), candidate.numbers.end(), 0U);
        }
        for (const std::uint32_t number : candidate.numbers) ++seen[number];
        all += candidate.trials.size();
    }
    std::vector<std::vector<eval::TrialRecord>> trials(candidates.size());
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        std::map<std::uint32_t, eval::TrialRecord*> of_number;
        for (std::size_t i = 0; i < candidates[c].trials.size(); ++i) {
            of_number[candidates[c].numbers[i]] = &candidates[c].trials[i];
        }
        for (const auto& [number, trial] : of_number) {
            if (seen[number] == candidates.size()) trials[c].push_back(std::move(*trial));
        }
        all -= trials[c].size();
    }
    without = all;
    return trials;
}

/// One evaluation over all that the files have.
int evaluate_group(eval::EvaluationPlan plan, const eval::Aim& aim,
                   std::vector<std::vector<eval::TrialRecord>> trials,
                   const EvaluationOptions& run) {
    std::size_t fewest = trials.front().size();
    for (const auto& of_candidate : trials) fewest = std::min(fewest, of_candidate.size());
    plan.aim = aim;
    plan.aim.accuracy.reset();
    plan.aim.fixed = true;
    plan.aim.maximum_trials = fewest;
    plan.aim.minimum_trials = std::min(aim.minimum_trials.value_or(fewest), fewest);
    eval::SamplesExecutor executor(trials);
    eval::Evaluation evaluation(plan, executor, nullptr, 1);
    run_trials(evaluation, true);
    if (evaluation.ending() == eval::Ending::interrupted) return kExitInterrupted;
    std::string text = eval::evaluation_text(evaluation);
    for (std::size_t c = 0; c < trials.size(); ++c) text += stop_lines(plan, aim, trials[c]);
    if (!run.quiet) print_text(text);
    if (!run.out.empty()) {
        const OutputFolder folder(run.out);
        write_evaluation(evaluation, run.out);
        if (!run.quiet) print("  written to   {}/\n", run.out);
    }
    return kExitDone;
}

/// Pair by pair.
int compare_samples(const SampleOptions& options, eval::EvaluationPlan plan, const eval::Aim& aim,
                    std::vector<eval::SampledCandidate>& candidates, const EvaluationOptions& run) {
    const std::string where = "--compare: " + options.files.front();
    if (candidates.size() < 2) {
        throw ConfigError(where +
                          " has fewer than two candidates; a column \"candidate\" must name them");
    }
    if (options.pooled) {
        throw ConfigError(
            "--compare: not allowed with --pooled, as it compares statistics of single trials");
    }
    plan.comparison = eval::ComparisonAim{};
    std::size_t without = 0;
    std::vector<std::vector<eval::TrialRecord>> trials = common_trials(candidates, without);
    if (trials.front().size() < 2) {
        throw ConfigError(where + ": fewer than two trials are common to all candidates");
    }
    for (const eval::SampledCandidate& candidate : candidates) {
        plan.labels.push_back(candidate.label);
    }
    if (without > 0 && !run.quiet) {
        print_error("sluice: {} missing for some candidates, and omitted from the comparison\n",
                    counted(without, "trial is", "trials are"));
    }
    return evaluate_group(std::move(plan), aim, std::move(trials), run);
}

}  // namespace

int evaluate_samples(const SampleOptions& options, const eval::Aim& asked,
                     const EvaluationOptions& run) {
    std::optional<OutputFolder> folder;
    if (!run.out.empty()) {
        check_folder(run);
        // Before anything is worked out in vain.
        folder.emplace(run.out);
    }
    std::vector<eval::SampledCandidate> candidates = eval::read_samples(options.files);
    eval::Aim aim = asked;
    aim.accuracy = asked.accuracy.value_or(0.05);
    eval::EvaluationPlan plan;
    plan.metrics = metrics_of(options, candidates);
    const std::string name = std::filesystem::path(options.files.front()).stem().string();
    for (const eval::SampledCandidate& candidate : candidates) {
        if (candidate.trials.size() < 2) {
            throw ConfigError(options.files.front() + ": has one trial" +
                              (candidate.label.empty() ? "" : " of " + candidate.label) +
                              "; an interval needs at least two");
        }
    }
    plan.name = name;
    if (options.compare) return compare_samples(options, std::move(plan), aim, candidates, run);
    int code = kExitDone;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        eval::SampledCandidate& candidate = candidates[c];
        EvaluationOptions own = run;
        plan.name = candidate.label.empty() ? name : candidate.label;
        plan.labels = {plan.name};
        // A label may be anything; a folder is called by its number.
        if (!run.out.empty() && candidates.size() > 1) {
            own.out = fmt::format("{}/candidate-{}", run.out, c);
        }
        code = std::max(code, evaluate_group(plan, aim, {std::move(candidate.trials)}, own));
    }
    return code;
}

}  // namespace sluice
