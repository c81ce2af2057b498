// SPDX-License-Identifier: Apache-2.0
#include "eval/model_based/tail_evaluation.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>

#include "core/thread_group.h"
#include "eval/importance/cross_entropy.h"
#include "eval/intervals/moments.h"

namespace sluice::eval {

namespace {

const ModelBasedSettings kDefaults;
constexpr double kLookGrowth = 1.1;
/// Trials of different stages have different draws.
constexpr std::uint64_t kSearchBegins = 1'000'000'000;
constexpr std::uint64_t kChangedBegins = 2'000'000'000;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Outcomes as a store keeps them: metric and weight in turn.
Observation observation_of(const WeightedTrial& trial) {
    Observation observation;
    observation.value = trial.log_weight_at_end;
    observation.count = static_cast<double>(trial.outcomes.size());
    for (const WeightedFlow& outcome : trial.outcomes) {
        observation.values.push_back(outcome.metric);
        observation.values.push_back(outcome.log_weight);
    }
    return observation;
}

WeightedTrial trial_of(const Observation& observation) {
    WeightedTrial trial;
    trial.log_weight_at_end = observation.value;
    for (std::size_t i = 0; i + 1 < observation.values.size(); i += 2) {
        trial.outcomes.push_back({observation.values[i], observation.values[i + 1]});
    }
    return trial;
}

}  // namespace

TailEvaluation::TailEvaluation(const EvaluationPlan& plan, std::size_t candidate, TrialStore* store,
                               unsigned threads)
    : plan_(plan),
      candidate_(candidate),
      store_(store),
      threads_(threads),
      lanes_(*plan.scenarios, candidate, plan.metrics.front(), *plan.importance, plan.seed) {
    if (store_ == nullptr) return;
    for (StoredTrial& trial : store_->load()) {
        if (trial.candidate / 2 == candidate_) known_.push_back(std::move(trial));
    }
}

Simulate TailEvaluation::simulate() const {
    return in_two_passes([this](const std::vector<Arrival>& flows, std::uint64_t trial) {
        return lanes_.run(flows, trial, go_on_);
    });
}

WeightedTrial TailEvaluation::run_one(std::size_t trial, Stage stage, const Change& change,
                                      double threshold) {
    const std::uint64_t number = stage == Stage::changed ? kChangedBegins + trial : trial;
    return run_weighted(lanes_.traffic(), simulate(), change, threshold, plan_.seed, number);
}

void TailEvaluation::extend(std::vector<WeightedTrial>& trials, std::size_t count, Stage stage,
                            const Change& change, double threshold) {
    const std::size_t begin = trials.size();
    const std::size_t row = 2 * candidate_ + (stage == Stage::changed ? 1 : 0);
    trials.resize(count);
    std::vector<bool> there(count);
    for (const StoredTrial& known : known_) {
        if (known.candidate != row || known.trial < begin || known.trial >= count) continue;
        trials[known.trial] = trial_of(known.observations.front());
        there[known.trial] = true;
    }
    std::mutex mutex;
    std::exception_ptr error;
    std::atomic<std::size_t> next{begin};
    std::atomic<bool> failed{false};
    std::size_t done = begin;
    const auto work = [&] {
        for (std::size_t i = next++; i < count && !failed; i = next++) {
            try {
                WeightedTrial trial;
                if (!there[i]) trial = run_one(i, stage, change, threshold);
                const std::lock_guard lock(mutex);
                if (!there[i]) {
                    StoredTrial stored;
                    stored.candidate = row;
                    stored.trial = i;
                    stored.seed = plan_.seed;
                    stored.observations = {observation_of(trial)};
                    if (store_ != nullptr) store_->add(stored);
                    trials[i] = std::move(trial);
                }
                on_change_({stage == Stage::changed ? "changed" : "original", ++done, {}});
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (error == nullptr) error = std::current_exception();
                failed = true;
            }
        }
    };
    ThreadGroup group;
    while (group.size() + 1 < threads_) group.add(work);
    work();
    group.join();
    if (error != nullptr) {
        trials.resize(begin);
        std::rethrow_exception(error);
    }
}

void TailEvaluation::estimate(TailResult& result, const std::vector<WeightedTrial>& changed) const {
    const double p = *plan_.metrics.front().quantile;
    ModelBasedResult& estimate = result.estimate;
    estimate.interval = clustered_weighted_interval(changed, result.flows, p, plan_.aim.confidence);
    estimate.weights = examine_weights(changed, estimate.interval.estimate);
    result.trials = changed.size();
    const SearchSettings& search = kDefaults.search;
    estimate.trials_run =
        kDefaults.original_trials + search.epochs * search.trials_per_epoch + changed.size();
    result.reached = estimate.interval.relative_half_width() <= plan_.aim.accuracy.value_or(0);
    estimate.batched =
        find_batched_interval(changed, result.flows, p, plan_.aim.confidence, kDefaults.batch);
}

TailResult TailEvaluation::run(const MayGoOn& go_on, const OnChange& on_change) {
    const auto begin = std::chrono::steady_clock::now();
    go_on_ = go_on;
    on_change_ = on_change;
    const double p = *plan_.metrics.front().quantile;
    TailResult result;
    result.flows = {lanes_.traffic().flows_per_trial(), 0};
    std::vector<WeightedTrial> changed;
    try {
        std::vector<WeightedTrial> original;
        extend(original, kDefaults.original_trials, Stage::original, {}, kNever);
        const SearchSettings& search = kDefaults.search;
        const Found found = search_change(lanes_.traffic(), simulate(), p, result.flows, plan_.seed,
                                          kSearchBegins, search);
        result.estimate.fit = lanes_.traffic().sizes.fit();
        result.estimate.kind = lanes_.traffic().sizes.kind();
        result.estimate.change = found.change;
        result.estimate.threshold = found.threshold;
        std::size_t look =
            std::min(plan_.aim.minimum_trials.value_or(kDefaults.trials), plan_.aim.maximum_trials);
        for (;;) {
            extend(changed, look, Stage::changed, found.change, found.threshold);
            estimate(result, changed);
            on_change({"changed", changed.size(), result.estimate.interval});
            if (result.reached || look >= plan_.aim.maximum_trials) break;
            const double grown = std::ceil(static_cast<double>(look) * kLookGrowth);
            look = std::min(static_cast<std::size_t>(grown), plan_.aim.maximum_trials);
        }
        check_weights(result.estimate.weights);
        const double value = result.estimate.interval.estimate;
        const double under_change = relative_variance(changed, value);
        if (under_change > 0)
            result.estimate.gain = relative_variance(original, value) / under_change;
    } catch (const PoissonLanes::Stopped&) {
        result.interrupted = true;
    }
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

}  // namespace sluice::eval
