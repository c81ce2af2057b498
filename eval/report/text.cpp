// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "core/text/human.h"
#include "eval/report/report.h"

namespace sluice::eval {

namespace {

std::string shown_count(double count) {
    return count < 1e6 ? fmt::format("{:.0f}", count) : human_count(count);
}

std::string shown_forecast(const TrialForecast& forecast) {
    return fmt::format("{} trials ({} to {})", shown_count(std::ceil(forecast.trials)),
                       shown_count(std::ceil(forecast.low)), shown_count(std::ceil(forecast.high)));
}

std::string state_of(const Evaluation& evaluation, std::size_t candidate,
                     const Estimate& estimate) {
    const Elimination* const elimination = evaluation.comparison().elimination();
    if (elimination != nullptr && !elimination->left(candidate)) return ", dropped";
    const std::optional<double>& accuracy = evaluation.plan().aim.accuracy;
    if (!accuracy || estimate.reached) return "";
    std::string text = fmt::format(", +-{:g}% not reached", 100 * *accuracy);
    if (estimate.forecast && estimate.forecast->trials > static_cast<double>(estimate.trials)) {
        text += ": about " + shown_forecast(*estimate.forecast);
    }
    return text;
}

std::string metric_lines(const Evaluation& evaluation, std::size_t m) {
    const EvaluationPlan& plan = evaluation.plan();
    const Metric& metric = plan.metrics[m];
    std::string text = fmt::format("  {}: {}\n", metric.name, describe(metric));
    std::size_t width = 0;
    for (const std::string& label : plan.labels) width = std::max(width, label.size());
    for (std::size_t c = 0; c < plan.labels.size(); ++c) {
        const Estimate estimate = evaluation.estimate(c, m);
        const std::string empty =
            estimate.empty > 0 ? fmt::format(", {} without a value", estimate.empty) : "";
        const std::string shown = estimate.values > 0
                                      ? shown_interval(estimate.interval, unit_of(metric))
                                      : std::string("no value");
        text += fmt::format("    {:<{}}  {}, {}{}{}\n", plan.labels[c], width, shown,
                            counted(estimate.trials, "trial", "trials"), empty,
                            state_of(evaluation, c, estimate));
        // A quantile of pooled values rests on no mean.
        const bool of_mean = metric.estimand == Estimand::per_trial || !metric.quantile;
        const TailReport report = evaluation.estimator(c, m).tail();
        const bool judged = of_mean && report.verdict != TailVerdict::TooFew;
        const std::string tail = judged ? describe(report) : "";
        if (!tail.empty()) text += fmt::format("    {:<{}}  {}\n", "", width, tail);
    }
    return text;
}

const char* verdict_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::Better: return "better than";
        case Verdict::Worse: return "worse than";
        case Verdict::Same: return "within the margin of";
        case Verdict::Undecided: break;
    }
    return "not distinguishable yet from";
}

std::string pair_line(const Evaluation& evaluation, std::size_t candidate) {
    const EvaluationPlan& plan = evaluation.plan();
    const std::optional<PairedResult> pair = evaluation.comparison().against_reference(candidate);
    if (!pair) return "";
    const Interval& difference = pair->difference;
    const double base = std::fabs(pair->reference_mean);
    const auto relative = [&](double value) { return base > 0 ? 100 * value / base : 0; };
    std::string text =
        fmt::format("    {} is {} {}: {:+.3g}% ({:+.3g}% to {:+.3g}%)", plan.labels[candidate],
                    verdict_text(pair->verdict), plan.labels[0], relative(difference.estimate),
                    relative(difference.low), relative(difference.high));
    if (pair->verdict == Verdict::Undecided) {
        text += pair->more_trials ? fmt::format("; about {} more trials are needed",
                                                shown_count(std::ceil(*pair->more_trials)))
                                  : std::string("; without a margin no number of trials is enough");
    }
    return text + "\n";
}

