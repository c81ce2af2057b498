// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/results/csv.h"
#include "eval/figure/figure.h"
#include "eval/report/report.h"

namespace sluice::eval {

namespace {

using Json = nlohmann::ordered_json;

/// Null: it has no end.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json interval_json(const Interval& interval) {
    return {{"estimate", number(interval.estimate)},
            {"low", number(interval.low)},
            {"high", number(interval.high)},
            {"relative_half_width", number(interval.relative_half_width())}};
}

const char* estimand_name(const Metric& metric) {
    return metric.estimand == Estimand::pooled ? "pooled" : "per-trial";
}

const char* unit_name(Unit unit) {
    switch (unit) {
        case Unit::seconds: return "s";
        case Unit::bytes: return "B";
        case Unit::bits_per_second: return "b/s";
        case Unit::none: break;
    }
    return "";
}

const char* tail_name(TailVerdict verdict) {
    switch (verdict) {
        case TailVerdict::Light: return "light";
        case TailVerdict::Heavy: return "heavy";
        case TailVerdict::TooFew: break;
    }
    return "too few";
}

const char* verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::Better: return "better";
        case Verdict::Worse: return "worse";
        case Verdict::Same: return "same";
        case Verdict::Undecided: break;
    }
    return "undecided";
}

Json forecast_json(const std::optional<TrialForecast>& forecast) {
    if (!forecast) return nullptr;
    return {{"trials", number(forecast->trials)},
            {"low", number(forecast->low)},
            {"high", number(forecast->high)}};
}

Json metric_json(const Evaluation& evaluation, std::size_t candidate, std::size_t m) {
    const Metric& metric = evaluation.plan().metrics[m];
    const Estimate estimate = evaluation.estimate(candidate, m);
    Json json = {{"name", metric.name},
                 {"what", describe(metric)},
                 {"estimand", estimand_name(metric)},
                 {"unit", unit_name(unit_of(metric))}};
    json.update(interval_json(estimate.interval));
    if (estimate.values == 0) json["estimate"] = nullptr;
    json["trials"] = estimate.trials;
    json["trials_without_value"] = estimate.empty;
    json["values"] = estimate.values;
    json["reached"] = estimate.reached;
    json["forecast"] = forecast_json(estimate.forecast);
    const TailReport tail = evaluation.estimator(candidate, m).tail();
    json["tail"] = {{"verdict", tail_name(tail.verdict)},
                    {"hill_index", number(tail.hill_index)},
                    {"largest_share", number(tail.largest_share)},
                    {"influence", number(tail.influence)}};
    Json looks = Json::array();
    for (const Look& look : evaluation.looks(candidate, m)) {
        looks.push_back({{"trials", look.trials},
                         {"low", number(look.interval.low)},
                         {"high", number(look.interval.high)}});
    }
    json["looks"] = std::move(looks);
    return json;
}

Json comparison_json(const Evaluation& evaluation) {
    const EvaluationPlan& plan = evaluation.plan();
    if (!plan.comparison) return nullptr;
    Json json = {{"metric", plan.metrics[plan.comparison->metric].name},
                 {"reference", plan.labels[0]},
                 {"margin", plan.comparison->margin},
                 {"pairs", Json::array()}};
    for (std::size_t c = 1; c < plan.labels.size(); ++c) {
        const std::optional<PairedResult> pair = evaluation.comparison().against_reference(c);
        if (!pair) continue;
        json["pairs"].push_back(
            {{"candidate", plan.labels[c]},
             {"verdict", verdict_name(pair->verdict)},
             {"difference", number(pair->difference.estimate)},
             {"low", number(pair->difference.low)},
             {"high", number(pair->difference.high)},
             {"reference_mean", number(pair->reference_mean)},
             {"more_trials", pair->more_trials ? number(*pair->more_trials) : Json(nullptr)}});
    }
    if (const Elimination* const elimination = evaluation.comparison().elimination()) {
        Json left = Json::array();
        for (const std::size_t c : elimination->candidates_left()) left.push_back(plan.labels[c]);
        json["left"] = std::move(left);
        json["leader"] = plan.labels[elimination->leader()];
    }
    return json;
}

const char* sizes_name(SizeKind kind) {
    switch (kind) {
        case SizeKind::Fitted: return "fitted";
        case SizeKind::Mapped: return "mapped";
        case SizeKind::Reweighted: break;
    }
    return "reweighted";
}

}  // namespace

std::string evaluation_json(const Evaluation& evaluation, const std::string& version) {
    const EvaluationPlan& plan = evaluation.plan();
    Json json = {{"name", plan.name},
                 {"version", version},
                 {"ending", ending_name(evaluation.ending())},
                 {"failure", evaluation.failure()},
                 {"confidence", plan.aim.confidence},
                 {"accuracy", plan.aim.accuracy ? Json(*plan.aim.accuracy) : Json(nullptr)},
                 {"rule", plan.aim.rule == RuleKind::paper ? "paper" : "corrected"},
                 {"seed", plan.seed},
                 {"trials", evaluation.rounds()},
                 {"trials_ran", evaluation.cost().ran},
                 {"trials_known", evaluation.cost().known},
                 {"trials_run_again", evaluation.cost().retried},
                 {"wall_s", evaluation.cost().wall_s},
                 {"cpu_s", evaluation.cost().cpu_s},
                 {"packet_hops", evaluation.cost().packet_hops}};
    if (const Window* const window = evaluation.window()) {
        json["window"] = {{"begin_s", window->begin},
                          {"end_s", window->end},
                          {"used", plan.window.find},
                          {"ramp_share", window->ramp_share},
                          {"mostly_ramps", window->mostly_ramps}};
    }
    json["candidates"] = Json::array();
    for (std::size_t c = 0; c < plan.labels.size(); ++c) {
        Json metrics = Json::array();
        for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
            metrics.push_back(metric_json(evaluation, c, m));
        }
        json["candidates"].push_back({{"label", plan.labels[c]}, {"metrics", std::move(metrics)}});
    }
    json["comparison"] = comparison_json(evaluation);
    return json.dump(2) + "\n";
}

