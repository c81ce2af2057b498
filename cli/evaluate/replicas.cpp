// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluate/replicas.h"

#include <algorithm>

#include <fmt/core.h>

#include "cli/evaluate/evaluation_run.h"
#include "eval/evaluation/evaluation.h"
#include "eval/intervals/mean.h"
#include "eval/report/report.h"

namespace sluice {

namespace {

constexpr double kConfidence = 0.95;

eval::EvaluationPlan plan_of(const ConfigValue& values, const std::string& path,
                             std::size_t count) {
    eval::EvaluationPlan plan;
    plan.name = "replicas";
    plan.labels = {"replicas"};
    plan.aim.fixed = true;
    plan.aim.maximum_trials = count;
    plan.aim.minimum_trials = 2;
    plan.variation = eval::Variation{false, true};
    plan.scenarios = Batch::of_entries(plan.name, path, path, {}, {{"replicas", "", {}}},
                                       [&](const std::string&) { return values; });
    plan.metrics = eval::usual_metrics(eval::has_jobs(*plan.scenarios, 0));
    return plan;
}

const char* name_of(const eval::Metric& metric) {
    if (metric.quantity == "jct") return "completion time";
    return metric.quantile ? "p99 flow" : "mean flow";
}

}  // namespace

Replicas run_replicas(const ConfigValue& values, const std::string& path, std::size_t count,
                      unsigned threads, bool quiet) {
    const eval::EvaluationPlan plan = plan_of(values, path, count);
    const std::unique_ptr<eval::Executor> executor = make_executor(plan, {});
    eval::Evaluation evaluation(plan, *executor, nullptr, threads);
    run_trials(evaluation, quiet);
    Replicas replicas;
    replicas.failure = evaluation.failure();
    replicas.interrupted = evaluation.ending() == eval::Ending::interrupted;
    if (evaluation.rounds() < 2) return replicas;
    for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
        ReplicaFigure figure;
        figure.name = name_of(plan.metrics[m]);
        for (const std::optional<double>& value : evaluation.estimator(0, m).figures()) {
            if (value) figure.values.push_back(*value);
        }
        if (figure.values.size() < 2) continue;
        const eval::Moments moments(figure.values);
        figure.mean = eval::student_interval(moments, kConfidence);
        figure.deviation = moments.deviation();
        replicas.figures.push_back(std::move(figure));
    }
    return replicas;
}

std::string replicas_text(const Replicas& replicas) {
    std::string text;
    if (replicas.figures.empty()) return text;
    text += fmt::format(
        "  replicas         {} runs that differ in cable delays (by picoseconds) and random draws "
        "of the network, not in the workload (95% intervals of the mean)\n",
        replicas.figures.front().values.size());
    for (const ReplicaFigure& figure : replicas.figures) {
        const auto [least, most] = std::minmax_element(figure.values.begin(), figure.values.end());
        const auto shown = [](double value) {
            return eval::shown_value(value, eval::Unit::seconds);
        };
        text += fmt::format(
            "    {:<15} {}; runs from {} to {}, deviation {:.2g}%\n", figure.name,
            eval::shown_interval(figure.mean, eval::Unit::seconds), shown(*least), shown(*most),
            figure.mean.estimate > 0 ? 100 * figure.deviation / figure.mean.estimate : 0.0);
    }
    return text;
}

std::string replicas_csv(const Replicas& replicas) {
    std::string text = "replica,perturbation";
    std::size_t rows = 0;
    for (const ReplicaFigure& figure : replicas.figures) {
        std::string column = figure.name + "_s";
        std::replace(column.begin(), column.end(), ' ', '_');
        text += "," + column;
        rows = std::max(rows, figure.values.size());
    }
    text += "\n";
    for (std::size_t i = 0; i < rows; ++i) {
        text += fmt::format("{},{}", i, i + 1);
        for (const ReplicaFigure& figure : replicas.figures) {
            text += i < figure.values.size() ? fmt::format(",{}", figure.values[i]) : ",";
        }
        text += "\n";
    }
    return text;
}

}  // namespace sluice
