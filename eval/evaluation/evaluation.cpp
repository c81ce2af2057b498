// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluation/evaluation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include <fmt/core.h>

#include "core/error.h"

namespace sluice::eval {

namespace {

constexpr const char* kWindowNote = "window";
/// Attempts at a trial whose executor may recover.
constexpr std::size_t kAttempts = 3;
/// Without any value of a metric.
constexpr std::size_t kSilentTrials = 50;
/// Where only a verdict is waited for, when intervals are first looked at.
constexpr std::size_t kFirstVerdictLook = 20;

std::size_t first_look_of(const std::vector<Estimator>& estimators) {
    std::size_t first = 0;
    for (const Estimator& estimator : estimators) {
        first = std::max(first, estimator.first_look());
    }
    return first;
}

}  // namespace

const char* ending_name(Ending ending) {
    switch (ending) {
        case Ending::open: return "open";
        case Ending::reached: return "reached";
        case Ending::exhausted: return "exhausted";
        case Ending::interrupted: return "interrupted";
        case Ending::failed: return "failed";
    }
    return "open";
}

Evaluation::Evaluation(const EvaluationPlan& plan, Executor& executor, TrialStore* store,
                       unsigned threads)
    : plan_(plan),
      executor_(executor),
      store_(store),
      threads_(threads),
      candidates_(plan.labels.size()),
      finder_(plan.window, plan.aim.maximum_trials),
      verdicts_(plan.labels.size(), Verdict::Undecided) {
    for (Candidate& candidate : candidates_) {
        for (const Metric& metric : plan.metrics) {
            candidate.estimators.emplace_back(metric, plan.aim);
        }
        candidate.looks.resize(plan.metrics.size());
    }
    wanted_ = plan.aim.accuracy && !plan.aim.fixed
                  ? first_look_of(candidates_.front().estimators)
                  : std::min(kFirstVerdictLook, plan.aim.maximum_trials);
    if (plan.comparison) {
        const bool smaller = plan.metrics[plan.comparison->metric].smaller_is_better;
        const double miss = 1 - plan.aim.confidence;
        PairedSettings paired;
        // Several pairs with the reference: what is said of all of them holds together.
        paired.confidence = 1 - miss / static_cast<double>(candidates_.size() - 1);
        paired.margin = plan.comparison->margin;
        paired.smaller_is_better = smaller;
        pairs_.assign(candidates_.size(), PairedComparison(paired));
        // All are wanted where the number of trials is said.
        if (candidates_.size() > 2 && !plan.aim.fixed) {
            EliminationSettings settings;
            settings.family_error = miss;
            settings.margin = plan.comparison->margin;
            settings.smaller_is_better = smaller;
            elimination_.emplace(candidates_.size(), settings);
        }
    }
    take_known();
}

void Evaluation::take_known() {
    if (store_ == nullptr) return;
    finder_.set_text(store_->note(kWindowNote));
    for (StoredTrial& trial : store_->load()) {
        if (!trial.failure.empty() || trial.candidate >= candidates_.size()) continue;
        Candidate& candidate = candidates_[trial.candidate];
        if (candidate.begun.size() <= trial.trial) candidate.begun.resize(trial.trial + 1);
        candidate.begun[trial.trial] = true;
        candidate.ready[trial.trial] = std::move(trial.observations);
        ++known_;
    }
}

void Evaluation::run(const MayGoOn& go_on, const OnChange& on_change) {
    const auto begin = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex_);
        feed();
    }
    std::vector<std::thread> crew;
    for (unsigned i = 1; i < threads_; ++i) {
        crew.emplace_back([&] { work(go_on, on_change); });
    }
    work(go_on, on_change);
    for (std::thread& thread : crew) thread.join();
    wall_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (error_ != nullptr) std::rethrow_exception(error_);
}

