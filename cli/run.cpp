// SPDX-License-Identifier: Apache-2.0
/// `sluice run`: a scenario through the engine of its mode into its output folder.
#include <memory>

#include <fmt/core.h>

#include "cli/build_experiment.h"
#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/hpcc_import.h"
#include "cli/hpcc_outputs.h"
#include "cli/interrupt.h"
#include "cli/mode_run.h"
#include "cli/progress.h"
#include "cli/run_experiment.h"
#include "core/error.h"
#include "core/routing/paths.h"

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
        fmt::print("{}", report.text());
        return report.count(ImportNote::Kind::misfit) > 0 ? kExitBadInput : kExitDone;
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
    request.files = {output.trace, output.fct};
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

}  // namespace sluice
