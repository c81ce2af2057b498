// SPDX-License-Identifier: Apache-2.0
/// `sluice run`: a scenario through the packet engine into its output folder.
#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "cli/build_experiment.h"
#include "cli/commands.h"
#include "cli/hpcc_outputs.h"
#include "cli/interrupt.h"
#include "cli/job_results.h"
#include "cli/packet_run.h"
#include "cli/progress.h"
#include "cli/stall_guard.h"
#include "core/error.h"
#include "core/results/resources.h"
#include "core/results/run_writer.h"
#include "core/routing/paths.h"
#include "workloads/job_report.h"

namespace sluice {

namespace {

constexpr std::size_t kShownBlocked = 5;

void refuse_other_modes(const std::string& mode) {
    if (!mode.empty() && mode != "packet") {
        throw ConfigError("--mode " + mode + ": this build offers: packet");
    }
}

int run_hpcc_experiment(const RunOptions& options) {
    if (!options.scenario.empty() || !options.sets.empty()) {
        throw ConfigError("run: --hpcc takes neither a scenario nor --set; edit its config.txt");
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

/// What stopped a run that left work undone; empty if it did not.
std::vector<std::string> work_left(const BuiltExperiment& built, const PacketRun& run) {
    std::vector<std::string> lines;
    if (built.job != nullptr) {
        if (built.job->complete()) return lines;
        const std::size_t all = built.job->graph().op_count();
        lines.push_back(fmt::format("the job came to rest with {} of {} operations undone",
                                    all - built.job->completed_count(), all));
        for (const BlockedOperation& op : unfinished(*built.job, kShownBlocked)) {
            lines.push_back("  " + op.text);
        }
        return lines;
    }
    const std::vector<FlowResult>& results = run.results();
    const auto undone = std::count_if(results.begin(), results.end(),
                                      [](const FlowResult& r) { return r.finish == kNever; });
    if (undone == 0) return lines;
    lines.push_back(
        fmt::format("the network came to rest with {} of {} flows undone", undone, results.size()));
    for (std::size_t i = 0; i < results.size() && lines.size() <= kShownBlocked; ++i) {
        const FlowSpec& flow = built.experiment.flows[i];
        if (results[i].finish != kNever) continue;
        lines.push_back(fmt::format("  flow {} from host {} to host {}", i, flow.src, flow.dst));
    }
    return lines;
}

void print_summary(const BuiltExperiment& built, const Summary& summary, const RunOutcome& outcome,
                   const std::string& directory) {
    const RunCounters& counters = outcome.counters;
    fmt::print("{}: {}\n", built.experiment.name, built.workload);
    if (summary.jct != kNever) fmt::print("  completion time  {}\n", human_time(summary.jct));
    fmt::print("  flows            {} of {} completed, {}B of {}B\n", summary.flows_completed,
               summary.flows, human_count(static_cast<double>(summary.bytes_completed)),
               human_count(static_cast<double>(summary.bytes)));
    if (summary.flows_completed > 0) {
        fmt::print("  flow completion  mean {}  p50 {}  p99 {}  max {}\n",
                   human_seconds(summary.fct_mean_s), human_time(summary.fct_p50),
                   human_time(summary.fct_p99), human_time(summary.fct_max));
    }
    fmt::print("  network          {} drops, {} PFC pauses, {} ECN marks\n", counters.drops,
               counters.pfc_pauses, counters.ecn_marks);
    fmt::print("  simulated        {} in {} ({} packet-hops, {} per user-second), peak {}B\n",
               human_time(outcome.simulated), human_seconds(outcome.wall_s),
               human_count(static_cast<double>(counters.packet_hops)),
               human_count(summary.packet_hops_per_s),
               human_count(static_cast<double>(summary.peak_rss_bytes)));
    fmt::print("  written to       {}/\n", directory);
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

int run_scenario(const RunOptions& options) {
    std::vector<std::string> sets = options.sets;
    if (!options.mode.empty()) sets.push_back("mode=\"" + options.mode + "\"");
    Scenario scenario = load_scenario(options.scenario, sets);
    const OutputConfig output = scenario.output;
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

    PacketRun run(experiment);
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
    hooks.on_progress = [&](Tick now) {
        writer.flush_if_due();
        progress.tick([&] {
            return ProgressSample{now, finished, experiment.flows.size(),
                                  run.counters().packet_hops, built.estimate.packet_hops};
        });
        interrupted = InterruptGuard::requested();
        return !interrupted && !stall.stalled(now, run.results());
    };
    const ResourceUsage before = resource_usage();
    run.run(hooks);
    const ResourceUsage after = resource_usage();
    progress.clear();

    RunOutcome outcome;
    outcome.counters = run.counters();
    outcome.ports = run.port_statistics();
    outcome.simulated = run.now();
    outcome.elaboration_s = run.elaboration_seconds();
    outcome.wall_s = after.wall_s - before.wall_s;
    outcome.user_s = after.user_s - before.user_s;
    outcome.interrupted = interrupted;
    if (built.job != nullptr) {
        if (built.job->complete()) outcome.jct = built.job->last_end();
        write_job_results(*built.job, writer);
    }
    const Summary summary = writer.finish(outcome);
    if (!options.quiet) print_summary(built, summary, outcome, directory);
    if (interrupted) {
        if (!options.quiet) {
            fmt::print(stderr, "sluice: interrupted; what finished is in {}\n", directory);
        }
        return kExitInterrupted;
    }
    // A run that was asked to stop early has work left by intent.
    if (run.cut_off()) {
        if (!options.quiet) fmt::print("  stopped at       the scenario's stop time\n");
        return kExitDone;
    }
    const std::vector<std::string> left = work_left(built, run);
    for (const std::string& line : left) fmt::print(stderr, "sluice: {}\n", line);
    return left.empty() ? kExitDone : kExitWorkLeft;
}

}  // namespace

int run_command(const RunOptions& options) {
    refuse_other_modes(options.mode);
    if (!options.hpcc.empty()) return run_hpcc_experiment(options);
    if (options.scenario.empty()) {
        throw ConfigError("run: needs a SCENARIO.toml, or --hpcc config.txt");
    }
    return run_scenario(options);
}

}  // namespace sluice