void Evaluation::work(const MayGoOn& go_on, const OnChange& on_change) {
    std::unique_lock lock(mutex_);
    TrialRequest request;
    while (next_request(lock, request)) {
        ++running_;
        lock.unlock();
        TrialResult result;
        std::exception_ptr error;
        try {
            result = executor_.run(request, [&] {
                if (!go_on()) interrupted_ = true;
                return goes_on_ && !interrupted_;
            });
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        --running_;
        if (interrupted_) end(Ending::interrupted);
        try {
            if (error != nullptr) std::rethrow_exception(error);
            take(request, std::move(result));
            on_change(*this);
        } catch (...) {
            if (error_ == nullptr) error_ = std::current_exception();
            end(Ending::failed);
        }
        changed_.notify_all();
    }
}

/// False: there is nothing left to do.
bool Evaluation::next_request(std::unique_lock<std::mutex>& lock, TrialRequest& request) {
    for (;;) {
        if (ending_ != Ending::open) return false;
        if (pick(plan_.aim.fixed ? plan_.aim.maximum_trials : wanted_, request)) return true;
        // While others are under way the look's answer may be to go on.
        if (running_ > 0 && pick(wanted_ + threads_, request)) return true;
        if (running_ == 0) return false;
        changed_.wait(lock);
    }
}

/// The first trial below `limit` that has not begun, of the candidate that is behind.
bool Evaluation::pick(std::size_t limit, TrialRequest& request) {
    if (!again_.empty()) {
        request = again_.back();
        again_.pop_back();
        return true;
    }
    limit = std::min(limit, plan_.aim.maximum_trials);
    std::size_t behind = candidates_.size();
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        Candidate& candidate = candidates_[c];
        while (candidate.next < candidate.begun.size() && candidate.begun[candidate.next]) {
            ++candidate.next;
        }
        if (!is_left(c) || candidate.next >= limit) continue;
        if (behind == candidates_.size() || candidate.next < candidates_[behind].next) behind = c;
    }
    if (behind == candidates_.size()) return false;
    Candidate& candidate = candidates_[behind];
    request = {behind, candidate.next, trial_seed(plan_.seed, candidate.next)};
    if (candidate.begun.size() <= candidate.next) candidate.begun.resize(candidate.next + 1);
    candidate.begun[candidate.next] = true;
    return true;
}

void Evaluation::take(const TrialRequest& request, TrialResult result) {
    if (result.status == TrialResult::Status::interrupted) {
        candidates_[request.candidate].begun[request.trial] = false;
        return;
    }
    if (result.status == TrialResult::Status::failed) {
        take_failure(request, result.reason);
        return;
    }
    ++ran_;
    cpu_s_ += result.record.cpu_s;
    packet_hops_ += result.record.packet_hops;
    if (request.candidate == 0) {
        const bool had_window = finder_.window() != nullptr;
        finder_.add(request.trial, result.record);
        const bool is_new = !had_window && finder_.window() != nullptr;
        if (is_new && store_ != nullptr) store_->set_note(kWindowNote, finder_.text());
    }
    held_.push_back({request, std::move(result.record)});
    if (finder_.waits()) return;
    for (const Held& held : held_) keep(held.request, held.record);
    held_.clear();
    feed();
}

void Evaluation::take_failure(const TrialRequest& request, const std::string& reason) {
    const std::size_t attempts = ++failures_[{request.candidate, request.trial}];
    if (executor_.may_recover() && attempts < kAttempts) {
        ++retried_;
        again_.push_back(request);
        return;
    }
    StoredTrial failed;
    failed.candidate = request.candidate;
    failed.trial = request.trial;
    failed.attempts = attempts;
    failed.seed = request.seed;
    failed.failure = reason;
    if (store_ != nullptr) store_->add(failed);
    failed_[{request.trial, request.candidate}] =
        fmt::format("trial {} of {}{}: {}", request.trial, plan_.labels[request.candidate],
                    attempts > 1 ? fmt::format(", {} attempts", attempts) : "", reason);
    feed();
}

