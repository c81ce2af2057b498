// SPDX-License-Identifier: Apache-2.0
/// `sluice run`: a scenario through the engine of its mode into its output folder.
#include <memory>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/print_check.h"
#include "core/error.h"
#include "core/routing/paths.h"
#include "experiment/build_experiment.h"
#include "experiment/hpcc/hpcc_import.h"
#include "experiment/hpcc/hpcc_outputs.h"
#include "experiment/interrupt.h"
#include "experiment/modes/mode_run.h"
#include "experiment/progress.h"
#include "experiment/run_experiment.h"
#include "experiment/version.h"
#include "scenario/unused_keys.h"

namespace sluice {

namespace {

int run_hpcc_experiment(const RunOptions& options) {
    if (!options.scenario.empty() || !options.sets.empty()) {
        throw ConfigError("run: --hpcc takes neither a scenario nor --set; edit its config.txt");
    }
    if (options.no_skip || (!options.mode.empty() && options.mode != "packet")) {
        throw ConfigError("run: --hpcc runs in packet mode, where ns-3's order of events holds");
    }
    if (options.check) {
        const ImportReport report = check_hpcc(options.hpcc, options.paths);
        return print_check(report);
    }
    Progress progress(options.quiet);
    const InterruptGuard guard;
    HpccOptions hpcc;
    hpcc.config = options.hpcc;
    hpcc.paths = options.paths;
    hpcc.out = options.out.empty() ? "runs/hpcc" : options.out;
    hpcc.version = program_version();
    hpcc.quiet = options.quiet;
    hpcc.on_progress = [&](Tick now, std::size_t finished, std::size_t flows) {
        progress.tick([&] { return ProgressSample{now, finished, flows, 0, 0}; });
        if (InterruptGuard::requested()) progress.clear();
        return !InterruptGuard::requested();
    };
    return run_hpcc(hpcc);
}

/// Paths from a file, in place of ECMP's; what is expected of each flow is by its path.
void take_paths(BuiltExperiment& built, const RunOptions& options) {
    Experiment& experiment = built.experiment;
    std::size_t unlisted = 0;
    experiment.paths =
        paths_of(PathTable::read(options.paths, experiment.topology), experiment.flows, unlisted);
    built.estimate = estimate_traffic(experiment);
    if (unlisted > 0 && !options.quiet) {
        fmt::print(stderr, "sluice: {}: {} of {} flows are not listed and go by ECMP\n",
                   options.paths, unlisted, experiment.flows.size());
    }
}

/// The scenario, with the options that stand for keys of it applied.
Scenario load_for_run(const RunOptions& options) {
    std::vector<std::string> sets = options.sets;
    if (!options.mode.empty()) {
        require_offered(parse_mode(options.mode, "--mode"), "--mode " + options.mode);
        sets.push_back("mode=\"" + options.mode + "\"");
    }
    if (options.no_skip) sets.emplace_back("phases.skip=false");
    Scenario scenario = load_scenario(options.scenario, sets);
    scenario.allow_oom = options.allow_oom;
    const std::string mode = mode_name(scenario.mode);
    require_offered(scenario.mode, options.scenario + ": mode " + mode);
    if (options.no_skip && scenario.mode != Mode::hybrid) {
        throw ConfigError("--no-skip: mode " + mode + " never skips; only mode hybrid does");
    }
    return scenario;
}

int run_scenario(const RunOptions& options) {
    Scenario scenario = load_for_run(options);
    const OutputConfig output = scenario.output;
    const std::vector<std::string> unused = keys_without_effect(scenario);
    BuiltExperiment built = build_experiment(scenario);
    if (!options.paths.empty()) take_paths(built, options);
    std::string directory = options.out.empty() ? output.directory : options.out;
    if (directory.empty()) directory = "runs/" + scenario.name;

    RunRequest request;
    request.mode = scenario.mode;
    request.name = scenario.name;
    request.config_json = scenario.effective->json();
    request.directory = directory;
    request.files = {output.trace, output.fct, output.flows};
    request.quiet = options.quiet;
    request.keys_without_effect = unused;
    return run_experiment(built, request);
}

}  // namespace

int run_command(const RunOptions& options) {
    if (!options.hpcc.empty()) return run_hpcc_experiment(options);
    if (options.check) throw ConfigError("run: --check needs --hpcc config.txt");
    if (options.scenario.empty()) {
        throw ConfigError("run: needs a SCENARIO.toml, or --hpcc config.txt");
    }
    return run_scenario(options);
}

CLI::Option* add_set_option(CLI::App& command, std::vector<std::string>& sets,
                            const std::string& text) {
    return command.add_option("--set", sets, text)
        ->type_name("KEY=VALUE")
        ->type_size(1)
        ->allow_extra_args(false);
}

Command add_run_command(CLI::App& program) {
    const auto options = std::make_shared<RunOptions>();
    CLI::App* app = program.add_subcommand("run", "Run one experiment");
    app->add_option("scenario", options->scenario, "The scenario file")->type_name("SCENARIO.toml");
    app->add_option("--mode", options->mode, "packet, hybrid, flow (default: the scenario's)")
        ->type_name("MODE");
    add_set_option(*app, options->sets, kSetHelp);
    app->add_option("--out", options->out, "Output folder (default: runs/NAME)")->type_name("DIR");
    app->add_option("--threads", options->threads, "Threads; packet mode runs on one")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
    app->add_flag("--no-skip", options->no_skip,
                  "In mode hybrid: skip nothing, to see what skipping costs and gains");
    app->add_flag("--quiet", options->quiet, "Print nothing but errors");
    app->add_option("--hpcc", options->hpcc, "Run an HPCC ns-3 experiment instead")
        ->type_name("config.txt");
    app->add_flag(
        "--check", options->check,
        "With --hpcc: say what was read, what was skipped and what does not fit; run nothing");
    app->add_option("--paths", options->paths,
                    "Paths of flows (src,dst,sport,path), in place of ECMP")
        ->type_name("flow_paths.csv");
    app->add_flag("--allow-oom", options->allow_oom,
                  "Jobs that do not fit their GPUs' memory: warn instead of refusing");
    return {app, [options] { return run_command(*options); }};
}

}  // namespace sluice
