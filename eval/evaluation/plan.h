// SPDX-License-Identifier: Apache-2.0
/// An evaluation file: which settings are evaluated, what is asked of them, and how sure the answer is to be. Keys:
/// docs/evaluation.md.
/// Errors: ConfigError with file, line and column, what is wrong and what is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/config_value.h"
#include "eval/executor/command_executor.h"
#include "eval/executor/lane_executor.h"
#include "eval/importance/size_model.h"
#include "eval/trials/metric.h"
#include "experiment/batch/batch_file.h"

namespace sluice::eval {

enum class RuleKind : std::uint8_t {
    corrected,  ///< eval/stopping/corrected_rule.h
    paper,      ///< eval/stopping/paper_rule.h
};

/// How sure an answer is to be.
struct Aim {
    double confidence = 0.95;
    /// Half of an interval by its estimate, of every metric; empty: trials go on until there is a verdict, or to the most.
    std::optional<double> accuracy;
    RuleKind rule = RuleKind::corrected;
    std::optional<std::size_t> minimum_trials;  ///< empty: the rule's
    std::size_t maximum_trials = 100'000;
    bool fixed = false;  ///< exactly maximum_trials trials, whatever they say
};

/// Which of several candidates is better, by the metric of this number.
struct ComparisonAim {
    std::size_t metric = 0;
    double margin =
        0;  ///< a difference of at most this share of the reference's mean is none; 0: any counts
};

/// Which part of a trial counts.
struct WindowAim {
    double warm_up_s = 0;
    double cool_down_s = 0;
    bool find = false;  ///< from the first trials (eval/warmup)
};

struct EvaluationPlan {
    std::string name;
    std::vector<std::string> labels;  ///< by candidate; the first is the reference
    std::vector<Metric> metrics;      ///< at least one, names differ
    Aim aim;
    std::optional<ComparisonAim> comparison;  ///< of two candidates or more
    WindowAim window;
    /// Importance sampling: which sizes are drawn; of one metric, a pooled quantile.
    std::optional<SizeKind> importance;
    std::uint64_t seed = 1;

    std::optional<Batch> scenarios;  ///< by candidate; none: a command runs the trials
    std::optional<Variation> variation;
    std::vector<std::pair<ConfigValue, ConfigValue>> ports;
    Tick queue_step = 0;
    CommandSettings command;

    /// What results depend on, beside the program: another evaluation has another one.
    std::string identity() const;
};

/// `sets`: "key=value" of every candidate's scenario, after what the file sets.
EvaluationPlan load_evaluation(const std::string& path, const std::vector<std::string>& sets = {});
/// From text; `path` names it, and what it names is looked for beside it.
EvaluationPlan parse_evaluation(const std::string& text, const std::string& path,
                                const std::vector<std::string>& sets = {},
                                const LoadScenario& load = load_config);

/// What is asked where nothing is said: completion time for jobs, else mean and 99th percentile of flow completion times.
std::vector<Metric> usual_metrics(bool jobs);

/// Whether the candidate's scenario is of jobs. ConfigError if it is none.
bool has_jobs(const Batch& scenarios, std::size_t candidate);

/// "mean", "p99", "p99.9" as Metric::quantile has it. False if it is none of these.
bool parse_statistic(const std::string& word, std::optional<double>& quantile);

}  // namespace sluice::eval
