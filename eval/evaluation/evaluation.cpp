// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluation/evaluation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <system_error>

#include <fmt/core.h>

#include "core/error.h"
#include "core/thread_group.h"

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
      queue_(plan.labels.size()),
      comparison_(plan),
      finder_(plan.window, plan.aim.maximum_trials) {
    for (Candidate& candidate : candidates_) {
        for (const Metric& metric : plan.metrics) {
            candidate.estimators.emplace_back(metric, plan.aim);
        }
        candidate.looks.resize(plan.metrics.size());
    }
    rounds_.next_look = plan.aim.accuracy && !plan.aim.fixed
                            ? first_look_of(candidates_.front().estimators)
                            : std::min(kFirstVerdictLook, plan.aim.maximum_trials);
    take_known();
}

void Evaluation::take_known() {
    if (store_ == nullptr) return;
    finder_.set_text(store_->note(kWindowNote));
    for (StoredTrial& trial : store_->load()) {
        if (!trial.failure.empty() || trial.candidate >= candidates_.size()) continue;
        queue_.begun({trial.candidate, trial.trial});
        candidates_[trial.candidate].ready[trial.trial] = std::move(trial.observations);
        ++cost_.known;
    }
}

void Evaluation::run(const MayGoOn& go_on, const OnChange& on_change) {
    const auto begin = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex_);
        feed();
    }
    ThreadGroup group;
    try {
        while (group.size() + 1 < threads_) group.add([&] { work(go_on, on_change); });
    } catch (const std::system_error& error) {
        // Those that are there do all of it.
        if (group.size() == 0) throw ConfigError(std::string("--threads: ") + error.what());
    }
    work(go_on, on_change);
    group.join();
    cost_.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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
        if (pick(limit(), request)) return true;
        // While others are under way the look's answer may be to go on.
        if (running_ > 0 && pick(rounds_.next_look + threads_, request)) return true;
        if (running_ == 0) return false;
        changed_.wait(lock);
    }
}

/// Trials that are needed in any case: until the next look, or for the window.
std::size_t Evaluation::limit() const {
    if (plan_.aim.fixed) return plan_.aim.maximum_trials;
    return finder_.waits() ? std::max(rounds_.next_look, WindowFinder::kTrials) : rounds_.next_look;
}

bool Evaluation::pick(std::size_t limit, TrialRequest& request) {
    const auto next = queue_.next(std::min(limit, plan_.aim.maximum_trials),
                                  [this](std::size_t c) { return comparison_.is_left(c); });
    if (!next) return false;
    request = {next->first, next->second, trial_seed(plan_.seed, next->second)};
    return true;
}

void Evaluation::take(const TrialRequest& request, TrialResult result) {
    if (result.status == TrialResult::Status::interrupted) {
        queue_.give_back({request.candidate, request.trial});
        return;
    }
    if (result.status == TrialResult::Status::failed) {
        take_failure(request, result.reason);
        return;
    }
    ++cost_.ran;
    cost_.cpu_s += result.record.cpu_s;
    cost_.packet_hops += result.record.packet_hops;
    if (request.candidate == 0) {
        const bool was_done = finder_.done();
        finder_.add(request.trial, result.record);
        const bool is_new = !was_done && finder_.done();
        if (is_new && store_ != nullptr) store_->set_note(kWindowNote, finder_.text());
    }
    held_.push_back({request, std::move(result.record)});
    if (finder_.waits()) return;
    for (const Held& held : held_) keep(held.request, held.record);
    held_.clear();
    feed();
}

void Evaluation::take_failure(const TrialRequest& request, const std::string& reason) {
    const std::size_t attempts = failed_.add_attempt(request.candidate, request.trial);
    if (executor_.may_recover() && attempts < kAttempts) {
        ++cost_.retried;
        queue_.give_back({request.candidate, request.trial});
        return;
    }
    StoredTrial failed;
    failed.candidate = request.candidate;
    failed.trial = request.trial;
    failed.attempts = attempts;
    failed.seed = request.seed;
    failed.failure = reason;
    if (store_ != nullptr) store_->add(failed);
    failed_.give_up(
        request.candidate, request.trial,
        fmt::format("trial {} of {}{}: {}", request.trial, plan_.labels[request.candidate],
                    attempts > 1 ? fmt::format(", {} attempts", attempts) : "", reason));
    feed();
}

void Evaluation::keep(const TrialRequest& request, const TrialRecord& record) {
    StoredTrial stored;
    stored.candidate = request.candidate;
    stored.trial = request.trial;
    stored.attempts = 1 + failed_.attempts(request.candidate, request.trial);
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
        ++rounds_.done;
        compare_round();
        record();
        if (rounds_.done == std::min(kSilentTrials, plan_.aim.maximum_trials)) check_values();
        if (ending_ != Ending::open) return;
        const bool decided = !plan_.aim.fixed && !plan_.aim.accuracy && comparison_.decided();
        if (rounds_.done >= rounds_.next_look || decided) look();
    }
    check_failures();
}

