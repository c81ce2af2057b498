// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/core.h>

#include "core/error.h"
#include "report/study.h"
#include "report/words.h"

namespace sluice::report {

namespace {

namespace fs = std::filesystem;

Json figure(const Json& row, const char* key) {
    return row.contains(key) && row.at(key).is_number() ? row.at(key) : Json(nullptr);
}

/// A figure of an object in a row, such as fct_error.mean.
Json figure(const Json& row, const char* object, const char* key) {
    return row.contains(object) && row.at(object).is_object() ? figure(row.at(object), key)
                                                              : Json(nullptr);
}

std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Of modes: "hybrid-empty" with a restorer.
std::string mode_of(const Json& row) {
    std::string mode = row.at("mode");
    if (row.contains("restorer")) mode += "-" + text_of(row.at("restorer"));
    return mode;
}

/// Where a row's run is: in the comparison's folder, which may have been moved since.
std::string beside(const std::string& folder, const std::string& run) {
    return (fs::path(folder) / fs::path(run).filename()).string();
}

Study values_study(const Json& json, const std::string& folder) {
    Study study;
    study.source = "comparison of values";
    study.keys = json.at("varied").get<std::vector<std::string>>();
    study.figures = {{"jct_s", "s"},     {"fct_mean_s", "s"}, {"fct_p50_s", "s"},
                     {"fct_p99_s", "s"}, {"fct_max_s", "s"},  {"wall_s", "s"},
                     {"ecn_marks", ""},  {"pfc_pauses", ""},  {"drops", ""},
                     {"packet_hops", ""}};
    study.metric = "fct_mean_s";
    study.cost = "fct_p99_s";
    std::vector<std::pair<std::string, std::string>> folders;
    for (const Json& row : json.at("rows")) {
        std::vector<std::string> values;
        std::string label;
        for (const std::string& key : study.keys) {
            values.push_back(text_of(row.at("values").at(key)));
            label += (label.empty() ? "" : ", ") + values.back();
        }
        const bool whole = row.value("flows_left", 0) == 0;
        study.add(values,
                  {figure(row, "jct_s"), figure(row, "fct_s", "mean"), figure(row, "fct_s", "p50"),
                   figure(row, "fct_s", "p99"), figure(row, "fct_s", "max"), figure(row, "wall_s"),
                   figure(row, "ecn_marks"), figure(row, "pfc_pauses"), figure(row, "drops"),
                   figure(row, "packet_hops")},
                  whole ? "done" : "left", whole ? "" : "flows did not finish");
        folders.emplace_back(label, beside(folder, text_of(row.at("folder"))));
    }
    add_runs(study, folders);
    return study;
}

Study modes_study(const Json& json, const std::string& folder) {
    Study study;
    study.source = "comparison of modes";
    study.keys = {"mode"};
    study.figures = {{"fct_error_mean", "share"},
                     {"fct_error_p99", "share"},
                     {"jct_error", "share"},
                     {"throughput_error", "share"},
                     {"wall_s", "s"},
                     {"user_s", "s"},
                     {"speedup", ""},
                     {"packet_hops", ""},
                     {"peak_rss_bytes", "B"}};
    study.metric = "wall_s";
    study.cost = "fct_error_mean";
    std::vector<std::pair<std::string, std::string>> folders;
    for (const Json& row : json.at("rows")) {
        const std::string mode = mode_of(row);
        study.add({mode},
                  {figure(row, "fct_error", "mean"), figure(row, "fct_error", "p99"),
                   figure(row, "jct_error"), figure(row, "throughput_error"), figure(row, "wall_s"),
                   figure(row, "user_s"), figure(row, "speedup"), figure(row, "packet_hops"),
                   figure(row, "peak_rss_bytes")},
                  "done", "");
        folders.emplace_back(mode, (fs::path(folder) / mode).string());
    }
    add_runs(study, folders);
    return study;
}

std::string modes_answer(const Json& json) {
    const std::string reference = json.at("reference");
    std::string text;
    for (const Json& row : json.at("rows")) {
        const std::string mode = mode_of(row);
        if (mode == reference) continue;
        const Json error = figure(row, "fct_error", "mean");
        text += fmt::format(
            "{}Mode {} is {:.3g} times as fast as {}", text.empty() ? "" : " ", mode,
            figure(row, "speedup").is_null() ? 0.0 : row.at("speedup").get<double>(), reference);
        if (error.is_number()) {
            text += fmt::format(", with flow completion times off by {} on average",
                                shown_share(error.get<double>()));
        }
        text += ".";
    }
    return text.empty() ? "There is nothing to compare: only one mode ran." : text;
}

Study perturbed_study(const Json& json, const std::string& folder) {
    Study study;
    study.source = "comparison of perturbed runs";
    study.keys = {"mode", "perturbation"};
    study.figures = {{"jct_s", "s"},
                     {"sensitive_mean_fct_s", "s"},
                     {"sensitive_p99_fct_s", "s"},
                     {"wall_s", "s"},
                     {"packet_hops", ""}};
    study.metric = "jct_s";
    study.cost = "wall_s";
    std::vector<std::pair<std::string, std::string>> folders;
    for (const Json& row : json.at("rows")) {
        const std::string mode = mode_of(row);
        for (const Json& run : row.at("by_run")) {
            study.add({mode, text_of(run.at("perturbation"))},
                      {figure(run, "jct_s"), figure(run, "sensitive_mean_fct_s"),
                       figure(run, "sensitive_p99_fct_s"), figure(run, "wall_s"),
                       figure(run, "packet_hops")},
                      "done", "");
        }
        folders.emplace_back(mode, (fs::path(folder) / "0" / mode).string());
    }
    add_runs(study, folders);
    return study;
}

std::string perturbed_answer(const Json& json) {
    std::string text;
    for (const Json& row : json.at("rows")) {
        if (!row.contains("judgement")) continue;
        const Json& judgement = row.at("judgement");
        text +=
            fmt::format("{}Mode {} is {} to {}", text.empty() ? "" : " ", mode_of(row),
                        judgement.at("verdict") == "equivalent" ? "equivalent"
                        : judgement.at("verdict") == "biased"   ? "biased, compared"
                                                                : "not yet known to be equivalent",
                        text_of(json.at("reference")));
        const Json& jct = judgement.value("jct", Json());
        if (jct.is_object() && jct.at("bias").is_number()) {
            text += fmt::format(": bias of the job's time {} (90% interval {} to {})",
                                shown_share(jct.at("bias").get<double>()),
                                shown_share(jct.at("low").get<double>()),
                                shown_share(jct.at("high").get<double>()));
        }
        text += fmt::format(", over {} pairs.", json.at("pairs").get<int>());
    }
    return text.empty() ? "There is nothing to compare: only one mode ran." : text;
}

}  // namespace

Json comparison_report(const std::string& folder) {
    const std::string path = (fs::path(folder) / "compare.json").string();
    const Json json = read_json(path);
    try {
        const bool of_values = json.contains("varied");
        const bool perturbed = json.contains("pairs");
        Study study = of_values   ? values_study(json, folder)
                      : perturbed ? perturbed_study(json, folder)
                                  : modes_study(json, folder);
        study.name = json.at("scenario");
        study.folder = folder;
        return study_json(study, of_values   ? best_answer(study)
                                 : perturbed ? perturbed_answer(json)
                                             : modes_answer(json));
    } catch (const Json::exception& error) {
        throw ConfigError(path, 0, std::string("is no comparison: ") + error.what());
    }
}

}  // namespace sluice::report
