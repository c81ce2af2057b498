// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/text/human.h"
#include "eval/model_based/tail_evaluation.h"

namespace sluice::eval {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json interval_json(const Interval& interval) {
    return {{"estimate", number(interval.estimate)},
            {"low", number(interval.low)},
            {"high", number(interval.high)},
            {"relative_half_width", number(interval.relative_half_width())}};
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

std::string tail_text(const EvaluationPlan& plan, std::size_t candidate, const TailResult& result) {
    const Metric& metric = plan.metrics.front();
    const Unit unit = unit_of(metric);
    const ModelBasedResult& estimate = result.estimate;
    const auto shown = [&](const Interval& interval) {
        return fmt::format("{}, {} to {} (+-{:.2g}%)", shown_value(interval.estimate, unit),
                           shown_value(interval.low, unit), shown_value(interval.high, unit),
                           100 * interval.relative_half_width());
    };
    std::string text =
        fmt::format("{}: {} by importance sampling{}\n", plan.labels[candidate], describe(metric),
                    plan.labels.size() > 1 ? ", by itself: nothing is compared" : "");
    if (result.interrupted) text += "  interrupted: --resume goes on\n";
    if (result.trials == 0) return text;
    text +=
        fmt::format("  estimate     {}, {} after {} of the search and of the original traffic{}\n",
                    shown(estimate.interval), counted(result.trials, "trial", "trials"),
                    estimate.trials_run - result.trials,
                    result.reached ? "" : ", not as narrow as was asked for");
    if (estimate.batched) {
        text += fmt::format("  by batches   {} (the paper's interval)\n", shown(*estimate.batched));
    }
    text +=
        fmt::format("  weights      {:.0f} effective trials, the largest has {:.1f}% of the tail\n",
                    estimate.weights.effective_trials, 100 * estimate.weights.largest_share);
    text += fmt::format(
        "  change       ln size by {:+.2f} deviations, {:.2f} times as wide; switched off at {}\n",
        estimate.change.shift, estimate.change.scale, shown_value(estimate.threshold, unit));
    text += fmt::format(
        "  gain         {:.2f} times fewer trials than without (below 1: it does not pay)\n",
        estimate.gain);
    if (estimate.kind == SizeKind::Fitted) {
        text += fmt::format(
            "  sizes        of the fitted log-normal distribution, not of the file: {:.2f} times "
            "its "
            "mean, cumulative shares off by up to {:.3f}\n",
            estimate.fit.mean_ratio, estimate.fit.max_distance);
    }
    return text;
}

}  // namespace sluice::eval
