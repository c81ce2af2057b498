// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluation/estimator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/intervals/distributions.h"
#include "eval/intervals/ratio.h"
#include "eval/stopping/corrected_rule.h"
#include "eval/stopping/paper_rule.h"

namespace sluice::eval {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Pooled quantiles: a rare event moves no quantile below it, so that fewer trials do than for means.
constexpr std::size_t kFirstQuantileLook = 100;
constexpr double kQuantileLookGrowth = 1.1;

std::unique_ptr<StoppingRule> make_rule(const Aim& aim) {
    Target target;
    target.confidence = aim.confidence;
    target.relative_half_width = aim.accuracy.value_or(1e-9);
    target.maximum_trials = aim.maximum_trials;
    if (aim.rule == RuleKind::paper) {
        return std::make_unique<PaperRule>(target, aim.minimum_trials.value_or(20));
    }
    CorrectedRuleSettings settings;
    settings.minimum_trials = aim.minimum_trials.value_or(settings.minimum_trials);
    return std::make_unique<CorrectedRule>(target, settings);
}

}  // namespace

Estimator::Estimator(const Metric& metric, const Aim& aim)
    : metric_(metric), aim_(aim), rule_(make_rule(aim)) {}

void Estimator::add(Observation observation) {
    ++trials_;
    count_ += observation.count;
    const bool none = observation.count == 0;
    empty_ += none ? 1 : 0;
    if (none) {
        figures_.emplace_back();
    } else if (pooled_quantile()) {
        figures_.emplace_back(quantile_of(observation.values, *metric_.quantile));
    } else if (metric_.estimand == Estimand::pooled) {
        figures_.emplace_back(observation.value / observation.count);
    } else {
        figures_.emplace_back(observation.value);
    }
    if (pooled_quantile()) {
        pooled_.push_back(std::move(observation.values));
    } else if (metric_.estimand == Estimand::pooled) {
        sums_.push_back(observation.value);
        counts_.push_back(observation.count);
    } else if (!none) {
        moments_.add(observation.value);
    }
}

std::size_t Estimator::first_look() const {
    const std::size_t first = pooled_quantile() && aim_.rule == RuleKind::corrected
                                  ? aim_.minimum_trials.value_or(kFirstQuantileLook)
                                  : rule_->first_look();
    return std::min(first, aim_.maximum_trials);
}

std::vector<double> Estimator::terms() const {
    if (metric_.estimand == Estimand::pooled) return ratio_values(sums_, counts_);
    std::vector<double> values;
    for (const std::optional<double>& figure : figures_) {
        if (figure) values.push_back(*figure);
    }
    return values;
}

Moments Estimator::moments() const {
    if (metric_.estimand == Estimand::per_trial) return moments_;
    // One trial with values says nothing of how trials differ.
    return trials_ - empty_ > 1 ? Moments(terms()) : Moments();
}

Interval Estimator::interval() const {
    const Interval nothing{0, -kInfinite, kInfinite, aim_.confidence};
    if (pooled_quantile()) {
        if (trials_ < 2 || count_ < 1) return nothing;
        // Looked at more than once: as the corrected rule has it for means.
        return aim_.rule == RuleKind::paper
                   ? clustered_quantile_interval(pooled_, *metric_.quantile, aim_.confidence)
                   : corrected_quantile_interval(pooled_, *metric_.quantile, aim_.confidence);
    }
    const Moments values = moments();
    if (values.count() < 2) return {values.mean(), -kInfinite, kInfinite, aim_.confidence};
    return rule_->interval(values);
}

bool Estimator::narrow(const Interval& interval) const {
    return aim_.accuracy && interval.relative_half_width() <= *aim_.accuracy;
}

Decision Estimator::decide() const {
    Decision decision;
    if (aim_.accuracy && !pooled_quantile()) {
        // The rule counts values; trials without one are asked for in addition.
        const Moments values = moments();
        decision = rule_->decide(values);
        decision.next_look += trials_ - std::min(trials_, values.count());
    } else if (narrow(interval())) {
        decision.outcome = Outcome::Reached;
    } else {
        // All values are sorted at a look, so that even the paper's rule does not look after every trial.
        const double grown = std::ceil(static_cast<double>(trials_) * kQuantileLookGrowth);
        decision.next_look = static_cast<std::size_t>(grown);
    }
    if (decision.outcome == Outcome::Continue && trials_ >= aim_.maximum_trials) {
        decision.outcome = Outcome::Exhausted;
    }
    decision.next_look = std::min(std::max(decision.next_look, trials_ + 1), aim_.maximum_trials);
    return decision;
}

/// The interval shrinks by the root of the number of trials; how well its width is known, trials say whose share of
/// values beyond the quantile is a ratio's term.
std::optional<TrialForecast> Estimator::quantile_forecast() const {
    const Interval now = interval();
    if (!aim_.accuracy || !std::isfinite(now.relative_half_width())) return std::nullopt;
    std::vector<double> below;
    std::vector<double> all;
    for (const std::vector<double>& trial : pooled_) {
        const auto share = std::count_if(trial.begin(), trial.end(),
                                         [&](double value) { return value <= now.estimate; });
        below.push_back(static_cast<double>(share));
        all.push_back(static_cast<double>(trial.size()));
    }
    const Moments values(ratio_values(below, all));
    const double trials = static_cast<double>(trials_);
    const double needed = trials * std::pow(now.relative_half_width() / *aim_.accuracy, 2);
    const double spread = normal_quantile((1 + aim_.confidence) / 2) *
                          std::sqrt(std::max(values.kurtosis() - 1, 2.0) / trials);
    return TrialForecast{needed, needed * std::exp(-spread), needed * std::exp(spread)};
}

std::optional<TrialForecast> Estimator::forecast() const {
    if (!aim_.accuracy) return std::nullopt;
    if (pooled_quantile()) {
        return trials_ < 2 || count_ < 1 ? std::nullopt : quantile_forecast();
    }
    const Moments values = moments();
    if (values.count() < 2) return std::nullopt;
    return rule_->forecast(values);
}

Estimate Estimator::estimate() const {
    Estimate estimate;
    estimate.interval = interval();
    estimate.trials = trials_;
    estimate.empty = empty_;
    estimate.values = count_;
    estimate.reached = trials_ >= first_look() && narrow(estimate.interval);
    estimate.forecast = forecast();
    return estimate;
}

TailReport Estimator::tail() const {
    if (pooled_quantile() || count_ == 0) return {};
    return examine_tail(terms());
}

}  // namespace sluice::eval
