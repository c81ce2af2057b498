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
                "--samples only reads trials: --trial, --resume, --set, --threads and --device are "
                "not allowed");
        }
        eval::Aim aim;
        apply(options, aim);
        return evaluate_samples(options.samples, aim, options.run);
    }
    eval::EvaluationPlan plan = eval::load_evaluation(options.file, options.sets);
    apply(options, plan.aim);
    if (options.trial && plan.importance) {
        throw ConfigError(
            "--trial: not allowed with [importance], whose trials are not runs of the scenario");
    }
    if (!plan.scenarios && options.devices.device != "cpu") {
        throw ConfigError("--device: not allowed with a command, which chooses its device itself");
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
                   "Wanted half-width of intervals, relative to the estimate, e.g. 0.01 (default:\n"
                   "the file's, else 0.05)")
        .type_name("SHARE")
        .range(1e-6, 1.0);
    app.add_option("--confidence", options.confidence,
                   "Confidence level of all intervals (default: the file's, else 0.95)")
        .type_name("SHARE")
        .range(0.5, 0.9999);
    app.add_option("--rule", options.rule,
                   "Stopping rule: corrected (intervals have the stated confidence) or paper "
                   "(CCEval's rule)")
        .type_name("RULE")
        .one_of({"corrected", "paper"});
    app.add_option("--min-trials", options.minimum_trials,
                   "Smallest number of trials (default: the rule's)")
        .type_name("N")
        .range(3, 1'000'000'000);
    app.add_option("--max-trials", options.maximum_trials,
                   "Largest number of trials (default: 100000)")
        .type_name("N")
        .range(3, 1'000'000'000);
}

void add_sample_options(CommandLine app, SampleOptions& samples) {
    CommandOption files =
        app.add_option(
               "--samples", samples.files,
               "Trials that were run elsewhere: a CSV table with a row per trial, or with a\n"
               "column \"trial\"; or one file per trial (a table, or HPCC's fct.txt)")
            .type_name("FILE ...");
    app.add_option("--metric", samples.metric,
                   "With --samples: the column, or fct or slowdown (default: all columns)")
        .type_name("NAME")
        .needs(files);
    app.add_option("--statistic", samples.statistic,
                   "With --samples: statistic of a trial's values: mean (default), p99, p99.9, ...")
        .type_name("WORD")
        .needs(files);
    app.add_flag("--pooled", samples.pooled,
                 "With --samples: the statistic of the values of all trials together, not the\n"
                 "mean of the statistics of trials")
        .needs(files);
    app.add_flag("--compare", samples.compare,
                 "With --samples and a column \"candidate\": compare candidates by pairs of\n"
                 "trials of equal number, which had the same random draws")
        .needs(files);
}

}  // namespace

Command add_evaluate_command(CommandLine program) {
    const auto options = std::make_shared<EvaluateOptions>();
    CommandLine app = program.add_subcommand(
        "evaluate",
        "Run trials of a random scenario until its confidence intervals are narrow enough,\n"
        "or until it is known which settings are better (docs/evaluation.md)");
    app.add_option("file", options->file, "The evaluation: scenario, metrics and required accuracy")
        .type_name("EVALUATION.toml");
    add_aim_options(app, *options);
    add_sample_options(app, options->samples);
    add_set_option(app, options->sets, "Override a key of every candidate's scenario");
    app.add_option("--out", options->run.out, "Output folder (default: runs/NAME)")
        .type_name("DIR");
    app.add_option("--threads", options->threads,
                   "Trials that run at the same time, one thread each; does not change results\n"
                   "(default: all cores)")
        .type_name("N")
        .range(1, 4096);
    add_device_options(app, options->devices);
    CommandOption resume =
        app.add_flag("--resume", options->run.resume,
                     "Continue an evaluation: keep the trials in the output folder");
    app.add_flag("--anew", options->run.anew,
                 "Start again: replace the trials in the output folder")
        .excludes(resume);
    app.add_option("--trial", options->trial,
                   "Print the commands that run this trial of each candidate alone; run none")
        .type_name("N")
        .range(0, 1'000'000'000);
    app.add_flag("--quiet", options->run.quiet, "Print nothing but errors");
    return {app, [options] { return evaluate_command(*options); }};
}

}  // namespace sluice
