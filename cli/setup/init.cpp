// SPDX-License-Identifier: Apache-2.0
/// `sluice init`: a commented scenario to begin with, from four answers.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "cli/setup/first_scenario.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "core/text/shell.h"

namespace sluice {

namespace {

struct InitOptions {
    std::string file = "scenario.toml";
    FirstScenario answers;
    bool force = false;
    bool defaults = false;
};

/// Asks until the answer is one; an empty one is the default. ConfigError at the end of the input.
template <typename Take>
void ask(const std::string& question, const std::string& usual, const Take& take) {
    while (true) {
        print_text(fmt::format("{} [{}] ", question, usual));
        flush_output();
        std::string answer;
        if (!std::getline(std::cin, answer)) {
            print_text("\n");
            throw ConfigError(
                "init: the input ended before all was answered; --defaults asks nothing");
        }
        try {
            take(answer.empty() ? usual : answer);
            return;
        } catch (const ConfigError& error) {
            print("  {}\n", error.what());
        }
    }
}

/// Each answer is checked together with those before it.
void ask_for_missing(FirstScenario& answers) {
    const auto ask_for = [&](const std::string& question, const std::string& usual, auto set) {
        ask(question, usual, [&](const std::string& text) {
            FirstScenario with = answers;
            set(with, text);
            check_first(with);
            answers = with;
        });
    };
    if (answers.network.empty()) {
        ask_for("What network? " + listed(first_networks()), kUsualNetwork,
                [](FirstScenario& with, const std::string& text) { with.network = text; });
    }
    if (answers.gpus == 0) {
        ask_for("How many GPUs?", std::to_string(kUsualGpus),
                [](FirstScenario& with, const std::string& text) {
                    with.gpus = parse_first_gpus(text);
                });
    }
    if (answers.rate.empty()) {
        ask_for("How fast is a NIC?", kUsualRate,
                [](FirstScenario& with, const std::string& text) { with.rate = text; });
    }
    if (answers.workload.empty()) {
        ask_for("What runs on it? " + listed(first_workloads()), kUsualWorkload,
                [](FirstScenario& with, const std::string& text) { with.workload = text; });
    }
}

void take_defaults(FirstScenario& answers) {
    if (answers.network.empty()) answers.network = kUsualNetwork;
    if (answers.gpus == 0) answers.gpus = kUsualGpus;
    if (answers.rate.empty()) answers.rate = kUsualRate;
    if (answers.workload.empty()) answers.workload = kUsualWorkload;
}

int init_command(InitOptions options) {
    FirstScenario& answers = options.answers;
    if (!options.force && std::filesystem::exists(options.file)) {
        throw ConfigError(options.file, 0, "is there already; allowed: another name, or --force");
    }
    if (options.defaults) take_defaults(answers);
    check_first(answers);
    ask_for_missing(answers);
    write_output(options.file, first_scenario(answers));
    const std::string word = shell_word(options.file);
    print("{} is written. Next:\n  sluice describe {}\n  sluice run {}\n", options.file, word,
          word);
    return kExitDone;
}

}  // namespace

Command add_init_command(CommandLine program) {
    const auto options = std::make_shared<InitOptions>();
    CommandLine app = program.add_subcommand("init",
                                             "Write a commented scenario to begin with; asks four "
                                             "questions, or takes the answers as options");
    app.add_option("file", options->file, "What to write (default: scenario.toml)")
        .type_name("FILE");
    app.add_option("--network", options->answers.network, "Answer: the kind of network")
        .type_name("TYPE")
        .offers(first_networks());
    app.add_option("--gpus", options->answers.gpus, "Answer: GPUs; each has a NIC")
        .range(kLeastFirstGpus, kMostFirstGpus);
    app.add_option("--rate", options->answers.rate, "Answer: rate of a NIC, such as 400Gbps")
        .type_name("RATE");
    app.add_option("--workload", options->answers.workload, "Answer: what runs on it")
        .type_name("TYPE")
        .offers(first_workloads());
    app.add_flag("--defaults", options->defaults,
                 "Ask nothing: what no option answers has its default");
    app.add_flag("--force", options->force, "Replace a file that is there");
    return {app, [options] { return init_command(*options); }};
}

}  // namespace sluice
