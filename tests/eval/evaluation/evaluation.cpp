// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluation/evaluation.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "eval/intervals/distributions.h"
#include "tests/support/test_folder.h"

using namespace sluice;
using namespace sluice::eval;
using sluice::test::TestFolder;

namespace {

/// A normal variable of mean 10 + candidate and deviation 1, most of it common to the candidates.
double value_of(const TrialRequest& request) {
    const auto normal = [&](std::uint64_t stream) {
        return normal_quantile(uniform(request.seed, stream, 1) * 0.999 + 0.0005);
    };
    return 10 + 0.5 * static_cast<double>(request.candidate) + 0.95 * normal(0) +
           0.2 * normal(1 + request.candidate);
}

/// Trials that are numbers, some of which go wrong.
class Numbers final : public Executor {
  public:
    TrialResult run(const TrialRequest& request, const GoOn& go_on) override {
        TrialResult result;
        ++runs;
        if (!go_on()) {
            result.status = TrialResult::Status::interrupted;
            return result;
        }
        if (request.trial == fails_at && runs_of_failing++ < failures) {
            result.status = TrialResult::Status::failed;
            result.reason = "killed";
            return result;
        }
        result.record.columns["x"] = {request.trial == infinite_at ? INFINITY : value_of(request)};
        result.record.cpu_s = 1;
        return result;
    }
    bool may_recover() const override { return recovers; }

    std::atomic<std::size_t> runs{0};
    std::size_t fails_at = SIZE_MAX;
    std::size_t failures = 0;
    std::atomic<std::size_t> runs_of_failing{0};
    bool recovers = false;
    std::size_t infinite_at = SIZE_MAX;
};

EvaluationPlan plan_of(std::size_t candidates, double accuracy) {
    EvaluationPlan plan;
    plan.name = "numbers";
    for (std::size_t c = 0; c < candidates; ++c) plan.labels.push_back(std::to_string(c));
    Metric metric;
    metric.name = metric.quantity = "x";
    plan.metrics.push_back(metric);
    if (accuracy > 0) plan.aim.accuracy = accuracy;
    if (candidates > 1) plan.comparison = ComparisonAim{};
    return plan;
}

void run(Evaluation& evaluation) {
    evaluation.run([] { return true; }, [](const Evaluation&) {});
}

}  // namespace

TEST_CASE("unit.evaluation.the answer does not depend on the number of threads") {
    const EvaluationPlan plan = plan_of(1, 0.002);
    std::vector<Interval> intervals;
    std::size_t rounds = 0;
    for (const unsigned threads : {1U, 2U, 7U}) {
        Numbers numbers;
        Evaluation evaluation(plan, numbers, nullptr, threads);
        run(evaluation);
        CHECK(evaluation.ending() == Ending::reached);
        CHECK(numbers.runs <= evaluation.rounds() + threads);
        CHECK((rounds == 0 || rounds == evaluation.rounds()));
        rounds = evaluation.rounds();
        intervals.push_back(evaluation.estimate(0, 0).interval);
        CHECK(evaluation.estimate(0, 0).reached);
    }
    CHECK(rounds > 1000);
    CHECK(intervals[0].low == intervals[1].low);
    CHECK(intervals[0].high == intervals[2].high);
    CHECK(intervals[0].contains(10));
}

TEST_CASE("unit.evaluation.what an interruption left is gone on from") {
    const EvaluationPlan plan = plan_of(2, 0.003);
    Numbers whole;
    Evaluation undisturbed(plan, whole, nullptr, 2);
    run(undisturbed);
    const TestFolder folder;
    std::size_t known = 0;
    for (int cut = 1;; ++cut) {
        TrialStore store(folder.file("trials.db"), "same", {"x"}, false);
        Numbers numbers;
        Evaluation evaluation(plan, numbers, &store, 3);
        evaluation.run([&] { return numbers.runs < 700; }, [](const Evaluation&) {});
        CHECK(evaluation.cost().known >= known);
        known = evaluation.cost().known + evaluation.cost().ran;
        CHECK(store.size() == known);
        if (evaluation.ending() == Ending::interrupted) continue;
        CHECK(cut > 2);
        CHECK(evaluation.rounds() == undisturbed.rounds());
        CHECK(evaluation.estimate(1, 0).interval.low == undisturbed.estimate(1, 0).interval.low);
        break;
    }
    TrialStore store(folder.file("trials.db"), "same", {"x"}, false);
    Numbers none;
    Evaluation again(plan, none, &store, 3);
    run(again);
    CHECK(none.runs == 0);
    CHECK(again.ending() == Ending::reached);
}

