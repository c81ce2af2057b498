// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_experiment.h"

#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "experiment/exit_codes.h"
#include "experiment/version.h"
#include "experiment/explain.h"
#include "experiment/interrupt.h"
#include "experiment/job_results.h"
#include "experiment/lossless.h"
#include "experiment/modes/mode_run.h"
#include "experiment/progress.h"
#include "experiment/run_report.h"
#include "experiment/stall_guard.h"
#include "core/results/resources.h"

namespace sluice {

namespace {

/// How far the run came: where it came to its end, the last thing that flows or the job did, which
/// does not depend on how the engine cuts time.
Tick simulated_time(const BuiltExperiment& built, const ModeRun& run) {
    Tick last = 0;
    for (const BuiltJob& job : built.jobs) last = std::max(last, job.application->last_end());
    if (built.stream != nullptr) {
        last = built.stream->complete() ? built.stream->last_end() : run.now();
    }
    for (const FlowResult& result : run.results()) {
        if (result.finish == kNever) return std::max(last, run.now());
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

}  // namespace

int run_experiment(const BuiltExperiment& built, const RunRequest& request) {
    RunInfo info;
    info.mode = request.mode;
    info.scenario = request.name;
    info.version = program_version();
    info.seed = built.experiment.network.seed;
    info.config_json = request.config_json;
    const Experiment& experiment = built.experiment;
    RunFiles files = request.files;
    // A job of any length has a timeline of any length.
    files.trace = files.trace && built.stream == nullptr;
    RunWriter writer(request.directory, info, experiment.topology, experiment.flows, files);
    const IdealTimes ideals(experiment);

    const ResourceUsage unbuilt = resource_usage();
    const std::unique_ptr<ModeRun> run = make_run(experiment, request.mode);
    Progress progress(request.quiet);
    const InterruptGuard guard;
    StallGuard stall(experiment);
    bool interrupted = false;
    std::size_t finished = 0;
    RunHooks hooks;
    hooks.on_finish = [&](const FlowRecord& flow) {
        ++finished;
        stall.finished(flow.result.finish);
        const bool listed = flow.id < built.estimate.ideal.size();
        const bool wanted = files.flows || files.fct;
        const Tick ideal =
            listed ? built.estimate.ideal[flow.id] : (wanted ? ideals.of(flow.spec) : 0);
        writer.flow_finished(flow, ideal, built.class_of(flow.id));
    };
    hooks.on_phase = [&](const PhaseRecord& phase) { writer.phase(phase); };
    hooks.on_progress = [&](Tick now) {
        writer.flush_if_due();
        progress.tick([&] {
            const RunCounters counters = run->counters();
            ProgressSample sample{now, finished, experiment.flows.size(), counters.packet_hops,
                                  built.estimate.packet_hops};
            if (built.stream != nullptr) {
                sample.operations_done = built.stream->completed_count();
                sample.operations = built.stream->operation_count();
            }
            sample.hops_saved = counters.phases.hops_saved;
            if (request.mode == Mode::hybrid) sample.steady_share = counters.phases.steady_share();
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
    if (built.stream != nullptr) {
        outcome.opened_flows = built.stream->message_count();
        outcome.opened_bytes = built.stream->message_bytes();
    }
    const std::uint64_t late = built.stream != nullptr ? built.stream->late_operations() : 0;
    outcome.jct = completion_of(outcome.jobs);
    outcome.link_classes = explain_links(experiment.topology, outcome.ports, outcome.simulated);
    outcome.keys_without_effect = request.keys_without_effect;
    outcome.warnings = explain_warnings(outcome.link_classes, outcome.jobs);
    outcome.warnings.insert(outcome.warnings.end(), built.warnings.begin(), built.warnings.end());
    if (std::string lost = lossless_warning(built.experiment, outcome.counters); !lost.empty()) {
        outcome.warnings.push_back(std::move(lost));
    }
    if (late > 0) {
        outcome.warnings.push_back(fmt::format(
            "{} operations could have started before they were read: raise stream_window", late));
    }
    for (const BuiltJob& job : built.jobs) {
        write_job_results(job, files.trace, writer);
    }
    if (request.add_results) request.add_results(writer);
    const Summary summary = writer.finish(outcome);
    if (!request.quiet) print_summary(built, request.mode, summary, outcome, request.directory);
    if (interrupted) {
        if (!request.quiet) {
            fmt::print(stderr, "sluice: interrupted; what finished is in {}\n", request.directory);
        }
        return kExitInterrupted;
    }
    // A run that was asked to stop early has work left by intent.
    if (run->cut_off()) {
        if (!request.quiet) fmt::print("  stopped at       the scenario's stop time\n");
        return kExitDone;
    }
    const std::vector<std::string> left = work_left(built, run->results());
    for (const std::string& line : left) fmt::print(stderr, "sluice: {}\n", line);
    return left.empty() ? kExitDone : kExitWorkLeft;
}

}  // namespace sluice
