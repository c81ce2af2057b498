// SPDX-License-Identifier: Apache-2.0
/// `sluice compare`: one scenario in several modes, each run in a process of its own, the first
/// mode as the reference of the others; or with several values of its keys (compare_variants.h).
#include <algorithm>
#include <memory>
#include <tuple>

#include <fmt/core.h>
#include "cli/child_run.h"
#include "cli/commands.h"
#include "cli/compare/compare_options.h"
#include "cli/compare/compare_perturbed.h"
#include "cli/compare/compare_trials.h"
#include "cli/compare/compare_variants.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "experiment/comparison/comparison_report.h"
#include "experiment/version.h"

namespace sluice {

namespace {

/// Everything that is known of one mode so far.
struct RepeatedRuns {
    ComparedMode mode;
    std::string folder;
    std::vector<RunCosts> costs;  ///< by run
    RunFigures figures;           ///< of the first run
};

bool are_same(const std::vector<FinishedFlow>& a, const std::vector<FinishedFlow>& b) {
    const auto columns = [](const FinishedFlow& flow) {
        return std::tie(flow.flow, flow.flow_class, flow.size, flow.fct, flow.key.src, flow.key.dst,
                        flow.ideal);
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const FinishedFlow& one, const FinishedFlow& other) {
                          return columns(one) == columns(other);
                      });
}

void take(RepeatedRuns& runs) {
    RunFigures figures = read_run(runs.folder);
    runs.costs.push_back(figures.costs);
    if (runs.costs.size() == 1) {
        runs.figures = std::move(figures);
    } else if (!are_same(figures.flows, runs.figures.flows)) {
        throw InternalError(fmt::format("two runs of {} in mode {} give different flows.csv",
                                        runs.folder, runs.mode.label()));
    }
}

/// The modes that have run at least once; none if the reference has not.
std::vector<ComparisonRow> compare_rows(const std::vector<RepeatedRuns>& modes) {
    std::vector<ComparisonRow> rows;
    const RepeatedRuns& reference = modes.front();
    if (reference.costs.empty()) return rows;
    for (const RepeatedRuns& runs : modes) {
        if (runs.costs.empty()) continue;
        ComparisonRow row;
        row.mode = runs.mode.mode;
        row.restorer = runs.mode.restorer;
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
    if (options.fresh && options.perturb == 0 && options.trials.empty()) {
        throw ConfigError("compare: --fresh needs --perturb or --trials");
    }
    if (!options.trials.empty()) return compare_trials(options);
    if (!options.vary.empty()) return compare_variants(options);
    if (options.perturb > 0) return compare_perturbed(options);
    const std::vector<ComparedMode> modes = compared_modes(options);
    Comparison comparison;
    comparison.scenario = check_scenario(options, modes);
    comparison.version = program_version();
    const std::string directory =
        options.out.empty() ? "runs/" + comparison.scenario + "-compare" : options.out;
    const OutputFolder folder(directory);
    ComparisonFiles files(folder, options.json, true);
    std::vector<RepeatedRuns> runs;
    runs.reserve(modes.size());
    for (const ComparedMode& mode : modes) {
        runs.push_back({mode, folder.file(mode.label()), {}, {}});
    }

    const InterruptGuard guard;
    int exit_code = kExitDone;
    for (std::size_t n = 0; n < runs.size() * options.repeat && !comparison.interrupted; ++n) {
        RepeatedRuns& next = runs[n % runs.size()];
        if (!options.quiet) {
            print_error("run {} of {}: {}\n", n + 1, runs.size() * options.repeat,
                        next.mode.label());
        }
        const int code = InterruptGuard::requested()
                             ? kExitInterrupted
                             : run_this_program(run_arguments(options, next.mode, next.folder));
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
        files.write(comparison_json(comparison), comparison_csv(comparison));
        if (!options.quiet) {
            print("{}  written to {}/\n", comparison_table(comparison), directory);
        }
    }
    if (!comparison.interrupted) return exit_code;
    if (!options.quiet) {
        print_error("sluice: interrupted; results so far are in {}\n", directory);
    }
    return kExitInterrupted;
}

}  // namespace

namespace {

void add_trial_options(CommandLine app, CompareOptions& options,
                       const std::vector<CommandOption>& excluded) {
    CommandOption trials =
        app.add_option(
               "--trials", options.trials,
               "With --vary (or --modes): run N trials of each variant, with common random\n"
               "numbers; auto: until it is known which variant is better")
            .type_name("N|auto");
    for (CommandOption other : excluded) trials.excludes(other);
    app.add_option("--margin", options.margin,
                   "With --trials: relative difference below which variants count as equal, e.g.\n"
                   "0.01 (default: 0)")
        .type_name("SHARE")
        .range(0.0, 1.0)
        .needs(trials);
}

}  // namespace

Command add_compare_command(CommandLine program) {
    const auto options = std::make_shared<CompareOptions>();
    CommandLine app = program.add_subcommand("compare",
                                             "Run a scenario in several modes, or with several "
                                             "values of keys, and compare cost and results");
    app.add_option("scenario", options->scenario, "The scenario file")
        .type_name("SCENARIO.toml")
        .required();
    app.add_option("--modes", options->modes,
                   "Modes to compare; the first is the reference (default: all in this build).\n"
                   "Packet mode runs without symmetry reduction, as with run --no-fold")
        .type_name("packet,hybrid,flow");
    CommandOption vary =
        app.add_option(
               "--vary", options->vary,
               "Values of a key to compare, in one table; with several --vary (and --modes)\n"
               "every combination is run")
            .type_name("KEY=A,B,...")
            .one_value_each();
    app.add_option("--restorers", options->restorers,
                   "Run hybrid mode once with each of these values of phases.restore")
        .type_name("hold,empty,...")
        .excludes(vary);
    CommandOption repeat = app.add_option("--repeat", options->repeat,
                                          "Runs of each mode; figures are medians (default: 1)")
                               .type_name("N")
                               .range(1, 1000);
    CommandOption perturb =
        app.add_option("--perturb", options->perturb,
                       "Test the modes for equivalence, with N perturbed runs of each (at least 6)")
            .type_name("N")
            .range(2, 1000)
            .excludes(repeat)
            .excludes(vary);
    app.add_flag("--few", options->few, "With --perturb: allow fewer than 6 runs of each mode")
        .needs(perturb);
    add_trial_options(app, *options, {repeat, perturb});
    app.add_flag("--fresh", options->fresh,
                 "With --perturb or --trials: repeat runs that the output folder already has");
    app.add_flag("--check", options->check, "With --perturb: exit code 1 if a mode is biased")
        .needs(perturb);
    app.add_option("--json", options->json, "Also write the table to this file").type_name("FILE");
    app.add_option("--out", options->out, "Output folder (default: runs/NAME-compare)")
        .type_name("DIR");
    add_set_option(app, options->sets, kSetHelp);
    app.add_flag("--quiet", options->quiet, "Print nothing but errors");
    return {app, [options] { return compare_command(*options); }};
}

}  // namespace sluice