TEST_CASE("unit.evaluation.failures are run again, or end it") {
    EvaluationPlan plan = plan_of(1, 0.05);
    plan.aim.minimum_trials = 50;
    Numbers numbers;
    numbers.fails_at = 30;
    numbers.failures = 2;
    SUBCASE("it recovers") {
        numbers.recovers = true;
        Evaluation evaluation(plan, numbers, nullptr, 2);
        run(evaluation);
        CHECK(evaluation.ending() == Ending::reached);
        CHECK(evaluation.cost().retried == 2);
    }
    SUBCASE("it cannot") {
        const TestFolder folder;
        TrialStore store(folder.file("trials.db"), "same", {"x"}, false);
        Evaluation evaluation(plan, numbers, &store, 1);
        run(evaluation);
        CHECK(evaluation.ending() == Ending::failed);
        CHECK(evaluation.failure() == "trial 30 of 0: killed");
        CHECK(evaluation.rounds() == 30);
    }
    SUBCASE("nobody knows how long it would have been") {
        numbers.fails_at = SIZE_MAX;
        numbers.infinite_at = 25;
        Evaluation evaluation(plan, numbers, nullptr, 2);
        run(evaluation);
        CHECK(evaluation.ending() == Ending::failed);
        CHECK(evaluation.rounds() == 25);
        CHECK(evaluation.failure().find("trial 25") != std::string::npos);
    }
}

TEST_CASE("unit.evaluation.candidates are compared on the same draws") {
    SUBCASE("two, until there is a verdict") {
        EvaluationPlan plan = plan_of(2, 0);
        Numbers numbers;
        Evaluation evaluation(plan, numbers, nullptr, 2);
        run(evaluation);
        CHECK(evaluation.ending() == Ending::reached);
        // The difference, 0.5, is below one deviation of either; of the difference it is almost two.
        CHECK(evaluation.rounds() < 100);
        REQUIRE(evaluation.comparison().against_reference(1));
        CHECK(evaluation.comparison().against_reference(1)->verdict == Verdict::Worse);
    }
    SUBCASE("the larger is better") {
        EvaluationPlan plan = plan_of(2, 0);
        plan.metrics[0].smaller_is_better = false;
        Numbers numbers;
        Evaluation evaluation(plan, numbers, nullptr, 2);
        run(evaluation);
        CHECK(evaluation.comparison().against_reference(1)->verdict == Verdict::Better);
    }
    SUBCASE("five, of which the best is left") {
        EvaluationPlan plan = plan_of(5, 0.003);
        Numbers numbers;
        Evaluation evaluation(plan, numbers, nullptr, 2);
        run(evaluation);
        REQUIRE(evaluation.comparison().elimination() != nullptr);
        CHECK(evaluation.comparison().elimination()->candidates_left() ==
              std::vector<std::size_t>{0});
        CHECK(evaluation.trials_of(4) < evaluation.trials_of(0));
    }
    SUBCASE("so many trials of each, whatever they say") {
        EvaluationPlan plan = plan_of(3, 0);
        plan.aim.fixed = true;
        plan.aim.maximum_trials = 60;
        Numbers numbers;
        Evaluation evaluation(plan, numbers, nullptr, 2);
        run(evaluation);
        CHECK(evaluation.ending() == Ending::reached);
        CHECK(evaluation.comparison().elimination() == nullptr);
        for (std::size_t c = 0; c < 3; ++c) CHECK(evaluation.trials_of(c) == 60);
    }
}

