// SPDX-License-Identifier: Apache-2.0
/// `sluice train`: the model that restores queues, from what runs recorded; and how good one is.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output/terminal.h"
#include "cli/progress.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/results/output_names.h"
#include "core/text/human.h"
#include "experiment/version.h"
#include "restore/bytes.h"
#include "restore/dataset.h"
#include "restore/evaluation.h"
#include "restore/loss_curve.h"
#include "restore/model_file.h"
#include "restore/queue_trace.h"
#include "restore/torch_engine.h"
#include "restore/training.h"

namespace sluice {

namespace {

struct TrainOptions {
    std::vector<std::string> folders;
    std::string out;
    std::string evaluate;  ///< a model
    std::string csv;       ///< errors go there, too
    std::string device = "cpu";
    std::string engine = "plain";
    int epochs = restore::TrainingConfig{}.epochs;
    int cases = 4000;  ///< of a folder
    double val_split = 0.2;
    std::uint64_t seed = 1;
    bool quiet = false;
};

restore::Device device_of(const TrainOptions& options) {
    return options.device == "cuda" ? restore::Device::cuda : restore::Device::cpu;
}

/// Cases of each folder, in the order of the command line.
struct Recorded {
    std::vector<std::string> scenarios;
    std::vector<std::vector<restore::Case>> cases;
};

Recorded read_folders(const TrainOptions& options, const restore::ModelShape& shape) {
    Recorded recorded;
    Progress progress(options.quiet);
    for (std::size_t i = 0; i < options.folders.size(); ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(options.folders.size());
        progress.tick(share, [&](double) { return "reading " + options.folders[i]; });
        const restore::QueueTrace trace = restore::load_queue_trace(options.folders[i]);
        recorded.scenarios.push_back(trace.scenario);
        recorded.cases.push_back(restore::draw_cases(
            trace, shape, static_cast<std::size_t>(options.cases), options.seed));
    }
    return recorded;
}

/// A place for the model is found before hours of training, not after.
void check_place(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path parent = fs::absolute(path, error).parent_path();
    if (!fs::is_directory(parent, error)) {
        throw ConfigError(path, 0, "its folder does not exist");
    }
    check_output_name(path);
}

void print_errors(const std::vector<restore::ErrorRow>& rows) {
    print("{:<8} {:<12} {:>7} {:>9} {:>9} {:>7} {:>7}\n", "law", "predictor", "cases", "mae",
          "pinball", "within", "moved");
    for (const restore::ErrorRow& row : rows) {
        print("{:<8} {:<12} {:>7} {:>9.5f} {:>9.5f} {:>6.1f}% {:>6.1f}%\n", row.law, row.predictor,
              row.cases, row.absolute, row.pinball, 100 * row.within, 100 * row.moved);
    }
}

void tell_errors(const TrainOptions& options, const std::vector<restore::ErrorRow>& rows) {
    if (!options.csv.empty()) write_output(options.csv, restore::error_csv(rows));
    if (!options.quiet) print_errors(rows);
}

int evaluate_model(const TrainOptions& options) {
    const restore::QueueModel model = restore::load_model(options.evaluate);
    std::unique_ptr<restore::EncoderEngine> engine;
    if (options.engine == "libtorch") engine = restore::torch_engine(model, device_of(options));
    const Recorded recorded = read_folders(options, model.shape);
    std::vector<restore::Case> all;
    for (const auto& cases : recorded.cases) all.insert(all.end(), cases.begin(), cases.end());
    if (all.empty()) {
        throw ConfigError(
            "train: the folders have no case: no port keeps its flows for 5 base RTTs "
            "with a queue");
    }
    tell_errors(options, restore::evaluate(model, all, std::move(engine)));
    return kExitDone;
}

std::string provenance_of(const TrainOptions& options, const Recorded& recorded,
                          const std::vector<bool>& validates,
                          const restore::TrainedModel& trained) {
    nlohmann::ordered_json json;
    json["version"] = program_version();
    json["engine"] = restore::torch_version();
    json["device"] = options.device;
    json["seed"] = options.seed;
    json["epochs"] = trained.epochs.size();
    json["best_epoch"] = trained.best_epoch;
    json["val_split"] = options.val_split;
    json["cases_per_folder"] = options.cases;
    std::vector<std::string> learned;
    std::vector<std::string> judged;
    for (std::size_t i = 0; i < recorded.scenarios.size(); ++i) {
        (validates[i] ? judged : learned).push_back(recorded.scenarios[i]);
    }
    json["training"] = learned;
    json["validation"] = judged;
    return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

restore::TrainedModel train_with_progress(const TrainOptions& options,
                                          const std::vector<restore::Case>& training,
                                          const std::vector<restore::Case>& validation) {
    restore::TrainingConfig config;
    config.epochs = options.epochs;
    config.seed = options.seed;
    config.device = device_of(options);
    Progress progress(options.quiet);
    const InterruptGuard guard;
    return restore::train(
        training, validation, config, [&](double done, const std::vector<restore::Epoch>& epochs) {
            progress.tick(done, [&](double seconds) {
                std::string text = fmt::format("epoch {}/{}", epochs.size() + 1, options.epochs);
                if (!epochs.empty()) {
                    text += fmt::format("  loss {:.4f}, validation {:.4f}", epochs.back().training,
                                        epochs.back().validation);
                }
                if (done > 0) text += "  left " + human_seconds(seconds / done - seconds);
                return text;
            });
            return !InterruptGuard::requested();
        });
}

int train_model(const TrainOptions& options) {
    if (options.out.empty()) throw ConfigError("train: needs -o MODEL, or --evaluate MODEL");
    require_different({{"--out", options.out},
                       {"the losses", options.out + ".loss.csv"},
                       {"--csv", options.csv}});
    check_place(options.out);
    restore::torch_version();
    const Recorded recorded = read_folders(options, restore::ModelShape{});
    const std::vector<bool> validates =
        restore::choose_validation(recorded.scenarios, options.val_split, options.seed);
    std::vector<restore::Case> training;
    std::vector<restore::Case> validation;
    for (std::size_t i = 0; i < recorded.cases.size(); ++i) {
        std::vector<restore::Case>& set = validates[i] ? validation : training;
        set.insert(set.end(), recorded.cases[i].begin(), recorded.cases[i].end());
    }
    restore::TrainedModel trained = train_with_progress(options, training, validation);
    if (trained.best_epoch == 0) return kExitInterrupted;
    trained.model.provenance = provenance_of(options, recorded, validates, trained);
    restore::save_model(trained.model, options.out);
    write_output(options.out + ".loss.csv", restore::loss_csv(trained.epochs));
    write_output(
        options.out + ".loss.svg",
        restore::loss_svg(trained.epochs,
                          "Loss of " + std::filesystem::path(options.out).filename().string() +
                              ", seed " + std::to_string(options.seed)));
    if (!options.quiet) {
        print(
            "{}: {} cases, {} epochs, the best was {}; errors on {} cases of other "
            "scenarios, in marking thresholds or BDPs:\n",
            options.out, training.size(), trained.epochs.size(), trained.best_epoch,
            validation.size());
    }
    tell_errors(options, restore::evaluate(trained.model, validation));
    return trained.interrupted ? kExitInterrupted : kExitDone;
}

}  // namespace

Command add_train_command(CommandLine program) {
    const auto options = std::make_shared<TrainOptions>();
    CommandLine app = program.add_subcommand(
        "train", "Train the model that restores queues after skips, on runs with --record-queues");
    app.add_option("folders", options->folders, "Output folders of runs, with queues.bin")
        .type_name("DIR...")
        .required();
    app.add_option("-o,--out", options->out, "The model's file").type_name("MODEL");
    app.add_option("--evaluate", options->evaluate,
                   "Report the errors of this model, without training")
        .type_name("MODEL");
    app.add_option("--csv", options->csv, "Also write the errors to this file").type_name("FILE");
    app.add_option("--epochs", options->epochs, "Largest number of epochs").range(1, 10'000);
    app.add_option("--cases", options->cases, "Cases drawn from each folder").range(1, 1'000'000);
    app.add_option("--device", options->device, "cpu or cuda").one_of({"cpu", "cuda"});
    app.add_option("--engine", options->engine,
                   "With --evaluate: implementation of the model, plain or libtorch")
        .one_of({"plain", "libtorch"});
    app.add_option("--seed", options->seed, "Seed of weights, cases, their order and the split");
    app.add_option("--val-split", options->val_split,
                   "Share of scenarios that are used for validation")
        .range(0.0, 1.0);
    app.add_flag("--quiet", options->quiet, "Print nothing but errors");
    return {app, [options] {
                return options->evaluate.empty() ? train_model(*options) : evaluate_model(*options);
            }};
}

}  // namespace sluice
