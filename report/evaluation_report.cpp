// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/core.h>

#include "core/error.h"
#include "core/results/csv_reader.h"
#include "core/text/human.h"
#include "report/study.h"
#include "report/words.h"

namespace sluice::report {

namespace {

namespace fs = std::filesystem;

std::string shown(double value, const std::string& unit) {
    return unit == "s" ? human_seconds(value) : human_count(value) + unit;
}

void add_interval(Study& study, const Json& of, const std::string& label, const std::string& name,
                  const std::string& unit) {
    if (!of.contains("estimate") || !of.at("estimate").is_number()) return;
    study.intervals.push_back({{"label", label},
                               {"figure", name},
                               {"unit", unit},
                               {"estimate", of.at("estimate")},
                               {"low", of.value("low", Json())},
                               {"high", of.value("high", Json())},
                               {"n", of.value("trials", Json())},
                               {"reached", of.value("reached", false)}});
}

void read_trials(Study& study, const std::string& path) {
    std::vector<std::string> columns = {"candidate", "trial"};
    for (const Study::Figure& figure : study.figures) columns.push_back(figure.name);
    CsvReader rows(path, columns);
    while (rows.next()) {
        std::vector<Json> figures;
        for (std::size_t f = 2; f < columns.size(); ++f) {
            figures.push_back(rows.empty(f) ? Json(nullptr) : Json(rows.real(f)));
        }
        study.add({rows.text(0), rows.text(1)}, std::move(figures), "done", "");
    }
}

void read_candidates(const Json& json, Study& study) {
    for (const Json& candidate : json.at("candidates")) {
        const std::string label = candidate.at("label");
        if (!candidate.contains("metrics")) {
            add_interval(study, candidate, label, json.value("what", std::string("estimate")), "s");
            continue;
        }
        for (const Json& metric : candidate.at("metrics")) {
            const std::string name = metric.at("name");
            const std::string unit = metric.value("unit", std::string());
            add_interval(study, metric, label, name, unit);
            bool known = false;
            for (const Study::Figure& figure : study.figures) known = known || figure.name == name;
            if (!known) study.figures.push_back({name, unit});
        }
    }
}

/// Verdicts in pairs; then the least estimate of the first metric.
std::string answer_of(const Json& json, const Study& study) {
    if (study.intervals.empty()) return "No candidate has an estimate yet.";
    const std::string metric = study.intervals.front().at("figure");
    const Json* best = nullptr;
    for (const Json& interval : study.intervals) {
        if (interval.at("figure") != metric) continue;
        if (best == nullptr || interval.at("estimate") < best->at("estimate")) best = &interval;
    }
    const std::string unit = best->at("unit");
    std::string text = fmt::format("{} has the least {}: {}", best->at("label").get<std::string>(),
                                   metric, shown(best->at("estimate").get<double>(), unit));
    if (best->at("low").is_number() && best->at("high").is_number()) {
        text +=
            fmt::format(", {} to {} at {} confidence", shown(best->at("low").get<double>(), unit),
                        shown(best->at("high").get<double>(), unit),
                        shown_share(json.value("confidence", 0.95)));
    }
    text += ".";
    const Json comparison = json.value("comparison", Json());
    if (!comparison.is_object()) return text;
    for (const Json& pair : comparison.at("pairs")) {
        text += fmt::format(" {} is {} {}", pair.at("candidate").get<std::string>(),
                            pair.at("verdict") == "undecided" ? "not told apart from"
                            : pair.at("verdict") == "same"
                                ? "the same as"
                                : pair.at("verdict").get<std::string>() + " than",
                            comparison.at("reference").get<std::string>());
        const double reference = pair.at("reference_mean").get<double>();
        if (reference > 0 && pair.at("difference").is_number()) {
            text += fmt::format(" ({}{})", pair.at("difference").get<double>() > 0 ? "+" : "",
                                shown_share(pair.at("difference").get<double>() / reference));
        }
        text += ".";
    }
    return text;
}

}  // namespace

Json evaluation_report(const std::string& folder) {
    const std::string path = (fs::path(folder) / "evaluation.json").string();
    const Json json = read_json(path);
    try {
        Study study;
        study.source = "evaluation";
        study.name = json.at("name");
        study.folder = folder;
        study.keys = {"candidate", "trial"};
        read_candidates(json, study);
        if (!study.figures.empty()) study.metric = study.cost = study.figures.front().name;
        if (study.figures.size() > 1) study.cost = study.figures[1].name;
        const std::string trials = (fs::path(folder) / "trials.csv").string();
        std::error_code error;
        if (!study.figures.empty() && fs::is_regular_file(trials, error)) {
            read_trials(study, trials);
        }
        study.notes.push_back(fmt::format("{} confidence; ended: {}",
                                          shown_share(json.value("confidence", 0.95)),
                                          json.value("ending", std::string("by its own rule"))));
        return study_json(study, answer_of(json, study));
    } catch (const Json::exception& error) {
        throw ConfigError(path, 0, std::string("is no evaluation: ") + error.what());
    }
}

}  // namespace sluice::report
