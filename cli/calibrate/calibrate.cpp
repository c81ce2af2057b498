// SPDX-License-Identifier: Apache-2.0
/// `sluice calibrate`: a GPU type's file from what nccl-tests measured.
#include <cctype>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/results/output_names.h"
#include "scenario/workload/data_folders.h"
#include "workloads/model/data_file.h"
#include "workloads/model/gpu.h"
#include "workloads/model/nccl_table_file.h"
#include "workloads/nccl_fit/nccl_fit.h"
#include "workloads/nccl_fit/nccl_tests_file.h"

namespace sluice {

namespace {

struct CalibrateOptions {
    std::string file;
    std::string system;
    std::string op;
    std::string gpu;
    std::string link;
    std::string source;
    std::string output;
    bool quiet = false;
};

std::string lower_case(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// The GPU type that `system` begins with, as "h100_sxm" does with H100; the longest of several.
std::string gpu_of(const std::string& system) {
    const std::string text = lower_case(system);
    std::string best;
    for (const std::string& name : gpu_names(data_folders("gpus"))) {
        const bool whole = text.size() <= name.size() ||
                           std::isalnum(static_cast<unsigned char>(text[name.size()])) == 0;
        if (name.size() > best.size() && whole && text.rfind(lower_case(name), 0) == 0) best = name;
    }
    if (!best.empty()) return best;
    throw ConfigError("calibrate: no GPU type is called as the system " + shown_text(system) +
                      " begins; name the one whose other figures the file takes with --gpu");
}

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!(text << file.rdbuf())) throw ConfigError(path + ": cannot be read");
    return text.str();
}

/// Without the table `path`, all below it, and blank lines at the end.
std::string without_table(const std::string& text, const std::string& path) {
    std::istringstream lines(text);
    std::string kept;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind('[', 0) == 0) {
            const std::string name = line.substr(line.find_first_not_of('['));
            inside = name.rfind(path + "]", 0) == 0 || name.rfind(path + ".", 0) == 0;
        }
        if (!inside) kept += line + "\n";
    }
    while (kept.size() > 1 && kept[kept.size() - 2] == '\n') kept.pop_back();
    return kept;
}

std::string name_of(const Gpu& gpu, const std::string& link) {
    if (!link.empty()) {
        gpu.intra_node(link);  // must exist
        return link;
    }
    return gpu.usual_interconnect();
}

void print_errors(const std::vector<NcclSample>& samples, const NcclTable& table,
                  const NcclLink& link) {
    const auto fitted = errors_of(relative_errors(table, samples), samples);
    const auto held_out = errors_of(held_out_errors(samples, link), samples);
    print("{} rows, {} figures. |predicted / measured - 1|, of the fit and of sizes left out:\n\n",
          samples.size(), parameter_count(table));
    print("{:<10}{:>6}{:>10}{:>8}{:>12}{:>8}\n", "size", "rows", "median", "p95", "left out",
          "p95");
    for (std::size_t band = 0; band < kNcclBands; ++band) {
        if (fitted[band].rows == 0) continue;
        print("{:<10}{:>6}{:>9.1f}%{:>7.1f}%{:>11.1f}%{:>7.1f}%\n", kNcclBandNames[band],
              fitted[band].rows, 100 * fitted[band].median, 100 * fitted[band].p95,
              100 * held_out[band].median, 100 * held_out[band].p95);
    }
}

int calibrate(const CalibrateOptions& options) {
    require_different({{"FILE", options.file}, {"--output", options.output}});
    const NcclMeasurements measured = read_nccl_tests(options.file, options.system, options.op);
    const std::string name = options.gpu.empty() ? gpu_of(measured.system) : options.gpu;
    const std::string base = find_data_file("GPU type", name, data_folders("gpus"));
    const std::string text = text_of(base);
    const Gpu gpu = parse_gpu(text, base);
    const std::string link = name_of(gpu, options.link);
    const std::string path = "interconnect." + link + ".nccl";
    const NcclLink nccl_link = gpu.nccl_link(link);
    const NcclTable table = fit_nccl_table(measured.samples, nccl_link);
    std::string comment =
        fmt::format("{}\nFitted by sluice calibrate: {} figures to {} rows{}.",
                    "NCCL's choices of algorithm and protocol (docs/models/collectives.md).",
                    parameter_count(table), measured.samples.size(),
                    measured.system.empty() ? "" : " of " + shown_text(measured.system));
    if (!options.source.empty()) comment += "\nMeasured: " + options.source + ".";
    const std::string written =
        without_table(text, path) + "\n" + format_nccl_table(table, path, comment);
    parse_gpu(written, options.output);
    write_output(options.output, written);
    if (!options.quiet) print_errors(measured.samples, table, nccl_link);
    return kExitDone;
}

}  // namespace

Command add_calibrate_command(CommandLine program) {
    CommandLine app = program.add_subcommand(
        "calibrate", "Fit a GPU type's NCCL table to what nccl-tests measured in one server");
    const auto options = std::make_shared<CalibrateOptions>();
    app.add_option("file", options->file,
                   "What nccl-tests printed (one or more runs), or CSV with the columns op, gpus, "
                   "bytes and us_median")
        .type_name("FILE")
        .required();
    app.add_option("-o,--output", options->output, "The GPU type's file to write")
        .type_name("GPU.toml")
        .required();
    app.add_option("--gpu", options->gpu,
                   "GPU type or file from which all else is taken (default: as the system is "
                   "called)")
        .type_name("NAME");
    app.add_option("--link", options->link,
                   "The interconnect measured (default: nvlink, without one pcie)")
        .type_name("NAME");
    app.add_option("--system", options->system, "Only rows with this value in the column system")
        .type_name("NAME");
    app.add_option("--op", options->op,
                   "The operation of tables that do not name theirs, e.g. all_reduce")
        .type_name("NAME");
    app.add_option("--source", options->source, "A note for the file: where the rows are from")
        .type_name("TEXT");
    app.add_flag("--quiet", options->quiet, "Print nothing but errors");
    return {app, [options] { return calibrate(*options); }};
}

}  // namespace sluice
