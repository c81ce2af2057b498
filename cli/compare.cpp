// SPDX-License-Identifier: Apache-2.0
/// `sluice compare`: one scenario in several modes, each run in a process of its own, the first
/// mode as the reference of the others.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/child_run.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/results/output_folder.h"
#include "core/text/config_value.h"
#include "experiment/comparison/comparison_report.h"
#include "experiment/modes/mode_run.h"
#include "experiment/version.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

struct CompareOptions {
    std::string scenario;           ///< SCENARIO.toml
    std::string modes;              ///< "packet,hybrid,..."; empty: all that this build offers
    std::string out;                ///< empty: runs/NAME-compare
    std::string json;               ///< a second place for compare.json; may be empty
    std::vector<std::string> sets;  ///< "key=value"
    std::size_t repeat = 1;         ///< runs of each mode
    bool quiet = false;
};

std::vector<Mode> read_modes(const std::string& text) {
    if (text.empty()) return offered_modes();
    std::vector<Mode> modes;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const Mode mode = parse_mode(word, "--modes");
        require_offered(mode, "--modes " + word);
        if (std::find(modes.begin(), modes.end(), mode) != modes.end()) {
            throw ConfigError("--modes: names " + word + " twice");
        }
        modes.push_back(mode);
        begin = end + 1;
    }
    return modes;
}

/// The scenario's name, after checks in every mode: a slip must not come up after the first run.
std::string check_scenario(const CompareOptions& options, const std::vector<Mode>& modes) {
    ConfigValue values = load_config(options.scenario);
    for (const std::string& set : options.sets) override_config(values, set);
    std::string name;
    for (const Mode mode : modes) {
        set_config(values, "mode", text_value(mode_name(mode)), "--modes");
        name = make_scenario(values, options.scenario).name;
    }
    return name;
}

/// The files of a comparison: opened before anything runs, in place when it is over.
class ComparisonFiles {
  public:
    ComparisonFiles(const OutputFolder& folder, const std::string& json) : folder_(folder) {
        try {
            open(json);
        } catch (...) {
            close();
            throw;
        }
    }
    ~ComparisonFiles() { close(); }
    ComparisonFiles(const ComparisonFiles&) = delete;
    ComparisonFiles& operator=(const ComparisonFiles&) = delete;

    void write(const Comparison& comparison) {
        const std::string json = comparison_json(comparison);
        *csv_ << comparison_csv(comparison);
        *json_ << json;
        if (extra_json_) *extra_json_ << json;
        csv_->commit();
        if (extra_json_) extra_json_->commit();
        json_->commit();
    }

  private:
    void open(const std::string& json) {
        csv_ = std::make_unique<OutputFile>(folder_.file("compare.csv"));
        json_ = std::make_unique<OutputFile>(folder_.file("compare.json"));
        namespace fs = std::filesystem;
        const auto whole = [](const std::string& path) {
            return fs::absolute(path).lexically_normal();
        };
        if (!json.empty() && whole(json) != whole(folder_.file("compare.json"))) {
            extra_json_ = std::make_unique<OutputFile>(json);
        }
    }
    void close() {
        csv_.reset();
        json_.reset();
        extra_json_.reset();
        folder_.remove_if_empty();
    }

    const OutputFolder& folder_;
    std::unique_ptr<OutputFile> csv_;
    std::unique_ptr<OutputFile> json_;
    std::unique_ptr<OutputFile> extra_json_;  ///< --json
};

/// Everything that is known of one mode so far.
struct ModeRuns {
    Mode mode;
    std::string folder;
    std::vector<RunCosts> costs;  ///< by run
    RunFigures figures;           ///< of the first run
};

void take(ModeRuns& runs) {
    RunFigures figures = read_run(runs.folder);
    runs.costs.push_back(figures.costs);
    if (runs.costs.size() == 1) {
        runs.figures = std::move(figures);
    } else if (!(figures.flows == runs.figures.flows)) {
        throw InternalError(fmt::format("two runs of {} in mode {} give different flows.csv",
                                        runs.folder, mode_name(runs.mode)));
    }
}