std::string evaluation_csv(const Evaluation& evaluation) {
    const EvaluationPlan& plan = evaluation.plan();
    std::string text =
        "candidate,metric,estimand,unit,estimate,low,high,relative_half_width,trials,values,"
        "reached,tail\n";
    for (std::size_t c = 0; c < plan.labels.size(); ++c) {
        for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
            const Metric& metric = plan.metrics[m];
            const Estimate estimate = evaluation.estimate(c, m);
            const Interval& interval = estimate.interval;
            text += fmt::format(
                "{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(plan.labels[c]),
                csv_field(metric.name), estimand_name(metric), unit_name(unit_of(metric)),
                estimate.values > 0 ? fmt::format("{}", interval.estimate) : "", interval.low,
                interval.high, interval.relative_half_width(), estimate.trials, estimate.values,
                estimate.reached ? 1 : 0, tail_name(evaluation.estimator(c, m).tail().verdict));
        }
    }
    return text;
}

std::string trials_csv(const Evaluation& evaluation) {
    const EvaluationPlan& plan = evaluation.plan();
    std::string text = "candidate,trial,seed";
    for (const Metric& metric : plan.metrics) text += "," + csv_field(metric.name);
    text += "\n";
    for (std::size_t c = 0; c < plan.labels.size(); ++c) {
        for (std::size_t trial = 0; trial < evaluation.trials_of(c); ++trial) {
            text += fmt::format("{},{},{}", csv_field(plan.labels[c]), trial,
                                trial_seed(plan.seed, trial));
            for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
                const std::optional<double>& figure = evaluation.estimator(c, m).figures()[trial];
                text += figure ? fmt::format(",{}", *figure) : std::string(",");
            }
            text += "\n";
        }
    }
    return text;
}

std::string evaluation_svg(const Evaluation& evaluation, std::size_t metric) {
    const EvaluationPlan& plan = evaluation.plan();
    Figure figure;
    figure.title = plan.name;
    figure.metric = describe(plan.metrics[metric]);
    figure.unit = unit_of(plan.metrics[metric]);
    figure.target = plan.aim.accuracy.value_or(0);
    for (std::size_t c = 0; c < plan.labels.size(); ++c) {
        FigureSeries series;
        series.label = plan.labels[c];
        for (const std::optional<double>& value : evaluation.estimator(c, metric).figures()) {
            if (value) series.values.push_back(*value);
        }
        for (const Look& look : evaluation.looks(c, metric)) {
            series.looks.push_back(
                {look.trials, look.interval.estimate, look.interval.low, look.interval.high});
        }
        const Estimate last = evaluation.estimate(c, metric);
        if (series.looks.empty() || series.looks.back().trials != last.trials) {
            series.looks.push_back(
                {last.trials, last.interval.estimate, last.interval.low, last.interval.high});
        }
        figure.series.push_back(std::move(series));
    }
    return figure_svg(figure);
}

std::string tail_json(const EvaluationPlan& plan, const std::vector<TailResult>& results,
                      const std::string& version) {
    Json json = {{"name", plan.name},
                 {"version", version},
                 {"method", "importance sampling"},
                 {"what", describe(plan.metrics.front())},
                 {"confidence", plan.aim.confidence},
                 {"accuracy", *plan.aim.accuracy},
                 {"seed", plan.seed},
                 {"candidates", Json::array()}};
    for (std::size_t c = 0; c < results.size(); ++c) {
        const TailResult& result = results[c];
        const ModelBasedResult& estimate = result.estimate;
        Json one = {{"label", plan.labels[c]}, {"interrupted", result.interrupted}};
        if (result.trials > 0) {
            one.update(interval_json(estimate.interval));
            one["reached"] = result.reached;
            one["trials"] = result.trials;
            one["trials_in_all"] = estimate.trials_run;
            one["batched"] = estimate.batched ? interval_json(*estimate.batched) : Json(nullptr);
            one["effective_trials"] = number(estimate.weights.effective_trials);
            one["largest_share"] = number(estimate.weights.largest_share);
            one["mean_weight"] = number(estimate.weights.mean_weight);
            one["sizes"] = sizes_name(estimate.kind);
            one["fit"] = {{"mu", number(estimate.fit.log_normal.mu)},
                          {"sigma", number(estimate.fit.log_normal.sigma)},
                          {"rms_distance", number(estimate.fit.rms_distance)},
                          {"max_distance", number(estimate.fit.max_distance)},
                          {"mean_ratio", number(estimate.fit.mean_ratio)}};
            one["shift"] = estimate.change.shift;
            one["scale"] = estimate.change.scale;
            one["threshold"] = number(estimate.threshold);
            one["gain"] = result.interrupted ? Json(nullptr) : number(estimate.gain);
            one["wall_s"] = result.wall_s;
        }
        json["candidates"].push_back(std::move(one));
    }
    return json.dump(2) + "\n";
}

}  // namespace sluice::eval
