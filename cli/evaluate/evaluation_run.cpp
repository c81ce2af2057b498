// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluate/evaluation_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "cli/progress.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/results/output_folder.h"
#include "core/text/human.h"
#include "eval/executor/command_executor.h"
#include "eval/executor/lane_executor.h"
#include "eval/model_based/tail_evaluation.h"
#include "eval/report/report.h"
#include "experiment/version.h"

namespace sluice {

namespace {

constexpr const char* kTrialsFile = "trials.db";

/// The store of a folder that may be used.
std::unique_ptr<eval::TrialStore> open_store(const eval::EvaluationPlan& plan,
                                             const OutputFolder& folder,
                                             const EvaluationOptions& options) {
    std::vector<std::string> names;
    for (const eval::Metric& metric : plan.metrics) names.push_back(metric.name);
    auto store = std::make_unique<eval::TrialStore>(
        folder.file(kTrialsFile), plan.identity() + "\n" + program_version(), names, options.anew);
    const std::size_t there = store->size();
    if (there > 0 && !options.resume && !options.anew) {
        throw ConfigError(options.out, 0,
                          fmt::format("holds {} of an evaluation: --resume continues it, --anew "
                                      "replaces it, --out names another folder",
                                      counted(there, "trial", "trials")));
    }
    return store;
}

int exit_code(const eval::Evaluation& evaluation) {
    switch (evaluation.ending()) {
        case eval::Ending::interrupted: return kExitInterrupted;
        case eval::Ending::failed:
        case eval::Ending::exhausted: return kExitWorkLeft;
        default: return kExitDone;
    }
}

/// Whether two candidates have the same figures in every trial.
bool same_figures(const eval::Evaluation& evaluation, std::size_t a, std::size_t b) {
    for (std::size_t m = 0; m < evaluation.plan().metrics.size(); ++m) {
        if (evaluation.estimator(a, m).figures() != evaluation.estimator(b, m).figures()) {
            return false;
        }
    }
    return evaluation.rounds() > 0;
}

/// Candidates that no trial tells apart, and why.
void tell_same(const eval::Evaluation& evaluation, const eval::Executor& executor) {
    const std::vector<std::string>& labels = evaluation.plan().labels;
    std::vector<bool> told(labels.size(), false);
    for (std::size_t a = 0; a < labels.size(); ++a) {
        std::vector<std::size_t> alike = {a};
        for (std::size_t b = a + 1; b < labels.size() && !told[a]; ++b) {
            if (!told[b] && same_figures(evaluation, a, b)) alike.push_back(b);
        }
        if (alike.size() < 2) continue;
        std::string names;
        for (const std::size_t one : alike) {
            told[one] = true;
            names += (names.empty() ? "" : ", ") + labels[one];
        }
        const std::string why = executor.why_same(alike);
        print("  same         {}: equal in every trial{}{}\n", names, why.empty() ? "" : ": ", why);
    }
}

void print_evaluation(const eval::Evaluation& evaluation, const eval::Executor& executor,
                      const std::string& directory) {
    print_text(eval::evaluation_text(evaluation));
    tell_same(evaluation, executor);
    if (evaluation.cost().ran > 0) {
        print("  time         {} wall, {} of CPU time ({} per trial)\n",
              human_seconds(evaluation.cost().wall_s), human_seconds(evaluation.cost().cpu_s),
              human_seconds(evaluation.cost().cpu_s / static_cast<double>(evaluation.cost().ran)));
    }
    print("  written to   {}/\n", directory);
}

}  // namespace

std::unique_ptr<eval::Executor> make_executor(const eval::EvaluationPlan& plan,
                                              const RunMaker& maker, bool fall_back) {
    if (!plan.scenarios) return std::make_unique<eval::CommandExecutor>(plan.command);
    eval::LaneSettings settings;
    settings.variation = plan.variation ? *plan.variation : eval::variation_of(*plan.scenarios, 0);
    settings.ports = plan.ports;
    settings.queue_step = plan.queue_step;
    settings.collectives =
        std::any_of(plan.metrics.begin(), plan.metrics.end(),
                    [](const eval::Metric& metric) { return metric.quantity == "collective"; });
    settings.maker = maker;
    settings.fall_back = fall_back;
    auto lanes = std::make_unique<eval::LaneExecutor>(*plan.scenarios, settings);
    lanes->check();
    return lanes;
}

void check_folder(const EvaluationOptions& options) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const bool there = fs::exists(options.out + "/evaluation.json", ignored);
    if (!there || options.resume || options.anew) return;
    throw ConfigError(options.out, 0,
                      "holds an evaluation: --anew replaces it, --out names another folder");
}

