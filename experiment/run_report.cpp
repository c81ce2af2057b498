// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_report.h"

#include <algorithm>

#include <fmt/core.h>

#include "experiment/explain.h"
#include "core/text/human.h"
#include "core/job/job_report.h"

namespace sluice {

namespace {

constexpr std::size_t kShownBlocked = 5;

void print_phases(const PhaseCounters& phases) {
    fmt::print("  phases           {:.1f}% of flow-time steady, {} skips ({} taken back)\n",
               100 * phases.steady_share(), phases.skips, phases.skip_backs);
    fmt::print("  skipped          {}B, {} packet-hops saved\n",
               human_count(static_cast<double>(phases.bytes_skipped)),
               human_count(static_cast<double>(phases.hops_saved)));
    fmt::print("  partitions       at most {}, the largest of {} flows; {} lease stops\n",
               phases.most_partitions, phases.largest_partition, phases.lease_stops);
}

}  // namespace

void print_summary(const BuiltExperiment& built, Mode mode, const Summary& summary,
                   const RunOutcome& outcome, const std::string& directory) {
    const RunCounters& counters = outcome.counters;
    fmt::print("{}: {}\n", built.experiment.name, built.workload);
    for (const std::string& note : built.notes) fmt::print("  {}\n", note);
    if (summary.jct != kNever) fmt::print("  completion time  {}\n", human_time(summary.jct));
    if (outcome.jobs.size() > 1) {
        for (const JobRecord& job : outcome.jobs) {
            fmt::print("    {:<14} {} from {}, {} ranks\n", job.name,
                       job.jct == kNever ? "not complete" : human_time(job.jct),
                       human_time(job.start), job.ranks);
        }
    }
    fmt::print("  flows            {} of {} completed, {}B of {}B\n", summary.flows_completed,
               summary.flows, human_count(static_cast<double>(summary.bytes_completed)),
               human_count(static_cast<double>(summary.bytes)));
    if (summary.flows_completed > 0) {
        fmt::print("  flow completion  mean {}  p50 {}  p99 {}  max {}\n",
                   human_seconds(summary.fct_mean_s), human_time(summary.fct_p50),
                   human_time(summary.fct_p99), human_time(summary.fct_max));
    }
    std::string hops;
    if (moves_packets(mode)) {
        fmt::print("  network          {} drops, {} PFC pauses, {} ECN marks\n", counters.drops,
                   counters.pfc_pauses, counters.ecn_marks);
        hops = fmt::format(" ({} packet-hops, {} per user-second)",
                           human_count(static_cast<double>(counters.packet_hops)),
                           human_count(summary.packet_hops_per_s));
    }
    if (mode == Mode::hybrid) print_phases(counters.phases);
    for (const std::string& line : explanation(outcome)) fmt::print("  {}\n", line);
    fmt::print("  simulated        {} in {}{}, peak {}B\n", human_time(outcome.simulated),
               human_seconds(outcome.wall_s), hops,
               human_count(static_cast<double>(summary.peak_rss_bytes)));
    fmt::print("  written to       {}/\n", directory);
}

std::vector<std::string> work_left(const BuiltExperiment& built,
                                   const std::vector<FlowResult>& results) {
    std::vector<std::string> lines;
    for (const BuiltJob& job : built.jobs) {
        const JobApplication& application = *job.application;
        if (application.complete()) continue;
        const std::size_t all = application.graph().op_count();
        lines.push_back(fmt::format("the job \"{}\" came to rest with {} of {} operations undone",
                                    job.name, all - application.completed_count(), all));
        for (const BlockedOperation& op : unfinished(application, kShownBlocked)) {
            lines.push_back("  " + op.text);
        }
    }
    if (built.stream != nullptr && !built.stream->complete()) {
        lines.push_back(fmt::format(
            "the job \"{}\" came to rest with {} operations done, of {} that are known",
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
        fmt::format("the network came to rest with {} of {} flows undone", undone, results.size()));
    for (std::size_t i = 0; i < results.size() && lines.size() <= kShownBlocked; ++i) {
        const FlowSpec& flow = built.experiment.flows[i];
        if (results[i].finish != kNever) continue;
        lines.push_back(fmt::format("  flow {} from host {} to host {}", i, flow.src, flow.dst));
    }
    return lines;
}

}  // namespace sluice
