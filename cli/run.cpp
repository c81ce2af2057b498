// SPDX-License-Identifier: Apache-2.0
/// `sluice run`: a scenario through the engine of its mode into its output folder.
#include <memory>

#include <fmt/core.h>

#include "cli/build_experiment.h"
#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/hpcc_outputs.h"
#include "cli/interrupt.h"
#include "cli/job_results.h"
#include "cli/mode_run.h"
#include "cli/progress.h"
#include "cli/run_report.h"
#include "cli/stall_guard.h"
#include "core/error.h"
#include "core/results/resources.h"
#include "core/results/run_writer.h"
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

/// Paths from a file, in place of ECMP's.
void take_paths(Experiment& experiment, const RunOptions& options) {
    std::size_t unlisted = 0;
    experiment.paths =
        paths_of(PathTable::read(options.paths, experiment.topology), experiment.flows, unlisted);
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
    const std::string mode = mode_name(scenario.mode);
    require_offered(scenario.mode, options.scenario + ": mode " + mode);
    if (options.no_skip && scenario.mode != Mode::hybrid) {
        throw ConfigError("--no-skip: mode " + mode + " never skips; only mode hybrid does");
    }
    return scenario;
}

/// How far the run came: where it came to its end, the last thing that flows or the job did, which
/// does not depend on how the engine cuts time.
Tick simulated_time(const BuiltExperiment& built, const ModeRun& run) {
    Tick last = 0;
    for (const BuiltJob& job : built.jobs) last = std::max(last, job.application->last_end());
    for (const FlowResult& result : run.results()) {
        if (result.finish == kNever) return run.now();
        last = std::max(last, result.finish);
    }
    return last;
}

/// From the first job's start to the last one's end; kNever if one is not complete, or there is none.
Tick completion_of(const std::vector<JobRecord>& jobs) {
    Tick first = kNever;
    Tick last = 0;
    for (const JobRecord& job : jobs) {
        if (job.jct == kNever) return kNever;
        first = std::min(first, job.start);
        last = std::max(last, job.start + job.jct);
    }
    return jobs.empty() ? kNever : last - first;
}

int run_scenario(const RunOptions& options) {
    Scenario scenario = load_for_run(options);
    const OutputConfig output = scenario.output;
    const std::vector<std::string> unused = keys_without_effect(scenario);
    BuiltExperiment built = build_experiment(scenario);
    if (!options.paths.empty()) take_paths(built.experiment, options);
    std::string directory = options.out.empty() ? output.directory : options.out;
    if (directory.empty()) directory = "runs/" + scenario.name;

    RunInfo info;
    info.mode = scenario.mode;
    info.scenario = scenario.name;
    info.version = program_version();
    info.seed = built.experiment.network.seed;
    info.config_json = scenario.effective->json();
    const Experiment& experiment = built.experiment;
    RunWriter writer(directory, info, experiment.topology, experiment.flows,
                     {output.trace, output.fct});

    const ResourceUsage unbuilt = resource_usage();
    const std::unique_ptr<ModeRun> run = make_run(experiment, scenario.mode);
    Progress progress(options.quiet);
    const InterruptGuard guard;
    StallGuard stall(experiment);
    bool interrupted = false;
    std::size_t finished = 0;
    RunHooks hooks;
    hooks.on_finish = [&](FlowId flow, const FlowResult& result) {
        ++finished;
        stall.finished(result.finish);
        writer.flow_finished(flow, result, built.estimate.ideal[flow], built.class_of(flow));
    };
    hooks.on_phase = [&](const PhaseRecord& phase) { writer.phase(phase); };
    hooks.on_progress = [&](Tick now) {
        writer.flush_if_due();
        progress.tick([&] {
            const RunCounters counters = run->counters();
            ProgressSample sample{now, finished, experiment.flows.size(), counters.packet_hops,
                                  built.estimate.packet_hops};
            sample.hops_saved = counters.phases.hops_saved;
            if (scenario.mode == Mode::hybrid) sample.steady_share = counters.phases.steady_share();
            return sample;
        });
        interrupted = InterruptGuard::requested();
        return !interrupted && !stall.stalled(now, run->results());
    };
    const ResourceUsage before = resource_usage();
    run->run(hooks);
    const ResourceUsage after = resource_usage();
    progress.clear();

    RunOutcome outcome;
    outcome.counters = run->counters();
    outcome.ports = run->port_statistics();
    outcome.simulated = simulated_time(built, *run);
    outcome.elaboration_s = run->elaboration_seconds();
    outcome.elaboration_user_s = before.user_s - unbuilt.user_s;
    outcome.wall_s = after.wall_s - before.wall_s;
    outcome.user_s = after.user_s - before.user_s;
    outcome.interrupted = interrupted;
    outcome.jobs = job_records(built);
    outcome.jct = completion_of(outcome.jobs);
    outcome.link_classes = explain_links(experiment.topology, outcome.ports, outcome.simulated);
    outcome.keys_without_effect = unused;
    outcome.warnings = explain_warnings(outcome.link_classes, outcome.jobs);
    for (const BuiltJob& job : built.jobs) write_job_results(job, writer);
    const Summary summary = writer.finish(outcome);
    if (!options.quiet) print_summary(built, scenario.mode, summary, outcome, directory);
    if (interrupted) {
        if (!options.quiet) {
            fmt::print(stderr, "sluice: interrupted; what finished is in {}\n", directory);
        }
        return kExitInterrupted;
    }
    // A run that was asked to stop early has work left by intent.
    if (run->cut_off()) {
        if (!options.quiet) fmt::print("  stopped at       the scenario's stop time\n");
        return kExitDone;
    }
    const std::vector<std::string> left = work_left(built, run->results());
    for (const std::string& line : left) fmt::print(stderr, "sluice: {}\n", line);
    return left.empty() ? kExitDone : kExitWorkLeft;
}

}  // namespace

int run_command(const RunOptions& options) {
    if (!options.hpcc.empty()) return run_hpcc_experiment(options);
    if (options.scenario.empty()) {
        throw ConfigError("run: needs a SCENARIO.toml, or --hpcc config.txt");
    }
    return run_scenario(options);
}

}  // namespace sluice
