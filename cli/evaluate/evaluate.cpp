// SPDX-License-Identifier: Apache-2.0
/// `sluice evaluate`: trials of a random scenario until its figures are known well enough, and which settings are better.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/core.h>
#include "cli/batch_devices.h"
#include "cli/commands.h"
#include "cli/evaluate/evaluation_run.h"
#include "cli/evaluate/evaluation_samples.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "eval/evaluation/plan.h"

namespace sluice {

namespace {

struct EvaluateOptions {
    std::string file;
    SampleOptions samples;
    EvaluationOptions run;
    DeviceOptions devices;
    std::vector<std::string> sets;
    std::optional<double> accuracy;
    std::optional<double> confidence;
    std::optional<std::size_t> minimum_trials;
    std::optional<std::size_t> maximum_trials;
    std::string rule;
    unsigned threads = 0;
    std::optional<std::size_t> trial;
};

/// What the command line says of the aim, over what the file says.
void apply(const EvaluateOptions& options, eval::Aim& aim) {
    if (options.accuracy) aim.accuracy = options.accuracy;
    if (options.confidence) aim.confidence = *options.confidence;
    if (options.minimum_trials) aim.minimum_trials = options.minimum_trials;
    if (options.maximum_trials) aim.maximum_trials = *options.maximum_trials;
    if (!options.rule.empty()) {
        aim.rule = options.rule == "paper" ? eval::RuleKind::paper : eval::RuleKind::corrected;
    }
    if (aim.minimum_trials && *aim.minimum_trials > aim.maximum_trials) {
        throw ConfigError("--min-trials is above --max-trials");
    }
}

/// The commands that run one trial of every candidate by itself.
int tell_trial(const EvaluateOptions& options, const eval::EvaluationPlan& plan) {
    eval::EvaluationPlan local = plan;
    local.command.scratch =
        (options.run.out.empty() ? "runs/" + plan.name : options.run.out) + "/trials";
    const std::unique_ptr<eval::Executor> executor = make_executor(local, {});
    for (std::size_t c = 0; c < plan.labels.size(); ++c) {
        const eval::TrialRequest request{c, *options.trial,
                                         eval::trial_seed(plan.seed, *options.trial)};
        print("{}\n", executor->by_itself(request));
    }
    return kExitDone;
}

int evaluate_command(const EvaluateOptions& options) {
    if (options.file.empty() == options.samples.files.empty()) {
        throw ConfigError(
            "evaluate: needs an EVALUATION.toml, or --samples FILE.csv, and not both");
    }
    if (!options.samples.files.empty()) {
        const bool runs = options.trial || options.run.resume || !options.sets.empty() ||
                          options.devices.device != "cpu" || options.threads > 0;
        if (runs) {
            throw ConfigError(
                "--samples only reads: --trial, --resume, --set, --threads and --device are of "
                "trials that are run");
        }
        eval::Aim aim;
        apply(options, aim);
        return evaluate_samples(options.samples, aim, options.run);
    }
    eval::EvaluationPlan plan = eval::load_evaluation(options.file, options.sets);
    apply(options, plan.aim);
    if (options.trial && plan.importance) {
        throw ConfigError("--trial: a trial of [importance] is no run of the scenario by itself");
    }
    if (!plan.scenarios && options.devices.device != "cpu") {
        throw ConfigError("--device: a command runs where it likes");
    }
    if (options.trial) return tell_trial(options, plan);
    EvaluationOptions run = options.run;
    run.threads = lanes_at_once(options.devices, options.threads);
    if (run.out.empty()) run.out = "runs/" + plan.name;
    if (plan.importance) return run_tail_evaluation(plan, run);
    const std::unique_ptr<gpu::LaneDevices> devices = make_devices(options.devices, run.threads);
    run.fall_back = options.devices.device == "auto";
    return run_evaluation(plan, lane_maker(devices.get(), lane_memory(options.devices)), run);
}

void add_aim_options(CommandLine app, EvaluateOptions& options) {
    app.add_option("--accuracy", options.accuracy,
                   "Half of an interval by its estimate, e.g. 0.01 (default: the file's; 0.05)")
        .type_name("SHARE")
        .range(1e-6, 1.0);
    app.add_option("--confidence", options.confidence,
                   "Of all intervals (default: the file's; 0.95)")
        .type_name("SHARE")
        .range(0.5, 0.9999);
    app.add_option("--rule", options.rule,
                   "When to stop: corrected keeps its promise, paper is CCEval's")
        .type_name("RULE")
        .one_of({"corrected", "paper"});
    app.add_option("--min-trials", options.minimum_trials, "No answer before (default: the rule's)")
        .type_name("N")
        .range(3, 1'000'000'000);
    app.add_option("--max-trials", options.maximum_trials, "No trial after (default: 100000)")
        .type_name("N")
        .range(3, 1'000'000'000);
}

void add_sample_options(CommandLine app, SampleOptions& samples) {
    CommandOption files =
        app.add_option(
               "--samples", samples.files,
               "Trials that somebody else has run: a CSV table with a line a trial, or one\n"
               "with a column \"trial\"; or a file a trial (a table, or HPCC's fct.txt)")
            .type_name("FILE ...");
    app.add_option("--metric", samples.metric,
                   "With --samples: the column, or fct or slowdown (default: all columns)")
        .type_name("NAME")
        .needs(files);
    app.add_option("--statistic", samples.statistic,
                   "With --samples: of a trial's values, mean or p99, p99.9, ... (default: mean)")
        .type_name("WORD")
        .needs(files);
    app.add_flag("--pooled", samples.pooled,
                 "With --samples: the figure of all values of all trials, not the mean of trials' "
                 "figures")
        .needs(files);
    app.add_flag(
           "--compare", samples.compare,
           "With --samples and a column \"candidate\": trials of one number had the same draws")
        .needs(files);
}

}  // namespace

Command add_evaluate_command(CommandLine program) {
    const auto options = std::make_shared<EvaluateOptions>();
    CommandLine app = program.add_subcommand(
        "evaluate",
        "Run trials of a random scenario until its figures have the intervals that are asked for,\n"
        "or until it is known which settings are better (docs/evaluation.md)");
    app.add_option("file", options->file, "What is evaluated, and how well")
        .type_name("EVALUATION.toml");
    add_aim_options(app, *options);
    add_sample_options(app, options->samples);
    add_set_option(app, options->sets, "Override a key of every candidate's scenario");
    app.add_option("--out", options->run.out, "Output folder (default: runs/NAME)")
        .type_name("DIR");
    app.add_option(
           "--threads", options->threads,
           "Trials at a time, each on one thread, with the same results (default: all cores)")
        .type_name("N")
        .range(1, 4096);
    add_device_options(app, options->devices);
    CommandOption resume = app.add_flag("--resume", options->run.resume,
                                        "Go on from the trials that the folder holds");
    app.add_flag("--anew", options->run.anew, "Replace what the folder holds").excludes(resume);
    app.add_option(
           "--trial", options->trial,
           "Print the commands that run this trial of each candidate by themselves, and run none")
        .type_name("N")
        .range(0, 1'000'000'000);
    app.add_flag("--quiet", options->run.quiet, "Print nothing but errors");
    return {app, [options] { return evaluate_command(*options); }};
}

}  // namespace sluice