void run_trials(eval::Evaluation& evaluation, bool quiet) {
    Progress progress(quiet);
    const InterruptGuard guard;
    // What is shown is worked out from all trials, while no other thread goes on: at most a fiftieth of the time.
    using Clock = std::chrono::steady_clock;
    Clock::time_point due = Clock::now();
    const auto tell = [&](const eval::Evaluation& at) {
        const Clock::time_point begin = Clock::now();
        if (quiet || begin < due) return;
        progress.tick(eval::progress_share(at),
                      [&](double seconds) { return eval::progress_text(at, seconds); });
        const Clock::time_point end = Clock::now();
        due = end + std::max<Clock::duration>(std::chrono::milliseconds(500), 50 * (end - begin));
    };
    evaluation.run([] { return !InterruptGuard::requested(); }, tell);
    progress.clear();
}

int run_evaluation(const eval::EvaluationPlan& plan, const RunMaker& maker,
                   const EvaluationOptions& options) {
    eval::EvaluationPlan local = plan;
    local.command.scratch = options.out + "/trials";
    // What a candidate's scenario cannot be is said before anything is made or replaced.
    const std::unique_ptr<eval::Executor> executor = make_executor(local, maker, options.fall_back);
    const OutputFolder folder(options.out, OutputFolder::Use::alone);
    const std::unique_ptr<eval::TrialStore> store = open_store(plan, folder, options);
    eval::Evaluation evaluation(plan, *executor, store.get(), options.threads);
    run_trials(evaluation, options.quiet);
    write_evaluation(evaluation, options.out);
    if (!options.json.empty()) {
        write_output(options.json, eval::evaluation_json(evaluation, program_version()));
    }
    if (!options.quiet) print_evaluation(evaluation, *executor, options.out);
    if (evaluation.ending() == eval::Ending::failed) {
        print_error("sluice: {}\n", evaluation.failure());
    } else if (evaluation.ending() == eval::Ending::interrupted && !options.quiet) {
        print_error("sluice: interrupted; use --resume to continue\n");
    }
    return exit_code(evaluation);
}

int run_tail_evaluation(const eval::EvaluationPlan& plan, const EvaluationOptions& options) {
    // As above.
    for (std::size_t c = 0; c < plan.labels.size(); ++c) eval::TailEvaluation(plan, c, nullptr, 1);
    const OutputFolder folder(options.out, OutputFolder::Use::alone);
    const std::unique_ptr<eval::TrialStore> store = open_store(plan, folder, options);
    int code = kExitDone;
    std::vector<eval::TailResult> results;
    for (std::size_t c = 0; c < plan.labels.size() && code != kExitInterrupted; ++c) {
        eval::TailEvaluation evaluation(plan, c, store.get(), options.threads);
        Progress progress(options.quiet);
        const InterruptGuard guard;
        results.push_back(evaluation.run(
            [] { return !InterruptGuard::requested(); },
            [&](const eval::TailProgress& at) {
                progress.tick(0, [&](double) {
                    return fmt::format("{}: {} {} trials", plan.labels[c], at.trials, at.stage);
                });
            }));
        progress.clear();
        const eval::TailResult& result = results.back();
        if (!options.quiet) print_text(eval::tail_text(plan, c, result));
        if (result.interrupted) {
            code = kExitInterrupted;
        } else if (!result.reached) {
            code = kExitWorkLeft;
        }
    }
    write_output(folder.file("evaluation.json"), eval::tail_json(plan, results, program_version()));
    if (!options.quiet) print("  written to   {}/\n", options.out);
    return code;
}

void write_evaluation(const eval::Evaluation& evaluation, const std::string& directory) {
    const OutputFolder folder(directory);
    write_output(folder.file("trials.csv"), eval::trials_csv(evaluation));
    write_output(folder.file("evaluation.csv"), eval::evaluation_csv(evaluation));
    for (std::size_t m = 0; m < evaluation.plan().metrics.size(); ++m) {
        const std::string name =
            m == 0 ? "evaluation.svg" : fmt::format("evaluation-{}.svg", m + 1);
        write_output(folder.file(name), eval::evaluation_svg(evaluation, m));
    }
    write_output(folder.file("evaluation.json"),
                 eval::evaluation_json(evaluation, program_version()));
}

}  // namespace sluice