std::string comparison_lines(const Evaluation& evaluation) {
    const EvaluationPlan& plan = evaluation.plan();
    if (!plan.comparison) return "";
    std::string text = fmt::format(
        "  comparison by {}, in pairs of trials with common random numbers ({:g}% confidence for "
        "all):\n",
        plan.metrics[plan.comparison->metric].name, 100 * plan.aim.confidence);
    for (std::size_t c = 1; c < plan.labels.size(); ++c) text += pair_line(evaluation, c);
    const Elimination* const elimination = evaluation.comparison().elimination();
    if (elimination == nullptr || elimination->rounds() < 2) return text;
    for (std::size_t c = 0; c < plan.labels.size(); ++c) {
        if (const std::optional<Eliminated>& out = elimination->eliminated(c)) {
            text += fmt::format("    {} was dropped after {} trials: {} is better\n",
                                plan.labels[c], out->trials, plan.labels[out->by]);
        }
    }
    const std::vector<std::size_t> left = elimination->candidates_left();
    if (left.size() == 1) return text + "    best: " + plan.labels[left.front()] + "\n";
    text += fmt::format("    {} candidates remain; best so far: {}\n", left.size(),
                        plan.labels[elimination->leader()]);
    return text;
}

/// Of a scenario that draws nothing, or whose draws do not matter.
bool all_equal(const Evaluation& evaluation) {
    if (evaluation.rounds() < 2) return false;
    for (std::size_t c = 0; c < evaluation.plan().labels.size(); ++c) {
        for (std::size_t m = 0; m < evaluation.plan().metrics.size(); ++m) {
            const std::vector<std::optional<double>>& figures =
                evaluation.estimator(c, m).figures();
            const bool same = std::all_of(figures.begin(), figures.end(), [&](const auto& figure) {
                return figure == figures.front();
            });
            if (!same) return false;
        }
    }
    return true;
}

std::string ending_line(const Evaluation& evaluation) {
    switch (evaluation.ending()) {
        case Ending::open:
        case Ending::reached: return "";
        case Ending::exhausted:
            return fmt::format("  stopped at the largest number of trials ({})\n",
                               evaluation.plan().aim.maximum_trials);
        case Ending::interrupted: return "  interrupted: the intervals are those so far\n";
        case Ending::failed:
            return "  ended by " + evaluation.failure() +
                   "\n  figures include only the trials before it, as omitting it alone would bias "
                   "them\n";
    }
    return "";
}

}  // namespace

std::string shown_interval(const Interval& interval, Unit unit) {
    const double width = interval.relative_half_width();
    return fmt::format("{}, {} to {}{}", shown_value(interval.estimate, unit),
                       shown_value(interval.low, unit), shown_value(interval.high, unit),
                       std::isfinite(width) ? " (+-" + shown_percent(width) + ")" : "");
}

std::string shown_percent(double share) {
    const double percent = 100 * share;
    return fmt::format(percent < 9.95 ? "{:.2g}%" : "{:.0f}%", percent);
}

std::string evaluation_text(const Evaluation& evaluation) {
    const EvaluationPlan& plan = evaluation.plan();
    std::string text =
        fmt::format("{}: {}, {}, {:g}% intervals{}\n", plan.name,
                    counted(plan.labels.size(), "candidate", "candidates"),
                    counted(evaluation.rounds(), "trial", "trials"), 100 * plan.aim.confidence,
                    plan.aim.rule == RuleKind::paper ? " by CCEval's rule" : "");
    text += ending_line(evaluation);
    if (evaluation.rounds() == 0) return text;
    for (std::size_t m = 0; m < plan.metrics.size(); ++m) text += metric_lines(evaluation, m);
    text += comparison_lines(evaluation);
    if (evaluation.window() != nullptr) {
        const Window& window = *evaluation.window();
        if (plan.window.find) {
            text += fmt::format("  window       flows that start from {} to {} count\n",
                                human_seconds(window.begin), human_seconds(window.end));
        }
        const std::string warning = describe(window);
        if (!warning.empty()) text += "  warning      " + warning + "\n";
    }
    const std::size_t rounds = evaluation.rounds();
    constexpr std::size_t kJudged = 50;  // eval/tail/tail.h
    if (rounds < kJudged) {
        text += fmt::format("  tails        not judged: this needs {} trials\n", kJudged);
    }
    text += fmt::format("  unseen       events that occur in fewer than {} of trials\n",
                        shown_percent(std::min(1.0, 3.0 / static_cast<double>(rounds))));
    if (all_equal(evaluation)) {
        text +=
            "  note         all trials gave the same figures: they do not depend on what varies\n";
    }
    if (evaluation.cost().retried > 0) {
        text += fmt::format("  run again    {} after a failure\n",
                            counted(evaluation.cost().retried, "trial", "trials"));
    }
    if (evaluation.cost().known > 0) {
        text += fmt::format("  known        {} of an earlier run\n",
                            counted(evaluation.cost().known, "trial", "trials"));
    }
    return text;
}

