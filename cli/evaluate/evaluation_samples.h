// SPDX-License-Identifier: Apache-2.0
/// Estimates from trials that somebody else has run: a testbed, ns-3, a notebook.
#pragma once

#include <string>
#include <vector>

#include "cli/evaluate/evaluation_run.h"
#include "eval/evaluation/plan.h"

namespace sluice {

struct SampleOptions {
    std::vector<std::string> files;
    std::string metric;  ///< empty: every column
    std::string statistic = "mean";
    bool pooled = false;
    bool compare = false;  ///< candidates pair by pair
};

/// All trials are used, and it is said after how many the rule would have stopped. Returns an exit code. ConfigError.
int evaluate_samples(const SampleOptions& options, const eval::Aim& aim,
                     const EvaluationOptions& run);

}  // namespace sluice
