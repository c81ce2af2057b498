// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/compare_options.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "core/error.h"
#include "core/results/output_names.h"
#include "experiment/modes/mode_run.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

constexpr const char* kJson = "compare.json";
constexpr const char* kCsv = "compare.csv";

/// The key that --restorers sets.
constexpr const char* kRestoreKey = "phases.restore";

/// "a,b,c", each once.
std::vector<std::string> words_of(const std::string& text, const char* option) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (std::find(words.begin(), words.end(), word) != words.end()) {
            throw ConfigError(std::string(option) + ": names " + shown_text(word) + " twice");
        }
        words.push_back(word);
        begin = end + 1;
    }
    return words;
}

std::vector<Mode> read_modes(const CompareOptions& options) {
    if (options.modes.empty()) {
        // Flow mode has nothing to restore, and no packets to be chaotic.
        if (options.perturb > 0 || options.restorers) return {Mode::packet, Mode::hybrid};
        return offered_modes();
    }
    std::vector<Mode> modes;
    for (const std::string& word : words_of(options.modes, "--modes")) {
        modes.push_back(parse_mode(word, "--modes"));
        require_offered(modes.back(), "--modes " + word);
    }
    return modes;
}

/// Overrides of the runs of a mode: packet mode executes every packet, for that is what the others save
/// is measured against, unless the user says otherwise.
std::vector<std::string> sets_of(const CompareOptions& options, const ComparedMode& mode) {
    std::vector<std::string> sets;
    if (mode.mode == Mode::packet) sets.emplace_back("fold=false");
    sets.insert(sets.end(), options.sets.begin(), options.sets.end());
    return sets;
}

}  // namespace

std::string ComparedMode::label() const {
    return mode_name(mode) + (restorer.empty() ? restorer : "-" + restorer);
}

std::vector<ComparedMode> compared_modes(const CompareOptions& options) {
    std::vector<ComparedMode> compared;
    bool restores = !options.restorers.has_value();
    for (const Mode mode : read_modes(options)) {
        if (mode != Mode::hybrid || !options.restorers) {
            compared.push_back({mode, ""});
            continue;
        }
        restores = true;
        for (const std::string& word : words_of(*options.restorers, "--restorers")) {
            if (word.empty()) throw ConfigError("--restorers: a name is empty");
            compared.push_back({mode, word});
        }
    }
    if (!restores) throw ConfigError("--restorers: needs mode hybrid in --modes");
    return compared;
}

ConfigValue scenario_values(const CompareOptions& options, const ComparedMode& mode) {
    ConfigValue values = load_config(options.scenario);
    for (const std::string& set : sets_of(options, mode)) override_config(values, set);
    set_config(values, "mode", text_value(mode_name(mode.mode)), "--modes");
    if (!mode.restorer.empty()) {
        set_config(values, kRestoreKey, text_value(mode.restorer), "--restorers");
    }
    return values;
}

std::string check_scenario(const CompareOptions& options, const std::vector<ComparedMode>& modes) {
    std::string name;
    for (const ComparedMode& mode : modes) {
        name = make_scenario(scenario_values(options, mode), options.scenario).name;
    }
    return name;
}

std::vector<std::string> run_arguments(const CompareOptions& options, const ComparedMode& mode,
                                       const std::string& folder,
                                       const std::vector<std::string>& sets) {
    std::vector<std::string> all = sets_of(options, mode);
    all.push_back(fmt::format("mode={}", mode_name(mode.mode)));
    if (!mode.restorer.empty()) {
        all.push_back(fmt::format("{}=\"{}\"", kRestoreKey, mode.restorer));
    }
    all.insert(all.end(), sets.begin(), sets.end());
    return run_arguments(options.scenario, all, folder, options.quiet);
}

std::vector<std::string> run_arguments(const std::string& scenario,
                                       const std::vector<std::string>& sets,
                                       const std::string& folder, bool quiet) {
    std::vector<std::string> arguments{"run", "--out=" + folder};
    for (const std::string& set : sets) arguments.push_back("--set=" + set);
    if (quiet) arguments.emplace_back("--quiet");
    arguments.emplace_back("--");
    arguments.push_back(scenario);
    return arguments;
}

ComparisonFiles::ComparisonFiles(const OutputFolder& folder, const std::string& json, bool with_csv)
    : folder_(folder) {
    try {
        open(json, with_csv);
    } catch (...) {
        close();
        throw;
    }
}

ComparisonFiles::~ComparisonFiles() { close(); }

void ComparisonFiles::write(const std::string& json, const std::string& csv) {
    if (csv_) *csv_ << csv;
    *json_ << json;
    if (extra_json_) *extra_json_ << json;
    if (csv_) csv_->commit();
    if (extra_json_) extra_json_->commit();
    json_->commit();
}

void ComparisonFiles::open(const std::string& json, bool with_csv) {
    json_ = std::make_unique<OutputFile>(folder_.file(kJson));
    std::set<std::string> being_written{json_->written()};
    if (with_csv) {
        csv_ = std::make_unique<OutputFile>(folder_.file(kCsv));
        being_written.insert(csv_->written());
        require_different({{"--json", json}, {"the table", folder_.file(kCsv)}});
    }
    if (!json.empty() && !same_file(json, folder_.file(kJson))) {
        extra_json_ = std::make_unique<OutputFile>(json);
        being_written.insert(extra_json_->written());
    }
    // Runs of before will be replaced one after the other: until then there is no comparison of them.
    folder_.remove_old({kJson, kCsv}, being_written);
}

void ComparisonFiles::close() {
    csv_.reset();
    json_.reset();
    extra_json_.reset();
    folder_.remove_if_empty();
}

}  // namespace sluice
