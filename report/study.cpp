// SPDX-License-Identifier: Apache-2.0
#include "report/study.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include <fmt/core.h>

#include "core/random.h"
#include "core/results/student_t.h"
#include "core/text/human.h"
#include "report/words.h"

namespace sluice::report {

namespace {

constexpr std::size_t kMostRuns = 12;
constexpr std::size_t kMostRanked = 100;

std::string shown_value(double value, const std::string& unit) {
    if (unit == "s") return human_seconds(value);
    if (unit == "share") return shown_share(value);
    return human_count(value) + unit;
}

/// The experiment by what changes it.
std::string label_of(const Study& study, std::size_t row) {
    std::string label;
    for (std::size_t k = 0; k < study.keys.size(); ++k) {
        if (repeats(study.keys[k])) continue;
        if (!label.empty()) label += ", ";
        label += study.keys[k] + " " + study.values[k][row];
    }
    return label.empty() ? "the experiment" : label;
}

struct Candidate {
    double sum = 0;
    double squares = 0;
    std::size_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
    /// Half of the 95% interval of the mean; more than one value.
    double half_width() const {
        const auto n = static_cast<double>(count);
        const double variance = std::max(0.0, (squares - sum * sum / n) / (n - 1));
        return student_t_quantile(0.975, count - 1) * std::sqrt(variance / n);
    }
};

std::map<std::string, Candidate> candidates_by(const Study& study, std::size_t figure) {
    std::map<std::string, Candidate> candidates;
    for (std::size_t row = 0; row < study.size(); ++row) {
        const Json& value = study.results[figure][row];
        if (!value.is_number()) continue;
        Candidate& candidate = candidates[label_of(study, row)];
        candidate.sum += value.get<double>();
        candidate.squares += value.get<double>() * value.get<double>();
        ++candidate.count;
    }
    return candidates;
}

/// The metric's; as many as there are if there is none of that name.
std::size_t figure_of(const Study& study) {
    return static_cast<std::size_t>(
        std::find_if(study.figures.begin(), study.figures.end(),
                     [&](const Study::Figure& f) { return f.name == study.metric; }) -
        study.figures.begin());
}

/// The i-th of numbers that look random, the same every time.
std::uint64_t draw(std::uint64_t i) { return mix_bits(i); }

std::string undone(const Study& study) {
    std::map<std::string, std::size_t> states;
    for (const std::string& state : study.status) {
        if (state != "done") ++states[state];
    }
    std::string text;
    for (const auto& [state, count] : states) {
        text += fmt::format("{}{} {}", text.empty() ? " " : ", ", count, state);
    }
    return text.empty() ? text : text + fmt::format(" of {}.", study.size());
}

}  // namespace

void Study::add(const std::vector<std::string>& row, std::vector<Json> found, std::string state,
                std::string reason) {
    values.resize(keys.size());
    results.resize(figures.size());
    for (std::size_t k = 0; k < keys.size(); ++k) values[k].push_back(row[k]);
    for (std::size_t f = 0; f < figures.size(); ++f) results[f].push_back(std::move(found[f]));
    status.push_back(std::move(state));
    reasons.push_back(std::move(reason));
}

bool repeats(const std::string& key) {
    return key == "seed" || key == "perturbation" || key == "trial";
}

void thin(Study& study, std::size_t most) {
    if (study.size() <= most) return;
    const std::size_t metric = figure_of(study);
    if (metric < study.figures.size()) {
        std::vector<std::pair<std::string, Candidate>> ranked;
        for (const auto& candidate : candidates_by(study, metric)) ranked.push_back(candidate);
        std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
            return a.second.mean() < b.second.mean();
        });
        ranked.resize(std::min(ranked.size(), kMostRanked));
        for (const auto& [label, candidate] : ranked) {
            const double half = candidate.count > 1 ? candidate.half_width() : 0;
            study.intervals.push_back(
                {{"label", label},
                 {"figure", study.metric},
                 {"unit", study.figures[metric].unit},
                 {"estimate", candidate.mean()},
                 {"low", candidate.count > 1 ? Json(candidate.mean() - half) : Json(nullptr)},
                 {"high", candidate.count > 1 ? Json(candidate.mean() + half) : Json(nullptr)},
                 {"n", candidate.count}});
        }
    }
    const std::size_t all = study.size();
    const auto keep = [&](auto& column) {
        for (std::size_t i = 0; i < most; ++i) {
            // Not at equal distances: the axes of a batch repeat at such.
            const std::size_t from = i * all / most;
            const std::size_t to = (i + 1) * all / most;
            column[i] = std::move(column[from + draw(i) % (to - from)]);
        }
        column.resize(most);
    };
    for (auto& column : study.values) keep(column);
    for (auto& column : study.results) keep(column);
    keep(study.status);
    keep(study.reasons);
    study.left_out = all - most;
}

std::string best_answer(const Study& study) {
    const std::size_t figure = figure_of(study);
    if (figure == study.figures.size()) return "There is nothing to rank." + undone(study);
    const std::map<std::string, Candidate> candidates = candidates_by(study, figure);
    if (candidates.empty()) return "No experiment has " + study.metric + "." + undone(study);
    double least = std::numeric_limits<double>::max();
    double most = 0;
    for (const auto& [label, candidate] : candidates) {
        least = std::min(least, candidate.mean());
        most = std::max(most, candidate.mean());
    }
    std::size_t ties = 0;
    for (const auto& [label, candidate] : candidates) ties += candidate.mean() <= least ? 1 : 0;
    // Of equals the first one, as the page has it.
    std::string best;
    for (std::size_t row = 0; row < study.size() && best.empty(); ++row) {
        const auto found = candidates.find(label_of(study, row));
        if (found != candidates.end() && found->second.mean() <= least) best = found->first;
    }
    const std::string& unit = study.figures[figure].unit;
    std::string text =
        fmt::format("Best by {} is {}: {}", study.metric, best, shown_value(least, unit));
    if (ties > 1)
        text += fmt::format(", as {} with exactly the same", counted(ties - 1, "other", "others"));
    text += fmt::format("; the worst of {} has {}", candidates.size(), shown_value(most, unit));
    if (least > 0) text += fmt::format(", {:.2f} times as much", most / least);
    return text + "." + undone(study);
}

Json study_json(const Study& study, const std::string& answer) {
    Json figures = Json::array();
    for (const Study::Figure& figure : study.figures) {
        figures.push_back({{"name", figure.name}, {"unit", figure.unit}});
    }
    Json repeated = Json::array();
    for (const std::string& key : study.keys) {
        if (repeats(key)) repeated.push_back(key);
    }
    return {{"kind", "study"},
            {"source", study.source},
            {"name", study.name},
            {"folder", study.folder},
            {"keys", study.keys},
            {"repeats", std::move(repeated)},
            {"figures", std::move(figures)},
            {"metric", study.metric},
            {"cost", study.cost},
            {"values", study.values},
            {"results", study.results},
            {"status", study.status},
            {"reasons", study.reasons},
            {"intervals", study.intervals},
            {"runs", study.runs},
            {"notes", study.notes},
            {"left_out", study.left_out},
            {"answers", {{"best", answer}}}};
}

void add_runs(Study& study, const std::vector<std::pair<std::string, std::string>>& folders) {
    for (const auto& [label, folder] : folders) {
        if (study.runs.size() == kMostRuns) break;
        const std::string path = (std::filesystem::path(folder) / "summary.json").string();
        std::error_code error;
        if (!std::filesystem::is_regular_file(path, error)) continue;
        study.runs.push_back({{"label", label}, {"summary", read_json(path)}});
    }
}

}  // namespace sluice::report
