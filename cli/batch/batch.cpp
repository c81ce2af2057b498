// SPDX-License-Identifier: Apache-2.0
/// `sluice batch`: many experiments in one process, a row each.
#include <cmath>
#include <filesystem>
#include <memory>

#include <fmt/core.h>
#include "cli/batch/slurm_script.h"
#include "cli/batch_devices.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "cli/progress.h"
#include "core/error.h"
#include "core/text/human.h"
#include "experiment/batch/batch_plan.h"
#include "experiment/batch/batch_run.h"
#include "experiment/modes/mode_run.h"

namespace sluice {

namespace {

struct BatchOptions {
    std::string file;
    std::string out;
    std::string mode;
    std::vector<std::string> sets;
    DeviceOptions devices;
    unsigned threads = 0;
    std::size_t checks = 0;
    std::string memo;
    std::string shard;
    unsigned slurm_shards = 0;
    bool merge = false;
    bool folders = false;
    bool resume = false;
    bool anew = false;
    bool plan = false;
    bool allow_oom = false;
    bool quiet = false;
};

constexpr BatchStatus kToldStatuses[] = {BatchStatus::done,    BatchStatus::cut_off,
                                         BatchStatus::left,    BatchStatus::oom,
                                         BatchStatus::refused, BatchStatus::failed};

/// "497 done, 2 oom, 1 failed".
std::string statuses(const BatchPosition& at) {
    std::string text;
    for (const BatchStatus status : kToldStatuses) {
        if (at.count(status) == 0) continue;
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : ", ", at.count(status), status_name(status));
    }
    return text.empty() ? "none finished" : text;
}

/// Of the experiments, or, where these are done, of the checks; those under way count by their share.
double share_of(const BatchPosition& at) {
    const std::size_t done = at.checks > 0 ? at.checked : at.finished - at.known;
    const std::size_t all = at.checks > 0 ? at.checks : at.experiments - at.known;
    double sum = static_cast<double>(done);
    for (const auto& [experiment, lane] : at.under_way) sum += lane.share;
    return std::min(1.0, sum / static_cast<double>(all));
}

/// "; 37 at 1.2 ms (45%), 38 at 300 us (12%) and 14 more": those that have been under way longest, mostly.
std::string lanes_text(const BatchPosition& at) {
    constexpr std::size_t kToldLanes = 3;
    std::string text;
    std::size_t told = 0;
    for (const auto& [experiment, lane] : at.under_way) {
        if (told++ == kToldLanes) break;
        text += fmt::format("{}{} at {}", text.empty() ? "; " : ", ", experiment,
                            human_time(lane.simulated));
        if (lane.share > 0) text += fmt::format(" ({:.0f}%)", 100 * lane.share);
    }
    if (at.under_way.size() > kToldLanes) {
        text += fmt::format(" and {} more", at.under_way.size() - kToldLanes);
    }
    return text;
}

std::string progress_text(const BatchPosition& at) {
    const std::string text =
        at.checks > 0
            ? fmt::format("{} of {} checks in mode packet", at.checked, at.checks)
            : fmt::format("{} of {} experiments, {}", at.finished, at.experiments, statuses(at));
    return text + lanes_text(at);
}

/// "experiment 17 (topology.k 8, seed 3)".
std::string named(const Batch& batch, std::size_t experiment) {
    const std::vector<std::string> values = batch.values(experiment);
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].empty()) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", batch.columns()[i], values[i]);
    }
    return fmt::format("experiment {}{}", experiment, text.empty() ? "" : " (" + text + ")");
}

/// In percent, with its sign.
std::string percent(double share) { return fmt::format("{:+.2f}%", 100 * share); }

void print_batch_check(const BatchCheck& check) {
    const bool shown = std::abs(check.mean_error) > check.half_width;
    print("  check        {} in mode packet: JCT {} +- {:.2f}% (95% of the mean){}, at most {}\n",
          counted(check.checked, "experiment", "experiments"), percent(check.mean_error),
          100 * check.half_width, shown ? "" : ", not distinguishable from 0",
          percent(check.largest_error));
    if (check.pairs == 0) return;
    print(
        "  ranking      Kendall's tau {:.3f} over {} pairs; {:.3f} over the {} that differ by more "
        "than their error bars (median {:.2f}%)\n",
        check.tau, check.pairs, check.tau_apart, check.pairs_apart, 100 * check.median_bar);
}

