// SPDX-License-Identifier: Apache-2.0
/// The page as one file.
#include <doctest/doctest.h>

#include "report/report.h"
#include "report/run_report.h"
#include "tests/report/run_support.h"
#include "tests/support/error_of.h"

using namespace sluice;
using namespace sluice::test;
using report::Json;

namespace {

Json data_of(const std::string& html) {
    const std::string begin = "id=\"data\">";
    const std::size_t from = html.find(begin) + begin.size();
    return Json::parse(html.substr(from, html.find("</script>", from) - from));
}

}  // namespace

TEST_CASE("unit.report.the_page_holds_the_data_whole") {
    if (!report::has_charts()) {
        MESSAGE("skipped: built without ECharts, there is no page");
        return;
    }
    const TestFolder folder;
    const std::string run = small_run(folder);
    // A name that would end the element that it is in.
    std::string summary = read_bytes(folder.file("small/summary.json"));
    summary.replace(summary.find("\"small\""), 7, "\"</script><b>\"");
    folder.write("small/summary.json", summary);
    const report::Page page = report::make_page({run}, "test");
    const Json data = data_of(page.html);
    CHECK(data["version"] == "test");
    CHECK(data["documents"][0] == report::run_report(run));
    CHECK(data["documents"][0]["name"] == "</script><b>");
    CHECK(page.html.find("</script><b>") == std::string::npos);
    CHECK(page.html.find("Apache ECharts") != std::string::npos);
    CHECK(page.html.find("Apache License") != std::string::npos);
    // Nothing is loaded from elsewhere.
    CHECK(page.html.find("src=\"http") == std::string::npos);
    CHECK(page.html.find("<link") == std::string::npos);
}

TEST_CASE("unit.report.what_is_no_result_is_refused") {
    if (!report::has_charts()) {
        MESSAGE("skipped: built without ECharts, there is no page");
        return;
    }
    const TestFolder folder;
    const auto message = [&](const std::string& path) {
        return error_of([&] { report::make_page({path}, "test"); });
    };
    CHECK(message(folder.file("none")) == folder.file("none") + ": does not exist");
    const std::string text = folder.write("a.txt", "text\n");
    CHECK(message(text) ==
          text +
              ": is no result: it must be a folder, a batch's .db, or a summary.json, "
              "compare.json or evaluation.json");
    std::filesystem::create_directories(folder.file("empty"));
    CHECK(message(folder.file("empty")) == folder.file("empty") +
                                               ": holds no results: no summary.json (a run), "
                                               "compare.json, evaluation.json or batch.db");
    folder.write("empty/flows.csv.partial", "");
    CHECK(message(folder.file("empty")) ==
          folder.file("empty") + ": holds a run that is under way, or was killed: no summary.json");
}
