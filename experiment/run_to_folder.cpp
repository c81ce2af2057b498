// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_to_folder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "core/job/job_report.h"
#include "core/text/human.h"
#include "experiment/exit_codes.h"
#include "experiment/explain.h"
#include "experiment/incidents.h"
#include "experiment/job_results.h"
#include "experiment/lossless.h"
#include "experiment/port_records.h"
#include "experiment/queue_facts.h"
#include "experiment/version.h"

namespace sluice {

namespace {

constexpr std::size_t kShownBlocked = 5;

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

/// What a run can leave behind: a job of any length would have a timeline of any length.
std::vector<std::string> outputs_of(const BuiltExperiment& built, const RunRequest& request) {
    std::vector<std::string> outputs = request.outputs;
    if (built.stream != nullptr) {
        outputs.erase(std::remove(outputs.begin(), outputs.end(), "trace"), outputs.end());
    }
    return outputs;
}

RunInfo info_of(const BuiltExperiment& built, const RunRequest& request) {
    RunInfo info;
    info.mode = request.mode;
    info.scenario = request.name;
    info.version = program_version();
    info.seed = request.seed.value_or(built.experiment.network.seed);
    info.config_json = request.config_json;
    const std::vector<std::string> outputs = outputs_of(built, request);
    if (std::count(outputs.begin(), outputs.end(), "record_queues") > 0) {
        info.queues = queue_facts(built.experiment);
    }
    if (std::count(outputs.begin(), outputs.end(), "trace") > 0)
        info.host_roles = host_roles(built);
    return info;
}

/// Samples of queues for the outputs that record them.
class QueueWatch {
  public:
    QueueWatch(RunWriter& writer, const BuiltExperiment& built, Tick step)
        : writer_(writer), built_(built), step_(step) {}

    void built(const ModeRun& run) { run_ = &run; }

    RunHooks hooks() {
        RunHooks hooks;
        hooks.sample_every = hooks.sample_from = step_;
        // A run that came to rest with work left would be looked at for ever.
        hooks.sample_to = step_ < kNever / kMostSteps ? step_ * kMostSteps : kNever - 1;
        hooks.on_sample = [this](Tick now, const std::vector<std::int64_t>& queue_bytes) {
            const std::vector<PortStatistics> ports = run_->port_statistics();
            sent_.clear();
            for (const PortStatistics& port : ports) sent_.push_back(port.tx_bytes);
            writer_.sample({now, queue_bytes, sent_});
        };
        hooks.on_finish = [this](const FlowRecord& flow) {
            finished_ += flow.id < built_.experiment.flows.size() ? 1 : 0;
        };
        // Samples alone would keep the run going.
        hooks.on_progress = [this](Tick) { return !done(); };
        return hooks;
    }

  private:
    static constexpr Tick kMostSteps = Tick{1} << 24;

    bool done() const {
        if (finished_ < built_.experiment.flows.size()) return false;
        if (built_.stream != nullptr && !built_.stream->complete()) return false;
        return std::all_of(built_.jobs.begin(), built_.jobs.end(),
                           [](const BuiltJob& job) { return job.application->complete(); });
    }