double progress_share(const Evaluation& evaluation) {
    const double done = static_cast<double>(evaluation.cost().known + evaluation.cost().ran);
    const std::optional<TrialForecast> forecast = evaluation.forecast();
    if (!forecast || forecast->trials <= 0) return 0;
    return std::min(0.99, done / forecast->trials);
}

std::string progress_text(const Evaluation& evaluation, double seconds) {
    const EvaluationPlan& plan = evaluation.plan();
    std::string text = counted(evaluation.cost().known + evaluation.cost().ran, "trial", "trials");
    if (evaluation.rounds() < 2) return text;
    std::size_t candidate = 0;
    std::size_t metric = 0;
    double widest = -1;
    for (std::size_t c = 0; c < plan.labels.size(); ++c) {
        for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
            const double width = evaluation.estimate(c, m).interval.relative_half_width();
            const bool left = evaluation.comparison().elimination() == nullptr ||
                              evaluation.comparison().elimination()->left(c);
            if (left && width > widest) {
                widest = width;
                candidate = c;
                metric = m;
            }
        }
    }
    const Interval interval = evaluation.estimate(candidate, metric).interval;
    const std::string label = plan.labels.size() > 1 ? plan.labels[candidate] + " " : "";
    text += fmt::format("; {}{} {}", label, plan.metrics[metric].name,
                        shown_value(interval.estimate, unit_of(plan.metrics[metric])));
    if (std::isfinite(widest)) text += " +-" + shown_percent(widest);
    const std::optional<TrialForecast> forecast = evaluation.forecast();
    if (!forecast || evaluation.cost().ran == 0) return text;
    const double done = static_cast<double>(evaluation.cost().known + evaluation.cost().ran);
    const double each = seconds / static_cast<double>(evaluation.cost().ran);
    const auto left = [&](double trials) { return std::max(0.0, trials - done); };
    return text + fmt::format("; about {} more ({} to {}), {} ({} to {})",
                              shown_count(std::ceil(left(forecast->trials))),
                              shown_count(std::ceil(left(forecast->low))),
                              shown_count(std::ceil(left(forecast->high))),
                              human_seconds(each * left(forecast->trials)),
                              human_seconds(each * left(forecast->low)),
                              human_seconds(each * left(forecast->high)));
}

std::string tail_text(const EvaluationPlan& plan, std::size_t candidate, const TailResult& result) {
    const Metric& metric = plan.metrics.front();
    const Unit unit = unit_of(metric);
    const ModelBasedResult& estimate = result.estimate;
    const auto shown = [&](const Interval& interval) { return shown_interval(interval, unit); };
    std::string text =
        fmt::format("{}: {} by importance sampling{}\n", plan.labels[candidate], describe(metric),
                    plan.labels.size() > 1 ? ", evaluated alone: candidates are not compared" : "");
    if (result.interrupted) text += "  interrupted: use --resume to continue\n";
    if (result.trials == 0) return text;
    text += fmt::format(
        "  estimate     {}, {} after {} of the search and of the original traffic{}\n",
        shown(estimate.interval), counted(result.trials, "trial", "trials"),
        estimate.trials_run - result.trials, result.reached ? "" : ", wider than required");
    if (estimate.batched) {
        text += fmt::format("  by batches   {} (the paper's interval)\n", shown(*estimate.batched));
    }
    text +=
        fmt::format("  weights      {:.0f} effective trials, the largest has {:.1f}% of the tail\n",
                    estimate.weights.effective_trials, 100 * estimate.weights.largest_share);
    text += fmt::format(
        "  change       ln size by {:+.2f} deviations, {:.2f} times as wide; switched off at {}\n",
        estimate.change.shift, estimate.change.scale, shown_value(estimate.threshold, unit));
    text += fmt::format("  gain         {:.2f} times fewer trials than without (below 1: a loss)\n",
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