std::vector<std::string> run_arguments(const CompareOptions& options, const ModeRuns& runs) {
    std::vector<std::string> arguments{"run", fmt::format("--mode={}", mode_name(runs.mode)),
                                       "--out=" + runs.folder};
    for (const std::string& set : options.sets) arguments.push_back("--set=" + set);
    if (options.quiet) arguments.emplace_back("--quiet");
    arguments.emplace_back("--");
    arguments.push_back(options.scenario);
    return arguments;
}

/// The modes that have run at least once; none if the reference has not.
std::vector<ComparisonRow> compare_rows(const std::vector<ModeRuns>& modes) {
    std::vector<ComparisonRow> rows;
    const ModeRuns& reference = modes.front();
    if (reference.costs.empty()) return rows;
    for (const ModeRuns& runs : modes) {
        if (runs.costs.empty()) continue;
        ComparisonRow row;
        row.mode = runs.mode;
        row.runs = runs.costs.size();
        row.costs = median_costs(runs.costs);
        if (row.costs.wall_s > 0) {
            row.speedup = median_costs(reference.costs).wall_s / row.costs.wall_s;
        }
        row.packet_hops = runs.figures.packet_hops;
        row.hops_saved = runs.figures.hops_saved;
        row.flows = runs.figures.flows.size();
        row.errors = run_errors(reference.figures, runs.figures);
        rows.push_back(std::move(row));
    }
    return rows;
}

int compare_command(const CompareOptions& options) {
    const std::vector<Mode> modes = read_modes(options.modes);
    Comparison comparison;
    comparison.scenario = check_scenario(options, modes);
    comparison.version = program_version();
    const std::string directory =
        options.out.empty() ? "runs/" + comparison.scenario + "-compare" : options.out;
    const OutputFolder folder(directory);
    ComparisonFiles files(folder, options.json);
    std::vector<ModeRuns> runs;
    runs.reserve(modes.size());
    for (const Mode mode : modes) runs.push_back({mode, folder.file(mode_name(mode)), {}, {}});

    const InterruptGuard guard;
    int exit_code = kExitDone;
    for (std::size_t n = 0; n < runs.size() * options.repeat && !comparison.interrupted; ++n) {
        ModeRuns& next = runs[n % runs.size()];
        if (!options.quiet) {
            fmt::print(stderr, "run {} of {}: {}\n", n + 1, runs.size() * options.repeat,
                       mode_name(next.mode));
        }
        const int code = InterruptGuard::requested()
                             ? kExitInterrupted
                             : run_this_program(run_arguments(options, next));
        if (code == kExitInterrupted) {
            comparison.interrupted = true;
        } else if (code == kExitDone || code == kExitWorkLeft) {
            exit_code = std::max(exit_code, code);
            take(next);
        } else {
            return code;  // the run has said why
        }
    }
    comparison.rows = compare_rows(runs);
    if (!comparison.rows.empty()) {
        files.write(comparison);
        if (!options.quiet) {
            fmt::print("{}  written to {}/\n", comparison_table(comparison), directory);
        }
    }
    if (!comparison.interrupted) return exit_code;
    if (!options.quiet) {
        fmt::print(stderr, "sluice: interrupted; what finished is in {}\n", directory);
    }
    return kExitInterrupted;
}

}  // namespace

Command add_compare_command(CLI::App& program) {
    const auto options = std::make_shared<CompareOptions>();
    CLI::App* app = program.add_subcommand(
        "compare", "Run a scenario in several modes and say what each costs and how far it is off");
    app->add_option("scenario", options->scenario, "The scenario file")
        ->type_name("SCENARIO.toml")
        ->required();
    app->add_option("--modes", options->modes,
                    "Modes; the first is the reference (default: all that this build offers)")
        ->type_name("packet,hybrid,flow");
    app->add_option("--repeat", options->repeat,
                    "Runs of each mode; figures are medians (default: 1)")
        ->type_name("N")
        ->check(CLI::Range(1, 1000));
    app->add_option("--json", options->json, "Write the table to this file, too")
        ->type_name("FILE");
    app->add_option("--out", options->out, "Output folder (default: runs/NAME-compare)")
        ->type_name("DIR");
    add_set_option(*app, options->sets, kSetHelp);
    app->add_flag("--quiet", options->quiet, "Print nothing but errors");
    return {app, [options] { return compare_command(*options); }};
}

}  // namespace sluice
