// SPDX-License-Identifier: Apache-2.0
/// `sluice memo`: what the file of a memo holds, and its care.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "core/memo/store.h"
#include "core/memo/version.h"
#include "core/results/mode.h"
#include "core/text/config_value.h"
#include "core/units.h"
#include "experiment/build_experiment.h"
#include "experiment/verify_memo.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

constexpr std::int64_t kSecondsOfADay = 86'400;
/// `list` shows so many of an entry's facts.
constexpr std::size_t kShownFacts = 6;

struct MemoOptions {
    std::string file;
    std::vector<std::string> others;
    std::optional<double> older;  ///< days
    std::optional<std::uint64_t> most;
    bool all = false;
    std::string scenario;
    std::vector<std::string> sets;
    double share = 1;
    std::uint64_t seed = 1;
};

std::string path_of(const MemoOptions& options) {
    std::string path = options.file.empty() ? memo::default_path() : options.file;
    if (path.empty()) {
        throw ConfigError("memo: neither XDG_CACHE_HOME nor HOME is a folder; give --memo FILE");
    }
    return path;
}

/// As a run would, but that there must be something.
memo::Loaded load_existing(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        throw ConfigError(path, 0, "does not exist: no run has stored a memo there");
    }
    return memo::load(path);
}

int show_stats(const MemoOptions& options) {
    const std::string path = path_of(options);
    const memo::Loaded loaded = load_existing(path);
    std::map<memo::Kind, std::uint64_t> kinds;
    std::uint64_t samples = 0;
    std::uint64_t different = 0;
    std::uint64_t audits = 0;
    for (const memo::Stored& one : loaded.content) {
        ++kinds[one.entry.kind];
        samples += one.entry.sample_count();
        different += one.entry.samples.size();
        audits += one.entry.audits.size();
    }
    print("memo      {}\n", path);
    print("versions  format {}, results {}\n", memo::kFormatVersion, memo::kResultsVersion);
    print("size      {} bytes\n", loaded.bytes);
    print("entries   {}", loaded.content.size());
    for (const memo::Kind kind : memo::kKinds) {
        print("{} {} {}", kind == memo::kKinds[0] ? ":" : ",", kinds[kind],
              memo::kind_plural(kind));
    }
    print("\nsamples   {}, {} of them different\n", samples, different);
    print("audits    {}\n", audits);
    if (loaded.damaged > 0) {
        print("damaged   {} entries, which runs ignore and prune removes\n", loaded.damaged);
    }
    return kExitDone;
}

std::string facts_summary(const memo::Numbers& facts) {
    std::string text = fmt::format("{} facts", facts.size());
    for (std::size_t i = 0; i < std::min(facts.size(), kShownFacts); ++i) {
        text += fmt::format("{}{}", i == 0 ? ": " : " ", facts[i]);
    }
    return facts.size() > kShownFacts ? text + " ..." : text;
}

int list_entries(const MemoOptions& options) {
    for (const memo::Stored& one : load_existing(path_of(options)).content) {
        print("{} {:<9} {:%Y-%m-%d} {:>2} samples, {:>2} audits, {}\n", one.digest.text(),
              memo::kind_name(one.entry.kind), fmt::gmtime(static_cast<std::time_t>(one.saved)),
              one.entry.sample_count(), one.entry.audits.size(), facts_summary(*one.entry.facts));
    }
    return kExitDone;
}

int merge_files(const MemoOptions& options) {
    const std::string path = path_of(options);
    // All are read before anything is written: one that is refused leaves the memo as it is.
    std::vector<memo::Loaded> loaded;
    for (const std::string& other : options.others) loaded.push_back(load_existing(other));
    for (std::size_t i = 0; i < loaded.size(); ++i) {
        const memo::Saved saved = memo::save(path, loaded[i].content);
        print("{}: {} entries, {} samples and {} audits that {} did not have\n", options.others[i],
              saved.entries, saved.samples, saved.audits, path);
    }
    return kExitDone;
}

int prune_file(const MemoOptions& options) {
    const std::string path = path_of(options);
    if (!options.all && !options.older && !options.most) {
        throw ConfigError("memo prune: needs --older DAYS, --most N or --all");
    }
    if (options.all && (options.older || options.most)) {
        throw ConfigError("memo prune --all: takes neither --older nor --most");
    }
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        throw ConfigError(path, 0, "does not exist: no run has stored a memo there");
    }
    if (options.all) {
        memo::clear(path);
        print("{}: empty\n", path);
        return kExitDone;
    }
    memo::PruneRule rule;
    if (options.older) {
        rule.before =
            std::time(nullptr) - static_cast<std::int64_t>(*options.older * kSecondsOfADay);
    }
    if (options.most) rule.most = *options.most;
    print("{}: {} entries removed\n", path, memo::prune(path, rule));
    return kExitDone;
}