/// Which shards lack experiments, a line each.
std::string gaps_text(const std::vector<ShardGap>& gaps) {
    constexpr std::size_t kToldGaps = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(gaps.size(), kToldGaps); ++i) {
        const ShardGap& gap = gaps[i];
        text += fmt::format("  missing      {} of shard {}/{}, which {}\n",
                            counted(gap.missing, "experiment", "experiments"), gap.shard.number,
                            gap.shard.count, gap.begun ? "is not complete" : "has not run");
    }
    if (gaps.size() > kToldGaps) {
        text += fmt::format("  missing      those of {}\n",
                            counted(gaps.size() - kToldGaps, "more shard", "more shards"));
    }
    return text;
}

/// "  memo  ...": what experiments began with, what it brought, and what it got.
std::string memo_text(const BatchRun& run) {
    const BatchMemo& memo = *run.memo();
    std::string text = fmt::format("  memo         {} at the beginning",
                                   counted(memo.entries(), "entry", "entries"));
    if (run.position().recalled_skips > 0) {
        text +=
            fmt::format(", used for {}", counted(run.position().recalled_skips, "skip", "skips"));
    }
    if (!memo.added()) return text + "; what was learned is added by --merge\n";
    if (!memo.added()->fault.empty()) return text + "\n";
    return text + fmt::format("; {} and {} added to {}\n",
                              counted(memo.added()->entries, "entry", "entries"),
                              counted(memo.added()->samples, "sample", "samples"), memo.file());
}

void report(const Batch& batch, const BatchRun& run) {
    const double wall_s = run.wall_s();
    const BatchPosition& at = run.position();
    const std::size_t ran = at.finished - at.known;
    std::string text = fmt::format("{}: {} of {} experiments: {}\n", batch.name(), at.finished,
                                   at.experiments, statuses(at));
    if (run.aside().merged > 0) {
        text += fmt::format("  merged       {} of shards\n",
                            counted(run.aside().merged, "new result", "new results"));
    }
    if (run.aside().known > 0) {
        text += fmt::format("  known        {} from an earlier run\n", run.aside().known);
    }
    text += gaps_text(run.aside().gaps);
    if (run.aside().results > 0) {
        text += fmt::format("  kept         {}, not of this batch, in {}\n",
                            counted(run.aside().results, "result", "results"), kBatchDatabase);
    }
    if (at.declined > 0) {
        text += fmt::format("  on the host  {}, which the device does not support: {}\n",
                            at.declined, run.declined());
    }
    if (ran > 0) {
        text += fmt::format("  time         {} wall, {} of CPU time ({} per experiment)\n",
                            human_seconds(wall_s), human_seconds(at.cpu_s),
                            human_seconds(at.cpu_s / static_cast<double>(ran)));
        if (at.packet_hops > 0) {
            text += fmt::format("  packet-hops  {} ({}/s)\n",
                                human_count(static_cast<double>(at.packet_hops)),
                                human_count(static_cast<double>(at.packet_hops) / wall_s));
        }
    }
    if (run.memo() != nullptr) text += memo_text(run);
    bool first = true;
    for (const BatchRow& row : run.quickest()) {
        const BatchFigure jct = figure_of(row, "jct_s");
        text += fmt::format("  {:<12} {}  {}\n", first ? "least JCT" : "",
                            human_seconds(std::get<double>(jct)), named(batch, row.experiment));
        first = false;
    }
    if (const BatchRow* row = run.not_done()) {
        text += fmt::format("  not done     {}: {}\n", named(batch, row->experiment), row->reason);
    }
    print_text(text);
    if (run.check() != nullptr) print_batch_check(*run.check());
    print("  written to   {}/{} and {}\n", run.directory(), kBatchTable, kBatchDatabase);
}

int exit_code(const BatchRun& run) {
    const BatchPosition& at = run.position();
    if (run.interrupted()) return kExitInterrupted;
    if (run.memo() != nullptr && run.memo()->added() && !run.memo()->added()->fault.empty()) {
        return kExitWorkLeft;
    }
    const std::size_t whole = at.count(BatchStatus::done) + at.count(BatchStatus::cut_off);
    return whole == at.experiments ? kExitDone : kExitWorkLeft;
}

