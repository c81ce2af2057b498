// SPDX-License-Identifier: Apache-2.0
/// A tail quantile of all flows of simulated Poisson traffic by importance sampling (CCEval, section 4.3, Algorithms 1
/// and 2), on several threads, until its interval is as narrow as was asked for.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/evaluation/plan.h"
#include "eval/importance/model_based.h"
#include "eval/model_based/poisson_lanes.h"
#include "eval/trials/trial_store.h"

namespace sluice::eval {

struct TailProgress {
    const char* stage = "";  ///< "original", "search", "changed"
    std::size_t trials = 0;  ///< of the stage, done
    std::optional<Interval> interval;
};

struct TailResult {
    ModelBasedResult estimate;
    FlowsPerTrial flows;
    std::size_t trials = 0;  ///< under the change of measure
    bool reached = false;
    bool interrupted = false;  ///< `estimate` is that so far, if trials > 0
    double wall_s = 0;
};

class TailEvaluation {
  public:
    using MayGoOn = std::function<bool()>;
    using OnChange = std::function<void(const TailProgress&)>;

    /// The plan has [importance] and one metric. The store may be null; both outlive it. ConfigError.
    TailEvaluation(const EvaluationPlan& plan, std::size_t candidate, TrialStore* store,
                   unsigned threads);

    /// Once. `on_change` is called by one thread at a time. DegenerateWeights where the weights carry no estimate.
    TailResult run(const MayGoOn& go_on, const OnChange& on_change);

  private:
    enum class Stage : std::uint8_t { original, changed };

    /// Adds trials until there are `count`; what the store knows is not run again.
    void extend(std::vector<WeightedTrial>& trials, std::size_t count, Stage stage,
                const Change& change, double threshold);
    WeightedTrial run_one(std::size_t trial, Stage stage, const Change& change, double threshold);
    Simulate simulate() const;
    void estimate(TailResult& result, const std::vector<WeightedTrial>& changed) const;

    const EvaluationPlan& plan_;
    std::size_t candidate_;
    TrialStore* store_;
    unsigned threads_;
    PoissonLanes lanes_;
    std::vector<StoredTrial> known_;
    MayGoOn go_on_;
    OnChange on_change_;
};

}  // namespace sluice::eval