/// A trial without figures ends it when its turn comes: a decision may come first. What waits for a window waits for all
/// of the first trials.
void Evaluation::check_failures() {
    if (ending_ != Ending::open || !failed_.any()) return;
    if (finder_.waits()) {
        failure_ = failed_.first_reason();
        end(Ending::failed);
        return;
    }
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        const std::string* const reason = failed_.reason(c, rounds_.done);
        if (!comparison_.is_left(c) || reason == nullptr) continue;
        failure_ = *reason;
        end(Ending::failed);
        return;
    }
}

/// A metric of which many trials know nothing asks for what is not there.
void Evaluation::check_values() {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        for (std::size_t m = 0; m < plan_.metrics.size(); ++m) {
            if (!comparison_.is_left(c) || estimate(c, m).values > 0) continue;
            failure_ = fmt::format(
                "none of the first {} trials of {} has a value of {} ({}): there is no such class, "
                "size, column or port in them",
                rounds_.done, plan_.labels[c], plan_.metrics[m].name, describe(plan_.metrics[m]));
            end(Ending::failed);
            return;
        }
    }
}

bool Evaluation::round_is_ready() const {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (comparison_.is_left(c) && candidates_[c].ready.count(rounds_.done) == 0) return false;
    }
    return true;
}

void Evaluation::feed_round() {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (comparison_.is_left(c) && !check_finite(c, candidates_[c].ready.at(rounds_.done)))
            return;
    }
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!comparison_.is_left(c)) continue;
        Candidate& candidate = candidates_[c];
        std::vector<Observation> observations = std::move(candidate.ready.at(rounds_.done));
        candidate.ready.erase(rounds_.done);
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
            rounds_.done, plan_.labels[candidate], plan_.metrics[m].name);
        end(Ending::failed);
        return false;
    }
    return true;
}

void Evaluation::compare_round() {
    if (!plan_.comparison) return;
    std::vector<std::optional<double>> figures(candidates_.size());
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!comparison_.is_left(c)) continue;
        figures[c] = candidates_[c].estimators[plan_.comparison->metric].figures().back();
    }
    comparison_.add_round(figures);
}

/// The course of the intervals, for whoever looks at it: nothing is decided by it.
void Evaluation::record() {
    if (rounds_.done < rounds_.next_record) return;
    rounds_.next_record = std::max(rounds_.done + 1, rounds_.done * 11 / 10);
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!comparison_.is_left(c)) continue;
        for (std::size_t m = 0; m < plan_.metrics.size(); ++m) {
            candidates_[c].looks[m].push_back({rounds_.done, estimate(c, m).interval});
        }
    }
}

void Evaluation::look() {
    bool enough = true;
    std::size_t next = plan_.aim.maximum_trials;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!comparison_.is_left(c)) continue;
        for (std::size_t m = 0; m < plan_.metrics.size(); ++m) {
            const Decision decision = candidates_[c].estimators[m].decide();
            if (!plan_.aim.accuracy || decision.outcome == Outcome::Reached) continue;
            enough = false;
            next = std::min(next, std::max(decision.next_look, rounds_.done + 1));
        }
    }
    const bool fixed = plan_.aim.fixed;
    if (fixed ? rounds_.done >= plan_.aim.maximum_trials : enough && comparison_.decided()) {
        end(Ending::reached);
    } else if (rounds_.done >= plan_.aim.maximum_trials) {
        end(Ending::exhausted);
    } else {
        // Only a verdict is waited for: intervals are looked at now and then, for their course.
        const std::size_t later = std::max(rounds_.done + 1, rounds_.done * 11 / 10);
        rounds_.next_look = std::min(enough || fixed ? later : next, plan_.aim.maximum_trials);
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

/// Rounds until all is known that is asked for; empty: not known.
std::optional<TrialForecast> Evaluation::rounds_needed() const {
    if (plan_.aim.fixed) {
        const auto most = static_cast<double>(plan_.aim.maximum_trials);
        return TrialForecast{most, most, most};
    }
    TrialForecast needed;
    std::size_t first = 0;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!comparison_.is_left(c)) continue;
        for (std::size_t m = 0; plan_.aim.accuracy && m < plan_.metrics.size(); ++m) {
            const auto forecast = estimate(c, m).forecast;
            if (forecast && forecast->trials > needed.trials) needed = *forecast;
            first = std::max(first, candidates_[c].estimators[m].first_look());
        }
        const std::optional<PairedResult> pair = comparison_.against_reference(c);
        if (!pair || !pair->more_trials) continue;
        const double verdict = static_cast<double>(rounds_.done) + *pair->more_trials;
        // How sure that is nobody knows.
        if (verdict > needed.trials) needed = {verdict, verdict, verdict};
    }
    if (needed.trials == 0) return std::nullopt;
    const double least = static_cast<double>(std::max(first, rounds_.done));
    const double most = std::max(least, static_cast<double>(plan_.aim.maximum_trials));
    for (double* const trials : {&needed.trials, &needed.low, &needed.high}) {
        *trials = std::clamp(*trials, least, most);
    }
    return needed;
}

std::optional<TrialForecast> Evaluation::forecast() const {
    std::optional<TrialForecast> all = rounds_needed();
    if (!all) return std::nullopt;
    double left = 0;
    double done = 0;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (comparison_.is_left(c)) {
            left += 1;
        } else {
            done += static_cast<double>(trials_of(c));
        }
    }
    return TrialForecast{left * all->trials + done, left * all->low + done,
                         left * all->high + done};
}

}  // namespace sluice::eval
