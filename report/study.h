// SPDX-License-Identifier: Apache-2.0
/// A batch, a comparison or an evaluation as the data of its pages: a table of experiments with what varies and what came
/// of each.
#pragma once

#include <string>
#include <vector>

#include "report/run_files.h"

namespace sluice::report {

/// The pages' data: {kind: "study", source, name, folder, keys, repeats, figures: [{name, unit}], metric, cost, values,
/// results, status, reasons, intervals, runs, notes, answers: {best}, left_out}:
///   keys, values      what varies, and for each key its value by experiment
///   repeats           keys that repeat an experiment instead of changing it: seed, perturbation, trial
///   figures, results  what was found, and for each figure its value by experiment, null where there is none
///   metric, cost      figures (less is better) that the page opens with
///   intervals         [{label, figure, estimate, low, high, n}], where the study has estimated them
///   runs              [{label, summary}]: of the runs behind it, as far as they are still there
struct Study {
    std::string source;  ///< "batch", "comparison of modes", "comparison of values", ...
    std::string name;
    std::string folder;
    std::vector<std::string> keys;
    std::vector<std::vector<std::string>> values;  ///< by key, then experiment
    struct Figure {
        std::string name;
        std::string unit;  ///< "s", "B", "b/s", "share" or empty
    };
    std::vector<Figure> figures;
    std::vector<std::vector<Json>> results;  ///< by figure, then experiment
    std::vector<std::string> status;
    std::vector<std::string> reasons;
    std::string metric;
    std::string cost;
    Json intervals = Json::array();
    Json runs = Json::array();
    std::vector<std::string> notes;
    std::size_t left_out = 0;

    std::size_t size() const { return status.size(); }
    /// Adds an experiment's row; as many values as keys and results as figures.
    void add(const std::vector<std::string>& row, std::vector<Json> found, std::string state,
             std::string reason);
};

bool repeats(const std::string& key);
/// Which is best by `metric`, in words; of repeated experiments by their means.
std::string best_answer(const Study& study);
/// Of more than `most` experiments as many, drawn at random, and always the same; the ranking by the metric is that of all.
void thin(Study& study, std::size_t most);
Json study_json(const Study& study, const std::string& answer);

/// Adds up to 12 runs of a study: label, folder.
void add_runs(Study& study, const std::vector<std::pair<std::string, std::string>>& folders);

/// `path`: batch.db. ConfigError if it is no batch's.
Json batch_report(const std::string& path);
/// `folder` has compare.json.
Json comparison_report(const std::string& folder);
/// `folder` has evaluation.json.
Json evaluation_report(const std::string& folder);

}  // namespace sluice::report