/// The experiment of a scenario without its traffic.
Experiment network_of(const MemoOptions& options, std::string& config_json) {
    ConfigValue values = load_config(options.scenario);
    for (const std::string& set : options.sets) override_config(values, set);
    set_config(values, "mode", text_value(mode_name(Mode::wormhole)), "memo verify");
    Scenario scenario = make_scenario(std::move(values), options.scenario);
    BuiltExperiment built = build_experiment(scenario);
    config_json = scenario.effective->json();
    built.experiment.flows.clear();
    built.experiment.paths.clear();
    built.experiment.application.reset();
    return std::move(built.experiment);
}

int verify_entries(const MemoOptions& options) {
    const memo::Loaded loaded = load_existing(path_of(options));
    std::string config_json;
    Experiment experiment = network_of(options, config_json);
    const VerifiedMemo verified = verify_memo(std::move(experiment), config_json, loaded.content,
                                              options.share, options.seed);
    double sum = 0;
    const VerifiedEntry* worst = nullptr;
    for (const VerifiedEntry& entry : verified.entries) {
        print("{} {:>4} flows, {:>3} samples: flow completion {:+.3f}%, last byte {:+.3f}%\n",
              entry.digest.text(), entry.flows, entry.samples, 100 * entry.fct_error,
              100 * entry.last_error);
        sum += entry.fct_error;
        if (worst == nullptr || std::abs(entry.fct_error) > std::abs(worst->fct_error)) {
            worst = &entry;
        }
    }
    print(
        "verified  {} of {} episodes; {} with hosts that this network lacks, {} of kinds that "
        "differ here or have too few samples\n",
        verified.entries.size(), verified.drawn, verified.foreign, verified.untold());
    if (worst != nullptr) {
        print("error     mean {:+.3f}%, largest {:+.3f}% ({})\n",
              100 * sum / static_cast<double>(verified.entries.size()), 100 * worst->fct_error,
              worst->digest.text());
    }
    return kExitDone;
}

}  // namespace

Command add_memo_command(CommandLine program) {
    CommandLine app = program.add_subcommand(
        "memo",
        "Inspect and maintain the memo, the file of results that later runs use (docs/memo.md)");
    app.require_subcommand();
    const auto options = std::make_shared<MemoOptions>();
    const auto add = [&](const char* name, const char* text) {
        CommandLine command = app.add_subcommand(name, text);
        command
            .add_option("--memo", options->file,
                        "The memo's file (default: in the user's cache folder)")
            .type_name("FILE");
        return command;
    };
    CommandLine stats = add("stats", "Count entries, samples and audits");
    CommandLine list = add("list", "List the entries, one per line");
    CommandLine merge = add("merge", "Add the entries of other memos");
    merge.add_option("other", options->others, "Memos").type_name("OTHER").required();
    CommandLine prune = add("prune", "Remove entries");
    prune
        .add_option("--older", options->older,
                    "Remove entries to which nothing was added for DAYS days")
        .type_name("DAYS")
        .range(0.0, 1e6);
    prune
        .add_option("--most", options->most,
                    "Keep the N entries that were added to last, and remove the others")
        .type_name("N")
        .not_negative();
    prune.add_flag("--all", options->all,
                   "Remove all entries, also those of a memo of another version");
    CommandLine verify =
        add("verify",
            "Simulate stored episodes again with packets, and compare with the memo's predictions");
    verify
        .add_option("scenario", options->scenario,
                    "The scenario whose network and configuration are simulated")
        .type_name("SCENARIO.toml")
        .required();
    verify.add_option("--share", options->share, "Share of the episodes to verify, drawn at random")
        .range(0.0, 1.0);
    verify.add_option("--seed", options->seed, "Seed of the random draws");
    add_set_option(verify, options->sets, "Override a key of the scenario");
    return {app, [options, stats, list, merge, verify] {
                if (verify.parsed()) return verify_entries(*options);
                if (stats.parsed()) return show_stats(*options);
                if (list.parsed()) return list_entries(*options);
                return merge.parsed() ? merge_files(*options) : prune_file(*options);
            }};
}

}  // namespace sluice