    RunWriter& writer_;
    const BuiltExperiment& built_;
    Tick step_;
    const ModeRun* run_ = nullptr;
    std::vector<std::int64_t> sent_;  ///< by port, scratch
    std::size_t finished_ = 0;        ///< of the list's flows
};

/// Flows that were under way when the run ended.
void tell_open_flows(RunWriter& writer, const BuiltExperiment& built, const ModeRun& run) {
    const std::vector<FlowResult>& results = run.results();
    for (std::size_t i = 0; i < built.experiment.flows.size() && i < results.size(); ++i) {
        if (results[i].start != kNever && results[i].finish == kNever) {
            writer.flow_open({i, built.experiment.flows[i], results[i]});
        }
    }
}

RunHooks hooks_of(RunWriter& writer, const BuiltExperiment& built, IdealTimes& ideals) {
    RunHooks hooks;
    hooks.on_finish = [&](const FlowRecord& flow) {
        const bool listed = flow.id < built.estimate.ideal.size();
        const Tick ideal = listed                 ? built.estimate.ideal[flow.id]
                           : writer.wants_flows() ? ideals.of(flow.spec)
                                                  : 0;
        writer.flow_finished(flow, ideal, built.class_of(flow.id));
    };
    hooks.on_phase = [&](const PhaseRecord& phase) { writer.phase(phase); };
    hooks.on_progress = [&](Tick) {
        writer.flush_if_due();
        return true;
    };
    return hooks;
}

/// Payload of the flows that have started.
std::int64_t started_payload(const BuiltExperiment& built, const ModeRun& run) {
    const std::vector<FlowResult>& results = run.results();
    std::int64_t bytes = built.stream != nullptr ? built.stream->message_bytes() : 0;
    for (std::size_t i = 0; i < built.experiment.flows.size() && i < results.size(); ++i) {
        if (results[i].start != kNever) bytes += built.experiment.flows[i].size;
    }
    return bytes;
}

/// What explains the outcome: jobs, links, warnings. Who writes nothing is not told of links.
void explain(RunOutcome& outcome, const BuiltExperiment& built, const ModeRun& run,
             const RunRequest& request) {
    if (built.stream != nullptr) {
        outcome.opened_flows = built.stream->message_count();
        outcome.opened_bytes = built.stream->message_bytes();
    }
    outcome.jobs = job_records(built);
    outcome.jct = completion_of(outcome.jobs);
    if (!request.only_summary) {
        outcome.link_classes =
            explain_links(built.experiment.topology, outcome.ports, outcome.simulated);
    }
    tell_incidents(built.experiment, outcome);
    outcome.keys_without_effect = request.keys_without_effect;
    if (!request.only_summary) {
        outcome.warnings = explain_warnings(outcome.link_classes, outcome.jobs);
    }
    outcome.warnings.insert(outcome.warnings.end(), built.warnings.begin(), built.warnings.end());
    if (built.stream != nullptr && built.stream->late_operations() > 0) {
        outcome.warnings.push_back(fmt::format(
            "{} operations could have started before they were read: raise stream_window",
            built.stream->late_operations()));
    }
    if (std::string lost = lossless_warning(built.experiment, outcome.counters); !lost.empty()) {
        outcome.warnings.push_back(std::move(lost));
    }
    tell_resent(built.experiment, started_payload(built, run), outcome);
}

}  // namespace

int RunReport::exit_code() const {
    if (outcome.interrupted) return kExitInterrupted;
    return work_left.empty() ? kExitDone : kExitWorkLeft;
}

std::vector<std::string> work_left(const BuiltExperiment& built,
                                   const std::vector<FlowResult>& results) {
    std::vector<std::string> lines;
    for (const BuiltJob& job : built.jobs) {
        const JobApplication& application = *job.application;
        if (application.complete()) continue;
        const std::size_t all = application.graph().op_count();
        lines.push_back(fmt::format("the job \"{}\" stopped with {} of {} operations unfinished",
                                    job.name, all - application.completed_count(), all));
        for (const BlockedOperation& op : unfinished(application, kShownBlocked)) {
            lines.push_back("  " + op.text);
        }
    }
    if (built.stream != nullptr && !built.stream->complete()) {
        lines.push_back(fmt::format(
            "the job \"{}\" stopped with {} operations done, of {} that are known",
            built.stream_name, built.stream->completed_count(), built.stream->operation_count()));
        for (const std::string& line : built.stream->unfinished(kShownBlocked)) {
            lines.push_back("  " + line);
        }
    }
    if (!lines.empty()) return lines;
    const auto undone = std::count_if(results.begin(), results.end(),
                                      [](const FlowResult& r) { return r.finish == kNever; });
    if (undone == 0) return lines;
    lines.push_back(
        fmt::format("the network stopped with {} of {} flows unfinished", undone, results.size()));
    for (std::size_t i = 0; i < results.size() && lines.size() <= kShownBlocked; ++i) {
        const FlowSpec& flow = built.experiment.flows[i];
        if (results[i].finish != kNever) continue;
        lines.push_back(fmt::format("  flow {} from host {} to host {}", i, flow.src, flow.dst));
    }
    return lines;
}

/// Why what is left will never end.
std::vector<std::string> stall_lines(const Topology& topology, const RunOutcome& outcome) {
    std::vector<std::string> lines;
    if (outcome.stalled) {
        lines.push_back(
            fmt::format("no unfinished flow progresses any more: the run was ended after {}",
                        human_time(outcome.simulated)));
    }
    if (outcome.paused_cycle.empty()) return lines;
    std::string text = "PFC deadlock: each port waits for the next, the last for the first:";
    for (const PortId port : outcome.paused_cycle) {
        text += fmt::format(" {} (node {} to {})", port, topology.node_of(port),
                            topology.node_of(topology.peer_of(port)));
    }
    lines.push_back(std::move(text));
    return lines;
}

RunReport run_to_folder(const BuiltExperiment& built, const RunRequest& request) {
    const Experiment& experiment = built.experiment;
    const RunInfo info = info_of(built, request);
    std::optional<RunWriter> of_run;
    if (request.only_summary) {
        of_run.emplace(info, experiment.flows);
    } else {
        of_run.emplace(request.directory, info, experiment.topology, experiment.flows,
                       outputs_of(built, request));
    }
    RunWriter& writer = *of_run;
    IdealTimes ideals(experiment);
    RunPlan plan;
    plan.mode = request.mode;
    plan.caller = request.caller;
    plan.maker = request.maker;
    plan.watchers.push_back(hooks_of(writer, built, ideals));
    plan.go_on = request.go_on;
    std::optional<QueueWatch> queues;
    if (writer.wants_samples()) {
        queues.emplace(writer, built,
                       info.queues != nullptr ? info.queues->step : request.series_step);
        plan.watchers.push_back(queues->hooks());
        plan.on_built = [&](const ModeRun& run) { queues->built(run); };
    }
    if (writer.wants_round_trips()) {
        *experiment.on_ack = [&](FlowId flow, std::uint32_t sequence, Tick rtt) {
            writer.round_trip({flow, sequence, rtt});
        };
    }
    std::optional<PortRecords> records;
    if (experiment.taps != nullptr) {
        records.emplace(writer, experiment.topology, request.watched);
        *experiment.taps = records->taps();
    }
    FinishedRun done = run_experiment(experiment, plan);

    RunReport report;
    report.outcome = std::move(done.outcome);
    report.outcome.simulated = simulated_time(built, *done.run);
    explain(report.outcome, built, *done.run, request);
    if (records) {
        for (std::string& line : records->finish(done.run->now())) {
            report.outcome.warnings.push_back(std::move(line));
        }
    }
    for (const BuiltJob& job : built.jobs) write_job_results(job, writer);
    if (queues) tell_open_flows(writer, built, *done.run);
    if (request.add_results) request.add_results(writer);
    report.summary = writer.finish(report.outcome);
    report.cut_off = done.run->cut_off();
    if (!report.outcome.interrupted && !report.cut_off) {
        report.work_left = work_left(built, done.run->results());
        const std::vector<std::string> why = stall_lines(experiment.topology, report.outcome);
        report.work_left.insert(report.work_left.begin(), why.begin(), why.end());
    }
    return report;
}

}  // namespace sluice