void Evaluation::keep(const TrialRequest& request, const TrialRecord& record) {
    StoredTrial stored;
    stored.candidate = request.candidate;
    stored.trial = request.trial;
    const auto failed = failures_.find({request.candidate, request.trial});
    stored.attempts = 1 + (failed == failures_.end() ? 0 : failed->second);
    stored.seed = request.seed;
    stored.cpu_s = record.cpu_s;
    stored.packet_hops = record.packet_hops;
    const CountedWindow window = finder_.counted(record);
    for (const Metric& metric : plan_.metrics) {
        stored.observations.push_back(observe(metric, record, window));
    }
    if (store_ != nullptr) store_->add(stored);
    candidates_[request.candidate].ready[request.trial] = std::move(stored.observations);
}

/// Takes what is there, trial by trial, until something is missing or enough is known.
void Evaluation::feed() {
    while (ending_ == Ending::open && round_is_ready()) {
        feed_round();
        if (ending_ != Ending::open) return;
        ++rounds_;
        compare_round();
        record();
        if (rounds_ == std::min(kSilentTrials, plan_.aim.maximum_trials)) check_values();
        if (ending_ != Ending::open) return;
        const bool decided = !plan_.aim.fixed && !plan_.aim.accuracy && compared();
        if (rounds_ >= wanted_ || decided) look();
    }
    check_failures();
}

/// A trial without figures ends it when its turn comes: a decision may come first.
void Evaluation::check_failures() {
    if (ending_ != Ending::open) return;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        const auto failed = failed_.find({rounds_, c});
        if (!is_left(c) || failed == failed_.end()) continue;
        failure_ = failed->second;
        end(Ending::failed);
        return;
    }
}

/// A metric of which many trials know nothing asks for what is not there.
void Evaluation::check_values() {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        for (std::size_t m = 0; m < plan_.metrics.size(); ++m) {
            if (!is_left(c) || estimate(c, m).values > 0) continue;
            failure_ = fmt::format(
                "none of the first {} trials of {} has a value of {} ({}): there is no such class, "
                "size, column or port in them",
                rounds_, plan_.labels[c], plan_.metrics[m].name, describe(plan_.metrics[m]));
            end(Ending::failed);
            return;
        }
    }
}

bool Evaluation::round_is_ready() const {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (is_left(c) && candidates_[c].ready.count(rounds_) == 0) return false;
    }
    return true;
}

void Evaluation::feed_round() {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (is_left(c) && !check_finite(c, candidates_[c].ready.at(rounds_))) return;
    }
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!is_left(c)) continue;
        Candidate& candidate = candidates_[c];
        std::vector<Observation> observations = std::move(candidate.ready.at(rounds_));
        candidate.ready.erase(rounds_);
        for (std::size_t m = 0; m < observations.size(); ++m) {
            candidate.estimators[m].add(std::move(observations[m]));
        }
    }
}

/// False, and the end: a flow or a job that was cut off decides a figure, which is then longer than anybody knows.
bool Evaluation::check_finite(std::size_t candidate, const std::vector<Observation>& observations) {
    for (std::size_t m = 0; m < observations.size(); ++m) {
        if (std::isfinite(observations[m].value)) continue;
        failure_ = fmt::format(
            "trial {} of {} was cut off before what decides its {} had finished; a longer stop "
            "time is needed, or a lower quantile",
            rounds_, plan_.labels[candidate], plan_.metrics[m].name);
        end(Ending::failed);
        return false;
    }
    return true;
}

void Evaluation::compare_round() {
    if (!plan_.comparison) return;
    std::vector<double> values(candidates_.size());
    bool all = true;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!is_left(c)) continue;
        const auto& figures = candidates_[c].estimators[plan_.comparison->metric].figures();
        all = all && figures.back().has_value();
        values[c] = figures.back().value_or(0);
    }
    if (!all) return;
    for (std::size_t c = 1; c < candidates_.size(); ++c) {
        if (!is_left(c) || !is_left(0)) continue;
        pairs_[c].add(values[c], values[0]);
        if (verdicts_[c] == Verdict::Undecided && pairs_[c].trials() >= 2) {
            verdicts_[c] = pairs_[c].result().verdict;
        }
    }
    if (elimination_) elimination_->add_round(values);
}