Batch load(const BatchOptions& options) {
    Batch batch = load_batch(options.file);
    for (const std::string& set : options.sets) batch.override_all(set);
    if (!options.mode.empty()) {
        require_offered(parse_mode(options.mode, "--mode"), "--mode " + options.mode);
        batch.override_all("mode=\"" + options.mode + "\"");
    }
    return batch;
}

/// What the folder holds and this batch does not use.
void tell_aside(const BatchAside& aside) {
    if (aside.to_redo == 0) return;
    print_error(
        "sluice: {} known to other versions of the program only: run again; the earlier results "
        "stay in {}\n",
        counted(aside.to_redo, "experiment is", "experiments are"), kBatchDatabase);
}

/// What is to be known of the memo, or of one that was not named.
void tell_memo(const BatchRun& run, const std::string& directory) {
    std::error_code ignored;
    const BatchAside& aside = run.aside();
    if (run.memo() != nullptr && aside.other_memos > 0 && !aside.gaps.empty()) {
        print_error(
            "sluice: {} of experiments that began with another memo, or with none, do not count; "
            "allowed: the --memo that they had\n",
            counted(aside.other_memos, "result", "results"));
    }
    if (!aside.first_memo.empty()) {
        print_error("sluice: the batch began with the memo {}; {} gets what it has learned\n",
                    aside.first_memo, run.memo()->file());
    }
    if (run.memo() == nullptr) {
        const std::string kept = directory + "/" + kStartMemo;
        if (!std::filesystem::exists(kept, ignored)) return;
        print_error(
            "sluice: {} is of experiments that began with a memo; without --memo these are not "
            "of this batch\n",
            kept);
    } else if (run.memo()->damaged() > 0) {
        print_error("sluice: {}: {} damaged and ignored\n", run.memo()->file(),
                    counted(run.memo()->damaged(), "entry is", "entries are"));
    }
}

void tell_fault(const MemoAdded& added) {
    if (added.fault.empty()) return;
    print_error("sluice: {}; what was learned stays in {}, and --resume adds it\n", added.fault,
                kBatchDatabase);
}

/// The command line of a shard, for the script that gives its number. No shard is without an experiment.
std::string slurm_script_of(const BatchOptions& options, const std::string& directory,
                            const Batch& batch) {
    const auto shards =
        static_cast<unsigned>(std::min<std::size_t>(options.slurm_shards, batch.size()));
    if (shards < options.slurm_shards && !options.quiet) {
        print_error("sluice: {} make {}, not {}\n",
                    counted(batch.size(), "experiment", "experiments"),
                    counted(shards, "shard", "shards"), options.slurm_shards);
    }
    SlurmJob job{batch.name(), shards, std::max(1U, options.threads), directory, {}};
    job.words = {"batch", std::filesystem::absolute(options.file).string()};
    if (!options.mode.empty()) job.words.insert(job.words.end(), {"--mode", options.mode});
    for (const std::string& set : options.sets) job.words.insert(job.words.end(), {"--set", set});
    if (!options.memo.empty()) {
        job.words.insert(job.words.end(),
                         {"--memo", std::filesystem::absolute(options.memo).string()});
    }
    if (options.folders) job.words.emplace_back("--folders");
    if (options.allow_oom) job.words.emplace_back("--allow-oom");
    return slurm_script(job);
}

