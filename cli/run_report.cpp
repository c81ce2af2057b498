// SPDX-License-Identifier: Apache-2.0
#include "cli/run_report.h"

#include <cmath>
#include <string>

#include <fmt/core.h>

#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "cli/print_check.h"
#include "cli/progress.h"
#include "core/results/summary.h"
#include "core/text/human.h"
#include "core/text/shell.h"
#include "experiment/contention.h"
#include "experiment/explain.h"
#include "report/report.h"

namespace sluice {

namespace {

void print_phases(const PhaseCounters& phases) {
    print("  phases           {:.1f}% of flow-time steady, {} skips ({} rolled back)\n",
          100 * phases.steady_share(), phases.skips, phases.skip_backs);
    if (phases.recalled_skips > 0) {
        print("  memoized         {} skips used rates from earlier runs (disable: --no-memo)\n",
              phases.recalled_skips);
    }
    const EpisodeCounters& episodes = phases.episodes;
    if (phases.skips + episodes.hits == 0) return;
    print("  skipped          {}B, {} packet-hops saved\n",
          human_count(static_cast<double>(phases.bytes_skipped)),
          human_count(static_cast<double>(phases.hops_saved)));
    print("  partitions       at most {}, the largest of {} flows\n", phases.most_partitions,
          phases.largest_partition);
    if (episodes.hits + episodes.learned > 0) {
        print("  episodes         {} predicted ({} in part), {} learned, {} interrupted\n",
              episodes.hits, episodes.resumed, episodes.learned, episodes.interrupted);
    }
}

void print_audit(const RunOutcome& outcome) {
    const AuditCounters& audit = outcome.counters.audit;
    if (audit.share == 0) return;
    if (audit.skips == 0 && audit.episodes == 0) {
        print("  audit            nothing was skipped, so there is nothing to audit\n");
        return;
    }
    std::string drawn = fmt::format("{} of {} skips", audit.audited, audit.skips);
    if (const std::uint64_t known = audit.episodes + audit.audited_episodes; known > 0) {
        drawn += fmt::format(", {} of {} episodes", audit.audited_episodes, known);
    }
    if (audit.inherited > 0) {
        drawn += fmt::format(" and {} of earlier runs", audit.inherited);
    }
    print("  audit            {}, {} packet-hops\n", drawn,
          human_count(static_cast<double>(audit.hops)));
    if (!audit.enough) {
        print(
            "  skipping error   unknown: the sample is too small (use --audit 30% or --mode "
            "packet)\n");
        return;
    }
    const auto interval = [](double error, double half) {
        const std::string text = fmt::format("{:+.3f}% +- {:.3f}%", 100 * error, 100 * half);
        return std::abs(error) > half ? text : "not distinguishable from 0 (" + text + ")";
    };
    double error = 0;
    double half = 0;
    const bool job = job_time_error(outcome, error, half);
    print("  skipping error   flow completion {}{} (95%)\n",
          interval(audit.fct_error, audit.fct_half),
          job ? ", completion time " + interval(error, half) : "");
    if (audit.distrusted != kNever) {
        print("  tolerance        the error exceeded {:g}%: nothing was skipped from {} on\n",
              100 * audit.tolerance, human_time(audit.distrusted));
    } else if (!audit.within_tolerance()) {
        print("  tolerance        the error may exceed {:g}% (--audit 30% narrows its interval)\n",
              100 * audit.tolerance);
    }
}

/// ", hosts 0-7 16-23": as many as fit a line.
std::string shown_hosts(const JobRecord& job) {
    constexpr std::size_t kShown = 60;
    if (job.hosts.empty()) return "";
    const std::size_t end =
        job.hosts.size() <= kShown ? job.hosts.size() : job.hosts.rfind(' ', kShown);
    return ", hosts " + job.hosts.substr(0, end) + (end < job.hosts.size() ? " ..." : "");
}

/// Where flows have met, times are one draw; what their distribution is another command says.
void print_chance(const BuiltExperiment& built, const RunOutcome& outcome) {
    const std::size_t ports = contended_ports(built.experiment, outcome.ports);
    if (ports == 0) return;
    print(
        "  variability      flows shared queues at {}: these times are one sample of a "
        "distribution; --replicas 8 shows its spread\n",
        counted(ports, "port", "ports"));
}

/// The summary on standard output. What the mode does not have is left out.
void print_summary(const BuiltExperiment& built, Mode mode, const Summary& summary,
                   const RunOutcome& outcome, const std::string& directory, bool tells_chance) {
    const RunCounters& counters = outcome.counters;
    print("{}: {}\n", built.experiment.name, built.workload);
    for (const std::string& note : built.notes) print("  {}\n", note);
    if (summary.jct != kNever) print("  completion time  {}\n", human_time(summary.jct));
    if (outcome.jobs.size() > 1) {
        for (const JobRecord& job : outcome.jobs) {
            print("    {:<14} {} from {}, {} ranks{}\n", job.name,
                  job.jct == kNever ? "not complete" : human_time(job.jct), human_time(job.start),
                  job.ranks, shown_hosts(job));
        }
    }
    if (outcome.jobs.size() == 1 && outcome.jobs[0].hosts.find(' ') != std::string::npos) {
        print("  placed           {} ranks{}\n", outcome.jobs[0].ranks,
              shown_hosts(outcome.jobs[0]));
    }
    print("  flows            {} of {} completed, {}B of {}B\n", summary.flows_completed,
          summary.flows, human_count(static_cast<double>(summary.bytes_completed)),
          human_count(static_cast<double>(summary.bytes)));
    if (summary.flows_completed > 0) {
        print("  flow completion  mean {}  p50 {}  p99 {}  max {}\n",
              human_seconds(summary.fct_mean_s), human_time(summary.fct_p50),
              human_time(summary.fct_p99), human_time(summary.fct_max));
    }
    std::string hops;
    if (moves_packets(mode)) {
        print("  network          {} drops, {} PFC pauses, {} ECN marks\n", counters.drops,
              counters.pfc_pauses, counters.ecn_marks);
        const std::string folded =
            counters.fold.hops == 0
                ? ""
                : fmt::format(", {} of them in symmetric copies",
                              human_count(static_cast<double>(counters.fold.hops)));
        // A processor's time is counted in steps: short runs may have taken none.
        const std::string speed =
            summary.packet_hops_per_s > 0
                ? fmt::format(", {} per user-second", human_count(summary.packet_hops_per_s))
                : "";
        hops = fmt::format(" ({} packet-hops{}{})",
                           human_count(static_cast<double>(counters.packet_hops)), folded, speed);
    }
    if (has_phases(mode)) print_phases(counters.phases);
    print_audit(outcome);
    for (const std::string& line : explanation(outcome)) print("  {}\n", line);
    if (tells_chance) print_chance(built, outcome);
    const std::string threads =
        counters.threads > 1 ? fmt::format(" on {} threads", counters.threads) : "";
    print("  simulated        {} in {}{}{}, peak {}B\n", human_time(outcome.simulated),
          human_seconds(outcome.wall_s), threads, hops,
          human_count(static_cast<double>(summary.peak_rss_bytes)));
    print("  written to       {}/{}\n", directory,
          report::has_charts() ? " (as a page: sluice report " + shell_word(directory) + ")" : "");
}

ProgressSample sample_of(const BuiltExperiment& built, Mode mode, const RunPosition& at) {
    const RunCounters counters = at.run.counters();
    ProgressSample sample{at.now, at.flows_finished, built.experiment.flows.size(),
                          counters.packet_hops, built.estimate.packet_hops};
    if (built.stream != nullptr) {
        sample.operations_done = built.stream->completed_count();
        sample.operations = built.stream->operation_count();
    }
    sample.hops_saved = counters.phases.hops_saved;
    if (has_phases(mode)) {
        sample.steady_share = counters.phases.steady_share();
        sample.hops_folded = counters.fold.hops;
        sample.folds = counters.fold.images;
        sample.episodes = counters.phases.episodes.hits;
        sample.partitions = counters.phases.most_partitions;
    }
    return sample;
}

}  // namespace

int run_and_tell(const BuiltExperiment& built, RunRequest request, bool quiet, bool tells_chance) {
    Progress progress(quiet);
    const InterruptGuard guard;
    request.go_on = [&](const RunPosition& at) {
        progress.tick([&] { return sample_of(built, request.mode, at); });
        return !InterruptGuard::requested();
    };
    const RunReport report = run_to_folder(built, request);
    progress.clear();
    if (!quiet)
        print_summary(built, request.mode, report.summary, report.outcome, request.directory,
                      tells_chance);
    if (report.outcome.interrupted && !quiet) {
        print_error("sluice: interrupted; results so far are in {}\n", request.directory);
    } else if (report.cut_off && !quiet) {
        print("  stopped at       the scenario's stop time\n");
    }
    tell(report.work_left);
    return report.exit_code();
}

}  // namespace sluice