/// Whether there is a verdict, where one is asked for.
bool Evaluation::compared() const {
    if (!plan_.comparison) return true;
    if (elimination_) return elimination_->finished();
    return verdicts_[1] != Verdict::Undecided;
}

/// The course of the intervals, for whoever looks at it: nothing is decided by it.
void Evaluation::record() {
    if (rounds_ < next_record_) return;
    next_record_ = std::max(rounds_ + 1, rounds_ * 11 / 10);
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!is_left(c)) continue;
        for (std::size_t m = 0; m < plan_.metrics.size(); ++m) {
            candidates_[c].looks[m].push_back({rounds_, estimate(c, m).interval});
        }
    }
}

void Evaluation::look() {
    bool enough = true;
    std::size_t next = plan_.aim.maximum_trials;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!is_left(c)) continue;
        for (std::size_t m = 0; m < plan_.metrics.size(); ++m) {
            const Decision decision = candidates_[c].estimators[m].decide();
            if (!plan_.aim.accuracy || decision.outcome == Outcome::Reached) continue;
            enough = false;
            next = std::min(next, std::max(decision.next_look, rounds_ + 1));
        }
    }
    const bool fixed = plan_.aim.fixed;
    if (fixed ? rounds_ >= plan_.aim.maximum_trials : enough && compared()) {
        end(Ending::reached);
    } else if (rounds_ >= plan_.aim.maximum_trials) {
        end(Ending::exhausted);
    } else {
        // Only a verdict is waited for: intervals are looked at now and then, for their course.
        const std::size_t later = std::max(rounds_ + 1, rounds_ * 11 / 10);
        wanted_ = std::min(enough || fixed ? later : next, plan_.aim.maximum_trials);
    }
}

void Evaluation::end(Ending ending) {
    if (ending_ == Ending::open) ending_ = ending;
    goes_on_ = false;
}

std::size_t Evaluation::trials_of(std::size_t candidate) const {
    return candidates_[candidate].estimators.front().trials();
}

Estimate Evaluation::estimate(std::size_t candidate, std::size_t metric) const {
    return candidates_[candidate].estimators[metric].estimate();
}

std::optional<PairedResult> Evaluation::against_reference(std::size_t candidate) const {
    if (!plan_.comparison || candidate == 0 || pairs_[candidate].trials() < 2) return std::nullopt;
    PairedResult result = pairs_[candidate].result();
    if (verdicts_[candidate] != Verdict::Undecided) result.verdict = verdicts_[candidate];
    return result;
}

std::optional<TrialForecast> Evaluation::forecast() const {
    TrialForecast all;
    if (plan_.aim.fixed) {
        all.trials = static_cast<double>(plan_.aim.maximum_trials * candidates_.size());
        all.low = all.high = all.trials;
        return all;
    }
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!is_left(c)) continue;
        TrialForecast most;
        for (std::size_t m = 0; plan_.aim.accuracy && m < plan_.metrics.size(); ++m) {
            const auto forecast = estimate(c, m).forecast;
            if (forecast && forecast->trials > most.trials) most = *forecast;
        }
        if (const auto pair = against_reference(c); pair && pair->more_trials) {
            most.trials = std::max(most.trials, static_cast<double>(rounds_) + *pair->more_trials);
        }
        if (most.trials == 0 && !(c == 0 && plan_.comparison)) return std::nullopt;
        const double first = static_cast<double>(first_look_of(candidates_[c].estimators));
        const double floor = plan_.aim.accuracy ? first : 0;
        const double roof = static_cast<double>(plan_.aim.maximum_trials);
        all.trials += std::clamp(most.trials, floor, roof);
        all.low += std::clamp(most.low, floor, roof);
        all.high += std::clamp(std::max(most.high, most.trials), floor, roof);
    }
    return all;
}

}  // namespace sluice::eval
