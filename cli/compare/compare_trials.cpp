// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/compare_trials.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <fmt/core.h>

#include "cli/compare/compare_variants.h"
#include "cli/evaluate/evaluation_run.h"
#include "core/error.h"
#include "experiment/exit_codes.h"
#include "experiment/modes/mode_run.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

constexpr std::size_t kMostTrials = 10'000;

/// The text as --set reads it.
ConfigValue value_of(const std::string& key, const std::string& text) {
    ConfigValue table;
    const std::string last = key.substr(key.rfind('.') + 1);
    override_config(table, last + "=" + text, "--vary");
    return table.find(last)->value;
}

/// By what varies: a key with one value tells nothing apart.
std::string label_of(const std::vector<VariedKey>& keys, const std::vector<std::string>& values) {
    std::vector<VariedKey> shown;
    std::vector<std::string> shown_values;
    for (std::size_t k = 0; k < keys.size(); ++k) {
        if (keys[k].values.size() < 2) continue;
        shown.push_back(keys[k]);
        shown_values.push_back(values[k]);
    }
    return shown.empty() ? variant_name(keys, values) : variant_name(shown, shown_values);
}

std::size_t parse_trials(const std::string& text) {
    char* end = nullptr;
    const unsigned long long trials = std::strtoull(text.c_str(), &end, 10);
    if (text.empty() || text[0] == '-' || *end != '\0' || trials < 3 || trials > 1'000'000) {
        throw ConfigError("--trials " + text + ": must be auto, or a number from 3 to 1000000");
    }
    return static_cast<std::size_t>(trials);
}

eval::Aim aim_of(const CompareOptions& options) {
    eval::Aim aim;
    aim.maximum_trials = kMostTrials;
    if (options.trials == "auto") return aim;
    aim.fixed = true;
    aim.maximum_trials = parse_trials(options.trials);
    aim.minimum_trials = std::min<std::size_t>(aim.maximum_trials, 20);
    return aim;
}

eval::EvaluationPlan plan_of(const CompareOptions& options) {
    const std::vector<VariedKey> keys = varied_keys(options);
    for (const VariedKey& key : keys) {
        if (key.key == "seed" || key.key == "perturbation") {
            throw ConfigError("--vary " + key.key +
                              ": not allowed with --trials, which gives each trial its own seed");
        }
    }
    eval::EvaluationPlan plan;
    std::vector<BatchEntry> entries;
    for (const std::vector<std::string>& values : cross_product(keys, kMostVariants)) {
        BatchEntry entry;
        entry.label = label_of(keys, values);
        for (std::size_t k = 0; k < keys.size(); ++k) {
            entry.settings.push_back({keys[k].key, value_of(keys[k].key, values[k])});
        }
        plan.labels.push_back(entry.label);
        entries.push_back(std::move(entry));
    }
    if (entries.size() < 2) throw ConfigError("--trials: needs at least two variants to compare");
    plan.scenarios =
        Batch::of_entries("", options.scenario, options.scenario, {}, std::move(entries));
    for (const std::string& set : options.sets) plan.scenarios->override_all(set);
    for (std::size_t c = 0; c < plan.labels.size(); ++c) {
        const Scenario scenario = make_scenario(plan.scenarios->scenario(c), options.scenario);
        require_offered(scenario.mode, "mode");
        const bool jobs = eval::has_jobs(*plan.scenarios, c);
        if (c > 0) continue;
        plan.name = scenario.name;
        plan.seed = scenario.seed;
        plan.metrics = eval::usual_metrics(jobs);
    }
    plan.aim = aim_of(options);
    plan.comparison = eval::ComparisonAim{0, options.margin};
    return plan;
}

}  // namespace

int compare_trials(const CompareOptions& options) {
    const eval::EvaluationPlan plan = plan_of(options);
    EvaluationOptions run;
    run.out = options.out.empty() ? "runs/" + plan.name + "-trials" : options.out;
    run.threads = std::max(1U, std::thread::hardware_concurrency());
    run.resume = !options.fresh;
    run.anew = options.fresh;
    run.quiet = options.quiet;
    run.json = options.json;
    return run_evaluation(plan, {}, run);
}

}  // namespace sluice
