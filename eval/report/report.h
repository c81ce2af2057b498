// SPDX-License-Identifier: Apache-2.0
/// What an evaluation came to: lines for a terminal, evaluation.json, evaluation.csv, trials.csv, evaluation.svg. Columns,
/// keys and units: docs/evaluation.md.
#pragma once

#include <string>
#include <vector>

#include "eval/evaluation/evaluation.h"
#include "eval/model_based/tail_evaluation.h"

namespace sluice::eval {

std::string evaluation_text(const Evaluation& evaluation);
std::string evaluation_json(const Evaluation& evaluation, const std::string& version);
/// A line a candidate and metric.
std::string evaluation_csv(const Evaluation& evaluation);
/// A line a trial: its figure by metric, for other tools.
std::string trials_csv(const Evaluation& evaluation);
/// Of one metric: its distribution over trials, and how its interval shrank.
std::string evaluation_svg(const Evaluation& evaluation, std::size_t metric);

/// The same of an evaluation by importance sampling.
std::string tail_text(const EvaluationPlan& plan, std::size_t candidate, const TailResult& result);
std::string tail_json(const EvaluationPlan& plan, const std::vector<TailResult>& results,
                      const std::string& version);

/// "73.42 us, 72.9 us to 73.94 us (+-0.71%)".
std::string shown_interval(const Interval& interval, Unit unit);
/// "0.71%", "12%".
std::string shown_percent(double share);
/// One line of progress: the estimate that is least sure, and what is left to do.
std::string progress_text(const Evaluation& evaluation, double seconds);
/// Of the trials that it takes, 0 to 1.
double progress_share(const Evaluation& evaluation);

}  // namespace sluice::eval