int batch_command(const BatchOptions& options) {
    const Batch batch = load(options);
    const std::string directory = options.out.empty() ? "runs/" + batch.name() : options.out;
    if (options.slurm_shards > 0) {
        print_text(slurm_script_of(options, directory, batch));
        return kExitDone;
    }
    const unsigned threads = lanes_at_once(options.devices, options.threads);
    if (options.plan) {
        print("{}", batch_plan(batch, threads, options.allow_oom));
        print("{}", plan_devices(options.devices, batch, threads, options.allow_oom));
        return kExitDone;
    }
    BatchSettings settings;
    settings.directory = directory;
    if (!options.shard.empty()) settings.shard = parse_shard(options.shard, "--shard");
    settings.merge = options.merge;
    settings.threads = threads;
    settings.folders = options.folders;
    settings.resume = options.resume;
    settings.anew = options.anew;
    settings.allow_oom = options.allow_oom;
    settings.memo = options.memo;
    settings.checks = options.checks;
    const std::unique_ptr<gpu::LaneDevices> devices = make_devices(options.devices, threads);
    settings.maker = lane_maker(devices.get(), lane_memory(options.devices));
    if (devices != nullptr) {
        settings.fall_back = options.devices.device == "auto";
        settings.host_lanes = lanes_at_once({}, options.threads);
    }
    BatchRun run(batch, settings);
    if (!options.quiet) {
        tell_aside(run.aside());
        tell_memo(run, directory);
    }
    Progress progress(options.quiet);
    const InterruptGuard guard;
    run.run([] { return !InterruptGuard::requested(); },
            [&](const BatchPosition& at) {
                progress.tick(share_of(at), [&](double) { return progress_text(at); });
            });
    progress.clear();
    if (!options.quiet) report(batch, run);
    if (run.memo() != nullptr && run.memo()->added()) tell_fault(*run.memo()->added());
    if (run.interrupted() && !options.quiet) {
        print_error("sluice: interrupted; use --resume to continue\n");
    }
    return exit_code(run);
}

}  // namespace

namespace {

/// Parts of a batch for several machines. `others`: what goes with no merge.
void add_shard_options(CommandLine app, BatchOptions& options,
                       const std::vector<CommandOption>& others) {
    CommandOption shard =
        app.add_option(
               "--shard", options.shard,
               "Run part I of N, into DIR/shards/I-of-N, for several machines to share a batch")
            .type_name("I/N");
    CommandOption merge = app.add_flag("--merge", options.merge,
                                       "Merge the shards in DIR/shards into one batch.csv and "
                                       "batch.db, each result once; run none");
    merge.excludes(shard);
    for (const CommandOption& other : others) merge.excludes(other);
    app.add_option(
           "--emit-slurm", options.slurm_shards,
           "Print an array script for Slurm that runs the batch in N shards, with --threads each")
        .type_name("N")
        .range(1, 1'000'000)
        .excludes(shard)
        .excludes(merge);
}

}  // namespace

Command add_batch_command(CommandLine program) {
    const auto options = std::make_shared<BatchOptions>();
    CommandLine app = program.add_subcommand(
        "batch",
        "Run many experiments in one process, with a row of results for each (docs/batch.md)");
    app.add_option("file", options->file, "The batch: what the experiments share and what varies")
        .type_name("BATCH.toml")
        .required();
    add_mode_option(app, options->mode, "Mode of all experiments (default: the scenario's)");
    add_set_option(app, options->sets, "Override a key of every experiment's scenario");
    app.add_option("--out", options->out, "Output folder (default: runs/NAME)").type_name("DIR");
    app.add_option("--threads", options->threads,
                   "Experiments that run at the same time, one thread each (default: all cores)")
        .type_name("N")
        .range(1, 4096);
    add_device_options(app, options->devices);
    CommandOption check =
        app.add_option("--check", options->checks,
                       "Run N random experiments in mode packet as well, and report the errors of\n"
                       "their completion times and whether their ranking holds")
            .type_name("N");
    app.add_flag(
        "--plan", options->plan,
        "Print the number of experiments, their memory and their expected run time; run none");
    CommandOption resume =
        app.add_flag("--resume", options->resume,
                     "Continue a batch: keep the results in the output folder and run the rest");
    CommandOption anew = app.add_flag("--anew", options->anew,
                                      "Start again: replace the results in the output folder");
    anew.excludes(resume);
    app.add_option("--memo", options->memo,
                   "In modes hybrid and wormhole: the memo, a file with results of earlier runs.\n"
                   "All experiments begin with what it holds when the batch begins, and what they\n"
                   "learn is added to it when the batch ends or is merged")
        .type_name("FILE");
    add_shard_options(app, *options, {resume, anew, check});
    app.add_flag(
        "--folders", options->folders,
        "Write all result files of each experiment to DIR/runs/NUMBER, as sluice run does");
    app.add_flag("--allow-oom", options->allow_oom,
                 "Run jobs even if they do not fit their GPUs' memory");
    app.add_flag("--quiet", options->quiet, "Print nothing but errors");
    return {app, [options] { return batch_command(*options); }};
}

}  // namespace sluice
