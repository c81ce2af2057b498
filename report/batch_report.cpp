// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "core/database/database.h"
#include "core/error.h"
#include "report/study.h"

namespace sluice::report {

namespace {

/// More do not fit a page.
constexpr std::size_t kMostExperiments = 20'000;

std::string unit_of(const std::string& column) {
    if (column.size() > 2 && column.compare(column.size() - 2, 2, "_s") == 0) return "s";
    if (column == "bytes") return "B";
    if (column.rfind("jct_error", 0) == 0) return "share";
    return "";
}

/// The columns of the view, in order: experiment, digest, status, KEYS, FIGURES from jct_s, reason, folder.
std::vector<std::string> columns_of(Database& database) {
    std::vector<std::string> columns;
    Statement statement(database, "SELECT name FROM pragma_table_info('experiments')");
    while (statement.step()) columns.emplace_back(statement.bytes(0));
    return columns;
}

struct Columns {
    std::size_t status = 0;
    std::size_t figures = 0;
    std::size_t reason = 0;
};

Columns places(const std::vector<std::string>& columns, const std::string& path) {
    const auto place = [&](const char* name) {
        const auto found = std::find(columns.begin(), columns.end(), name);
        if (found == columns.end()) throw ConfigError(path, 0, "is no batch's results");
        return static_cast<std::size_t>(found - columns.begin());
    };
    const Columns at{place("status"), place("jct_s"), place("reason")};
    if (at.status >= at.figures || at.figures >= at.reason) {
        throw ConfigError(path, 0, "is no batch's results");
    }
    return at;
}

void read_rows(Database& database, const Columns& at, Study& study) {
    Statement statement(database, "SELECT * FROM experiments ORDER BY experiment");
    while (statement.step()) {
        std::vector<std::string> values;
        for (std::size_t c = at.status + 1; c < at.figures; ++c) {
            values.emplace_back(statement.bytes(static_cast<int>(c)));
        }
        std::vector<Json> figures;
        for (std::size_t c = at.figures; c < at.reason; ++c) {
            const int column = static_cast<int>(c);
            figures.push_back(statement.null(column) ? Json(nullptr)
                                                     : Json(statement.real(column)));
        }
        study.add(values, std::move(figures),
                  std::string(statement.bytes(static_cast<int>(at.status))),
                  std::string(statement.bytes(static_cast<int>(at.reason))));
    }
}

}  // namespace

Json batch_report(const std::string& path) {
    Database database(path, false);
    if (database.number("SELECT count(*) FROM sqlite_master WHERE name = 'experiments'") == 0) {
        throw ConfigError(path, 0, "is no batch's results: it has no view experiments");
    }
    const std::vector<std::string> columns = columns_of(database);
    const Columns at = places(columns, path);
    Study study;
    study.source = "batch";
    const std::filesystem::path folder =
        std::filesystem::absolute(std::filesystem::path(path)).parent_path();
    study.name = folder.filename().string();
    study.folder = folder.string();
    for (std::size_t c = at.status + 1; c < at.figures; ++c) study.keys.push_back(columns[c]);
    for (std::size_t c = at.figures; c < at.reason; ++c) {
        study.figures.push_back({columns[c], unit_of(columns[c])});
    }
    study.metric = "jct_s";
    study.cost = "cpu_s";
    read_rows(database, at, study);
    const std::string answer = best_answer(study);
    thin(study, kMostExperiments);
    return study_json(study, answer);
}

}  // namespace sluice::report
