// SPDX-License-Identifier: Apache-2.0
/// Runs trials until what is asked is known well enough (CCEval, Figure 5: sampler, executor, estimator). Trials run in
/// any order and beside each other; what is decided depends on trials 0 to N - 1 only, so that the result is the same
/// on any number of threads, and after any interruption.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/evaluation/candidate_comparison.h"
#include "eval/evaluation/counted_window.h"
#include "eval/evaluation/estimator.h"
#include "eval/evaluation/failed_trials.h"
#include "eval/evaluation/trial_queue.h"
#include "eval/executor/executor.h"
#include "eval/trials/trial_store.h"

namespace sluice::eval {

enum class Ending : std::uint8_t {
    open,         ///< it goes on
    reached,      ///< all that was asked is known
    exhausted,    ///< the most trials came first
    interrupted,  ///< what there is is a part
    failed,       ///< a trial has no figures, without which the others would be biased
};

const char* ending_name(Ending ending);

/// How an estimate came to what it is.
struct Look {
    std::size_t trials = 0;
    Interval interval;
};

/// What an evaluation has taken.
struct EvaluationCost {
    std::size_t known = 0;  ///< trials that the store had
    std::size_t ran = 0;
    std::size_t retried = 0;
    double cpu_s = 0;
    double wall_s = 0;
    std::int64_t packet_hops = 0;
};

class Evaluation {
  public:
    using MayGoOn = std::function<bool()>;
    using OnChange = std::function<void(const Evaluation&)>;

    /// All three outlive it. What the store knows is not run again; null: nothing is kept.
    Evaluation(const EvaluationPlan& plan, Executor& executor, TrialStore* store, unsigned threads);

    /// Once. `go_on` is asked now and then, from any thread; `on_change` is called by one thread at a time after trials.
    /// Throws what the executor throws.
    void run(const MayGoOn& go_on, const OnChange& on_change);

    const EvaluationPlan& plan() const { return plan_; }
    Ending ending() const { return ending_; }
    const std::string& failure() const { return failure_; }  ///< of Ending::failed
    /// Trials that decisions rest on, of each candidate that is left.
    std::size_t rounds() const { return rounds_.done; }
    std::size_t trials_of(std::size_t candidate) const;
    Estimate estimate(std::size_t candidate, std::size_t metric) const;
    const Estimator& estimator(std::size_t candidate, std::size_t metric) const {
        return candidates_[candidate].estimators[metric];
    }
    const std::vector<Look>& looks(std::size_t candidate, std::size_t metric) const {
        return candidates_[candidate].looks[metric];
    }
    /// Who is better, by the metric that is compared.
    const CandidateComparison& comparison() const { return comparison_; }

    const EvaluationCost& cost() const { return cost_; }
    const Window* window() const { return finder_.window(); }
    /// Trials that the answer takes, all candidates together, and how sure that is; empty: not known.
    std::optional<TrialForecast> forecast() const;

  private:
    struct Candidate {
        std::vector<Estimator> estimators;     ///< by metric
        std::vector<std::vector<Look>> looks;  ///< by metric
        std::map<std::size_t, std::vector<Observation>>
            ready;  ///< by trial: done, not yet looked at
    };
    /// Of trials, one of each candidate that is left.
    struct Rounds {
        std::size_t done = 0;
        std::size_t next_look = 0;
        std::size_t next_record = 10;  ///< a look that is recorded only
    };
    /// A trial that a window is waited for with.
    struct Held {
        TrialRequest request;
        TrialRecord record;
    };

    void take_known();
    void work(const MayGoOn& go_on, const OnChange& on_change);
    bool next_request(std::unique_lock<std::mutex>& lock, TrialRequest& request);
    std::size_t limit() const;
    bool pick(std::size_t limit, TrialRequest& request);
    void take(const TrialRequest& request, TrialResult result);
    void take_failure(const TrialRequest& request, const std::string& reason);
    void keep(const TrialRequest& request, const TrialRecord& record);
    void feed();
    void check_values();
    void check_failures();
    bool round_is_ready() const;
    void feed_round();
    bool check_finite(std::size_t candidate, const std::vector<Observation>& observations);
    void compare_round();
    std::optional<TrialForecast> rounds_needed() const;
    void record();
    void look();
    void end(Ending ending);

    const EvaluationPlan& plan_;
    Executor& executor_;
    TrialStore* store_;
    unsigned threads_;
    std::vector<Candidate> candidates_;
    TrialQueue queue_;
    CandidateComparison comparison_;
    WindowFinder finder_;
    std::vector<Held> held_;

    std::atomic<bool> goes_on_{true};
    std::atomic<bool> interrupted_{false};
    std::mutex mutex_;  ///< of all below, and of the above while it runs
    std::condition_variable changed_;
    FailedTrials failed_;
    std::size_t running_ = 0;
    Rounds rounds_;
    Ending ending_ = Ending::open;
    std::string failure_;
    std::exception_ptr error_;
    EvaluationCost cost_;
};

}  // namespace sluice::eval
