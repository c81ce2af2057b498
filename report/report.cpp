// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "report/assets.h"
#include "report/run_report.h"
#include "report/study.h"

namespace sluice::report {

namespace {

namespace fs = std::filesystem;

bool is_sqlite(const fs::path& path) {
    char magic[16] = {};
    std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
    return std::string(magic, 15) == "SQLite format 3";
}

Json folder_report(const fs::path& folder) {
    const auto has = [&](const char* name) {
        std::error_code error;
        return fs::is_regular_file(folder / name, error);
    };
    // A comparison's or a batch's folder holds no summary of its own.
    if (has("summary.json")) return run_report(folder.string());
    if (has("compare.json")) return comparison_report(folder.string());
    if (has("evaluation.json")) return evaluation_report(folder.string());
    if (has("batch.db")) return batch_report((folder / "batch.db").string());
    if (has("flows.csv.partial")) {
        throw ConfigError(folder.string(), 0,
                          "holds a run that is under way, or was killed: no summary.json");
    }
    throw ConfigError(folder.string(), 0,
                      "holds no results: no summary.json (a run), compare.json, evaluation.json or "
                      "batch.db");
}

Json report_of(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw ConfigError(path, 0, "does not exist");
    if (fs::is_directory(status)) return folder_report(path);
    if (!fs::is_regular_file(status)) throw ConfigError(path, 0, "is neither a folder nor a file");
    const fs::path file(path);
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    if (is_sqlite(file)) return batch_report(path);
    if (file.filename() == "summary.json") return run_report(folder.string());
    if (file.filename() == "compare.json") return comparison_report(folder.string());
    if (file.filename() == "evaluation.json") return evaluation_report(folder.string());
    throw ConfigError(path, 0,
                      "is no result: it must be a folder, a batch's .db, or a summary.json, "
                      "compare.json or evaluation.json");
}

/// For a script element: nothing in it can end that.
std::string for_script(const Json& json) {
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string safe;
    safe.reserve(text.size());
    for (const char c : text) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe += c;
        }
    }
    return safe;
}

/// index.html with what stands for its parts replaced: <!--style-->, <!--charts-->, <!--data-->, <!--scripts-->, <!--licence-->.
std::string fill(const std::string& data) {
    std::string html;
    std::string_view rest = asset("index.html");
    while (!rest.empty()) {
        const std::size_t begin = rest.find("<!--");
        const std::size_t end = begin == std::string_view::npos ? begin : rest.find("-->", begin);
        if (end == std::string_view::npos) break;
        html += rest.substr(0, begin);
        const std::string_view part = rest.substr(begin + 4, end - begin - 4);
        if (part == "data") {
            html += data;
        } else {
            html += asset(part);
        }
        rest.remove_prefix(end + 3);
    }
    html += rest;
    return html;
}

}  // namespace

bool has_charts() { return !asset("echarts.min.js").empty(); }

Page make_page(const std::vector<std::string>& paths, const std::string& version) {
    if (!has_charts()) {
        throw ConfigError(
            "this program was built without the library that draws charts: ./quickstart "
            "--build-only "
            "fetches it and builds again (docs/report.md)");
    }
    Page page;
    Json documents = Json::array();
    for (const std::string& path : paths) {
        Json document = report_of(path);
        PageSource source{path, document.at("name").get<std::string>(), {}};
        for (const auto& [name, answer] : document.at("answers").items()) {
            source.answers.push_back(answer.get<std::string>());
        }
        page.sources.push_back(std::move(source));
        documents.push_back(std::move(document));
    }
    page.html = fill(for_script({{"version", version}, {"documents", std::move(documents)}}));
    return page;
}

}  // namespace sluice::report
