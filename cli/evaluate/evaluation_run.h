// SPDX-License-Identifier: Apache-2.0
/// An evaluation from its plan to its folder: what `evaluate`, `compare --trials` and `run --replicas` have in common.
#pragma once

#include <memory>
#include <string>

#include "eval/evaluation/evaluation.h"
#include "eval/evaluation/plan.h"
#include "experiment/run.h"

namespace sluice {

struct EvaluationOptions {
    std::string out;  ///< folder; empty: nothing is left behind
    unsigned threads = 1;
    bool resume = false;
    bool anew = false;
    bool quiet = false;
    std::string json;        ///< a second place for evaluation.json; may be empty
    bool fall_back = false;  ///< what a device refuses the mode's own engine does
};

/// `maker`: of a device; empty: every mode's own engine.
std::unique_ptr<eval::Executor> make_executor(const eval::EvaluationPlan& plan,
                                              const RunMaker& maker, bool fall_back = false);

/// ConfigError if the folder holds an evaluation, and nothing was said of it.
void check_folder(const EvaluationOptions& options);

/// Trials with a progress bar, until they are enough or Ctrl-C comes.
void run_trials(eval::Evaluation& evaluation, bool quiet);

/// Runs it, leaves its files and prints what came of it. Returns an exit code.
int run_evaluation(const eval::EvaluationPlan& plan, const RunMaker& maker,
                   const EvaluationOptions& options);

/// The same of a plan with [importance].
int run_tail_evaluation(const eval::EvaluationPlan& plan, const EvaluationOptions& options);

/// Files in a folder that is there: evaluation.json, .csv, .svg and trials.csv.
void write_evaluation(const eval::Evaluation& evaluation, const std::string& directory);

}  // namespace sluice
