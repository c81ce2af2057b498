// SPDX-License-Identifier: Apache-2.0
/// Any bytes are trials of somebody else's or a ConfigError of one line; what is read can be evaluated, or is refused
/// likewise.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "eval/evaluation/evaluation.h"
#include "eval/executor/readers.h"
#include "eval/executor/samples_executor.h"
#include "eval/report/report.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/scratch_file.h"

namespace {

using namespace sluice;
using namespace sluice::fuzz;

constexpr std::size_t kMostColumns = 3;

/// The mean and a tail of what the trials have.
std::vector<eval::Metric> metrics_of(const std::vector<eval::TrialRecord>& trials) {
    std::set<std::string> names;
    for (const eval::TrialRecord& trial : trials) {
        if (!trial.flows.empty()) names.insert("");
        for (const auto& [name, values] : trial.columns) names.insert(name);
    }
    std::vector<eval::Metric> metrics;
    for (const std::string& name : names) {
        if (metrics.size() == 2 * kMostColumns) break;
        eval::Metric metric;
        metric.quantity = name.empty() ? "fct" : name;
        metric.column = !name.empty();
        metric.name = "mean of " + name;
        metrics.push_back(metric);
        metric.name = "p99 of " + name;
        metric.quantile = 0.99;
        metrics.push_back(metric);
    }
    return metrics;
}

void evaluate(const eval::SampledCandidate& candidate) {
    eval::EvaluationPlan plan;
    plan.name = "input";
    plan.labels = {"input"};
    plan.metrics = metrics_of(candidate.trials);
    plan.aim.fixed = true;
    plan.aim.maximum_trials = candidate.trials.size();
    plan.aim.minimum_trials = candidate.trials.size();
    if (plan.metrics.empty() || candidate.trials.size() < 2) return;
    const std::vector<std::vector<eval::TrialRecord>> trials = {candidate.trials};
    eval::SamplesExecutor executor(trials);
    eval::Evaluation evaluation(plan, executor, nullptr, 1);
    evaluation.run([] { return true; }, [](const eval::Evaluation&) {});
    require(!eval::evaluation_text(evaluation).empty());
    for (std::size_t m = 0; m < plan.metrics.size(); ++m) {
        const eval::Estimate estimate = evaluation.estimate(0, m);
        require(estimate.trials <= candidate.trials.size());
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ScratchFile file(data, size);
    try {
        for (const eval::SampledCandidate& candidate : eval::read_samples({file.path()})) {
            require(!candidate.trials.empty());
            require(candidate.numbers.empty() ||
                    candidate.numbers.size() == candidate.trials.size());
            evaluate(candidate);
        }
    } catch (const ConfigError& error) {
        require_line(error.what());
    }
    return 0;
}
