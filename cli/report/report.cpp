// SPDX-License-Identifier: Apache-2.0
/// `sluice report`: results as a page to look at.
#include <memory>

#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "core/results/output_file.h"
#include "core/text/human.h"
#include "experiment/version.h"
#include "report/report.h"

namespace sluice {

namespace {

struct ReportOptions {
    std::vector<std::string> results;
    std::string out = "report.html";
    bool quiet = false;
};

int report_command(const ReportOptions& options) {
    check_output_name(options.out);
    const report::Page page = report::make_page(options.results, program_version());
    write_output(options.out, page.html);
    if (options.quiet) return kExitDone;
    for (const report::PageSource& source : page.sources) {
        print("{} ({})\n", source.name, source.path);
        for (const std::string& answer : source.answers) print("  {}\n", answer);
    }
    print("{}B written to {}: open it in a browser\n",
          human_count(static_cast<double>(page.html.size())), options.out);
    return kExitDone;
}

}  // namespace

Command add_report_command(CommandLine program) {
    const auto options = std::make_shared<ReportOptions>();
    CommandLine app = program.add_subcommand(
        "report", "Draw results of runs, comparisons, batches and evaluations as one HTML page");
    app.add_option("results", options->results,
                   "Folders of results, or a batch's .db; several are set side by side")
        .type_name("RESULT")
        .required();
    app.add_option("-o,--output", options->out, "The page").type_name("FILE.html").show_default();
    app.add_flag("--quiet", options->quiet, "Print nothing");
    return {app, [options] { return report_command(*options); }};
}

}  // namespace sluice