TEST_CASE("unit.evaluation.a window that is looked for ends with an answer") {
    // Flows that begin bit by bit, for there to be a window; or none, as a job has it.
    class Flows final : public Executor {
      public:
        TrialResult run(const TrialRequest& request, const GoOn& /*go_on*/) override {
            TrialResult result;
            if (request.trial == fails_at) {
                result.status = TrialResult::Status::failed;
                result.reason = "killed";
                return result;
            }
            for (int i = 0; i < 100; ++i) {
                TrialFlow flow;
                flow.start_s = 0.01 * i;
                flow.time_s = 0.05 + 1e-3 * static_cast<double>(request.seed % 7);
                result.record.flows.push_back(flow);
            }
            if (job) result.record.jct_s = 1;
            return result;
        }
        std::size_t fails_at = SIZE_MAX;
        bool job = false;
    };
    EvaluationPlan plan = plan_of(1, 0.5);
    plan.metrics[0].name = plan.metrics[0].quantity = "fct";
    plan.window.find = true;
    // Fewer than a window is found from.
    plan.aim.minimum_trials = 5;
    Flows flows;
    const TestFolder folder;
    SUBCASE("fewer trials are asked for than it takes") {
        Evaluation evaluation(plan, flows, nullptr, 1);
        run(evaluation);
        CHECK(evaluation.ending() == Ending::reached);
        REQUIRE(evaluation.window() != nullptr);
        CHECK(evaluation.window()->begin > 0);
    }
    SUBCASE("one of those that it takes fails") {
        flows.fails_at = 7;
        Evaluation evaluation(plan, flows, nullptr, 2);
        run(evaluation);
        CHECK(evaluation.ending() == Ending::failed);
        CHECK(evaluation.failure() == "trial 7 of 0: killed");
    }
    SUBCASE("there is none, and it is gone on from there") {
        flows.job = true;
        TrialStore store(folder.file("trials.db"), "same", {"fct"}, false);
        Evaluation evaluation(plan, flows, &store, 2);
        run(evaluation);
        CHECK(evaluation.ending() == Ending::reached);
        CHECK(evaluation.window() == nullptr);
        plan.aim.minimum_trials = 40;
        Evaluation again(plan, flows, &store, 2);
        run(again);
        CHECK(again.ending() == Ending::reached);
        CHECK(again.rounds() == 40);
        CHECK(again.cost().known >= 20);
    }
}

TEST_CASE("unit.evaluation.trials begin in order, the candidate that is behind first") {
    TrialQueue queue(2);
    const auto all = [](std::size_t) { return true; };
    queue.begun({0, 1});
    CHECK(queue.next(3, all) == CandidateTrial{0, 0});
    CHECK(queue.next(3, all) == CandidateTrial{1, 0});
    CHECK(queue.next(3, all) == CandidateTrial{1, 1});
    CHECK(queue.next(3, [](std::size_t c) { return c == 1; }) == CandidateTrial{1, 2});
    queue.give_back({1, 1});
    CHECK(queue.next(0, all) == CandidateTrial{1, 1});
    CHECK(queue.next(3, all) == CandidateTrial{0, 2});
    CHECK_FALSE(queue.next(3, all));
}

TEST_CASE("unit.evaluation.the most trials are the most") {
    EvaluationPlan plan = plan_of(1, 1e-6);
    plan.aim.maximum_trials = 1500;
    Numbers numbers;
    Evaluation evaluation(plan, numbers, nullptr, 4);
    run(evaluation);
    CHECK(evaluation.ending() == Ending::exhausted);
    CHECK(evaluation.rounds() == 1500);
    CHECK(numbers.runs == 1500);
    CHECK_FALSE(evaluation.estimate(0, 0).reached);
    REQUIRE(evaluation.forecast());
    CHECK(evaluation.forecast()->trials == 1500);
}
