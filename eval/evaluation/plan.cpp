// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluation/plan.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/core.h>

#include "core/error.h"
#include "core/flow/flow.h"
#include "core/text/config_section.h"
#include "core/text/printable.h"
#include "experiment/build_experiment.h"
#include "scenario/scenario.h"

namespace sluice::eval {

namespace {

constexpr std::size_t kMostCandidates = 1000;

/// A CSV column, a label of a row: a metric's name goes into all of these.
void check_name(const ConfigSection& section, const std::string& name,
                const std::vector<Metric>& before) {
    if (name.empty() || printable_line(name) != name) {
        section.fail("name", "must be a text of one line");
    }
    for (const Metric& metric : before) {
        if (metric.name == name)
            section.fail("name",
                         "is " + shown_text(name) + ", another metric's, too; names must differ");
    }
}

std::string usual_name(const Metric& metric) {
    const QuantityType* const type = find_quantity(metric.quantity);
    if (type == nullptr ? !metric.quantile : type->one_value) return metric.quantity;
    return metric.quantity +
           (metric.quantile ? fmt::format("-p{:g}", 100 * *metric.quantile) : "-mean");
}

/// The link of a metric's port, as an index into the plan's ports.
std::size_t read_port(ConfigSection& section, EvaluationPlan& plan) {
    const ConfigValue* const nodes = section.raw("port");
    if (nodes == nullptr || nodes->array.size() != 2) {
        section.fail("port",
                     "must be the two nodes of a link, sender first: [\"leaf0\", \"host3\"]");
    }
    plan.ports.emplace_back(nodes->array[0], nodes->array[1]);
    return plan.ports.size() - 1;
}

std::string quantity_names() {
    std::string names;
    for (const QuantityType& type : quantities()) {
        names += (names.empty() ? "" : ", ") + std::string(type.name);
    }
    return names;
}

void read_statistic(ConfigSection& section, Metric& metric, const QuantityType* type) {
    const bool one_value = type != nullptr && type->one_value;
    if (one_value && section.has("statistic")) {
        section.fail("statistic",
                     "needs several values per trial; a trial has one " + metric.quantity);
    }
    const std::string statistic = section.text("statistic", "mean");
    if (!parse_statistic(statistic, metric.quantile)) {
        section.fail(
            "statistic",
            "is " + shown_text(statistic) +
                "; must be mean or a percentile between p0 and p100, such as p99 or p99.9");
    }
    metric.estimand =
        section.choice("estimand", Estimand::per_trial,
                       {{"per-trial", Estimand::per_trial}, {"pooled", Estimand::pooled}});
}

Metric read_metric(ConfigSection& section, EvaluationPlan& plan, bool columns) {
    Metric metric;
    metric.quantity = section.text("of", "fct");
    const QuantityType* const type = find_quantity(metric.quantity);
    if (type == nullptr && !columns) {
        section.fail("of",
                     "is " + shown_text(metric.quantity) + "; must be one of " + quantity_names());
    }
    read_statistic(section, metric, type);
    if (section.has("larger_than")) {
        metric.larger_than = section.bytes("larger_than", std::nullopt, {0}, kLargestMessage).count;
    }
    if (section.has("up_to")) {
        metric.up_to = section.bytes("up_to", std::nullopt, {1}, kLargestMessage).count;
    }
    if (metric.larger_than >= metric.up_to) {
        section.fail("larger_than", "leaves no size below 'up_to'");
    }
    metric.of_class = section.text("class", "");
    metric.smaller_is_better = section.choice("better", metric.quantity != "throughput",
                                              {{"smaller", true}, {"larger", false}});
    if (type != nullptr && type->of_port) metric.port = read_port(section, plan);
    metric.name = section.text("name", usual_name(metric));
    check_name(section, metric.name, plan.metrics);
    section.finish();
    return metric;
}

Aim read_aim(ConfigSection& root, bool compares) {
    Aim aim;
    aim.confidence = root.number("confidence", aim.confidence, 0.5, 0.9999);
    if (root.has("accuracy") || !compares) {
        aim.accuracy = root.number("accuracy", 0.05, 1e-6, 1);
    }
    aim.rule = root.choice("rule", aim.rule,
                           {{"corrected", RuleKind::corrected}, {"paper", RuleKind::paper}});
    constexpr std::int64_t kMost = 1'000'000'000;
    if (root.has("minimum_trials")) {
        aim.minimum_trials =
            static_cast<std::size_t>(root.integer("minimum_trials", std::nullopt, 3, kMost));
    }
    aim.maximum_trials = static_cast<std::size_t>(
        root.integer("maximum_trials", static_cast<std::int64_t>(aim.maximum_trials), 3, kMost));
    if (aim.minimum_trials && *aim.minimum_trials > aim.maximum_trials) {
        root.fail("minimum_trials", "is above 'maximum_trials'");
    }
    return aim;
}

WindowAim read_window(ConfigSection section) {
    WindowAim window;
    window.warm_up_s = to_seconds(section.time("warm_up", 0));
    window.cool_down_s = to_seconds(section.time("cool_down", 0));
    window.find = section.flag("find", false);
    if (window.find && (section.has("warm_up") || section.has("cool_down"))) {
        section.fail("find", "excludes 'warm_up' and 'cool_down': cuts are given, or found");
    }
    section.finish();
    return window;
}

std::optional<Variation> read_variation(ConfigSection& root) {
    const std::vector<std::string> words = {"auto", "seed", "perturbation", "both"};
    const std::size_t word = root.choice_index("vary", "auto", words);
    if (word == 0) return std::nullopt;
    return Variation{word != 2, word != 1};
}

/// What trials draw by is the evaluation's.
void check_draws(const std::vector<BatchSetting>& settings) {
    for (const BatchSetting& setting : settings) {
        if (setting.key != "seed" && setting.key != "perturbation") continue;
        throw ConfigError(
            setting.value.at.text() + ": '" + setting.key +
            "' is set for each trial; for another sample, set 'seed' of the evaluation");
    }
}

/// Who is evaluated needs a scenario.
void check_bases(const ConfigSection& root, const std::string& base,
                 const std::vector<BatchEntry>& entries) {
    for (const BatchEntry& entry : entries) {
        if (entry.base.empty() && base.empty()) {
            root.fail("base", "is missing: the scenario that is evaluated");
        }
    }
}

/// [[candidate]]: a label, and what it sets of the scenario or of the command's placeholders.
std::vector<BatchEntry> read_candidates(ConfigSection& root, const std::string& path) {
    std::vector<BatchEntry> entries;
    for (ConfigSection& section : root.tables("candidate")) {
        BatchEntry entry;
        entry.label = section.text("label", fmt::format("candidate {}", entries.size()));
        entry.base = section.text("base", "");
        if (!entry.base.empty()) entry.base = resolve_beside(entry.base, path);
        entry.settings = read_settings(section);
        if (entry.label.empty() || printable_line(entry.label) != entry.label) {
            section.fail("label", "must be a text of one line");
        }
        check_draws(entry.settings);
        for (const BatchEntry& other : entries) {
            if (other.label == entry.label) {
                section.fail("label", "is another candidate's, too; labels must differ");
            }
        }
        section.finish();
        entries.push_back(std::move(entry));
    }
    if (entries.size() > kMostCandidates) {
        root.fail("candidate", fmt::format("appears more than {} times", kMostCandidates));
    }
    return entries;
}

std::string placeholder_text(const ConfigValue& value) {
    switch (value.kind) {
        case ConfigValue::Kind::text: return value.text;
        case ConfigValue::Kind::integer: return std::to_string(value.integer);
        case ConfigValue::Kind::number: return fmt::format("{}", value.number);
        case ConfigValue::Kind::boolean: return value.boolean ? "true" : "false";
        default: break;
    }
    throw ConfigError(value.at.text() + ": a command takes texts, numbers and booleans, not " +
                      value.kind_name());
}

/// [executor] type = "command".
void read_command(ConfigSection& section, const std::vector<BatchSetting>& shared,
                  const std::vector<BatchEntry>& entries, EvaluationPlan& plan) {
    CommandSettings& command = plan.command;
    command.command = section.text("command", std::nullopt);
    command.reader = section.choice(
        "reader", CommandSettings::Reader::table,
        {{"csv", CommandSettings::Reader::table}, {"fct.txt", CommandSettings::Reader::fct}});
    command.result = section.text("result", "");
    if (section.has("timeout")) {
        command.timeout_s = to_seconds(section.time("timeout", std::nullopt, kMillisecond));
    }
    for (const BatchEntry& entry : entries) {
        std::map<std::string, std::string> values;
        for (const BatchSetting& setting : shared) {
            values[setting.key] = placeholder_text(setting.value);
        }
        for (const BatchSetting& setting : entry.settings) {
            values[setting.key] = placeholder_text(setting.value);
        }
        command.candidates.push_back(std::move(values));
    }
}

void read_comparison(ConfigSection section, EvaluationPlan& plan) {
    ComparisonAim comparison;
    const std::string name = section.text("metric", plan.metrics.front().name);
    const auto at = std::find_if(plan.metrics.begin(), plan.metrics.end(),
                                 [&](const Metric& metric) { return metric.name == name; });
    if (at == plan.metrics.end()) section.fail("metric", "is not the name of a metric");
    if (at->estimand != Estimand::per_trial) {
        section.fail("metric", "is pooled; a comparison needs estimand = \"per-trial\"");
    }
    comparison.metric = static_cast<std::size_t>(at - plan.metrics.begin());
    comparison.margin = section.number("margin", 0, 0, 1);
    section.finish();
    plan.comparison = comparison;
}

/// [importance]: of one pooled quantile of all flows.
void read_importance(ConfigSection section, EvaluationPlan& plan) {
    plan.importance = section.choice("sizes", SizeKind::Mapped,
                                     {{"mapped", SizeKind::Mapped},
                                      {"fitted", SizeKind::Fitted},
                                      {"reweighted", SizeKind::Reweighted}});
    section.finish();
    const Metric& metric = plan.metrics.front();
    const bool of_flows = metric.quantity == "fct" || metric.quantity == "slowdown";
    const bool of_all = metric.larger_than < 0 && metric.of_class.empty() &&
                        metric.up_to == std::numeric_limits<std::int64_t>::max();
    if (plan.metrics.size() != 1 || !of_flows || !of_all || !metric.quantile ||
        metric.estimand != Estimand::pooled) {
        throw ConfigError(section.where("sizes") +
                          ": [importance] needs exactly one [[metric]]: a percentile of fct or "
                          "slowdown, estimand = \"pooled\", of all flows");
    }
    if (!plan.scenarios) throw ConfigError("[importance] needs a scenario, not a command");
    if (!plan.aim.accuracy) plan.aim.accuracy = 0.05;
}

}  // namespace

bool has_jobs(const Batch& scenarios, std::size_t candidate) {
    std::string path;
    ConfigValue values = scenarios.scenario(candidate, &path);
    Scenario scenario = make_scenario(std::move(values), path);
    try {
        return !build_experiment(scenario).jobs.empty();
    } catch (const NoFlowsError&) {
        return false;
    }
}

bool parse_statistic(const std::string& word, std::optional<double>& quantile) {
    quantile.reset();
    if (word == "mean") return true;
    if (word.size() < 2 || word[0] != 'p') return false;
    char* end = nullptr;
    const double percent = std::strtod(word.c_str() + 1, &end);
    if (*end != '\0' || !(percent > 0 && percent < 100)) return false;
    quantile = percent / 100;
    return true;
}

std::vector<Metric> usual_metrics(bool jobs) {
    std::vector<Metric> metrics;
    const auto add = [&](const char* quantity, std::optional<double> quantile) {
        Metric metric;
        metric.quantity = quantity;
        metric.quantile = quantile;
        metric.name = usual_name(metric);
        metrics.push_back(std::move(metric));
    };
    if (jobs) add("jct", std::nullopt);
    add("fct", std::nullopt);
    add("fct", 0.99);
    return metrics;
}

EvaluationPlan parse_evaluation(const std::string& text, const std::string& path,
                                const std::vector<std::string>& sets, const LoadScenario& load) {
    const ConfigValue values = parse_config(text, path);
    EffectiveConfig unused;
    ConfigSection root(values, unused);
    EvaluationPlan plan;
    plan.name = read_name(root, path);
    const std::string base = root.text("base", "");
    std::vector<BatchSetting> shared = read_settings(root);
    check_draws(shared);
    std::vector<BatchEntry> entries = read_candidates(root, path);
    if (entries.empty()) entries.push_back({plan.name, "", {}});
    for (const BatchEntry& entry : entries) plan.labels.push_back(entry.label);
    plan.aim = read_aim(root, entries.size() > 1);
    plan.variation = read_variation(root);
    plan.seed = static_cast<std::uint64_t>(root.integer("seed", 1, 0, std::int64_t{1} << 62));
    plan.window = read_window(root.table("window"));
    ConfigSection executor = root.table("executor");
    const bool command = executor.choice("type", false, {{"lanes", false}, {"command", true}});
    if (command) {
        read_command(executor, shared, entries, plan);
    } else {
        check_bases(root, base, entries);
        plan.scenarios =
            Batch::of_entries(plan.name, path, base.empty() ? "" : resolve_beside(base, path),
                              std::move(shared), std::move(entries), load);
        for (const std::string& set : sets) plan.scenarios->override_all(set);
        plan.queue_step = executor.time("queue_step", 10 * kMicrosecond, 10 * kNanosecond);
    }
    executor.finish();
    if (command && root.has("window")) {
        root.fail("window", "needs a scenario; a command must omit warm-up and cool-down itself");
    }
    if (command && !sets.empty()) throw ConfigError("--set: a command has no scenario");
    for (ConfigSection& section : root.tables("metric")) {
        Metric metric = read_metric(section, plan, command);
        plan.metrics.push_back(std::move(metric));
    }
    if (plan.metrics.empty()) {
        plan.metrics = usual_metrics(plan.scenarios && has_jobs(*plan.scenarios, 0));
    }
    const bool queues =
        std::any_of(plan.metrics.begin(), plan.metrics.end(),
                    [](const Metric& metric) { return metric.quantity == "queue"; });
    if (!queues) plan.queue_step = 0;
    if (root.has("importance")) read_importance(root.table("importance"), plan);
    if (plan.labels.size() > 1 && !plan.importance) {
        read_comparison(root.table("comparison"), plan);
    } else if (root.has("comparison")) {
        root.fail("comparison", "needs at least two [[candidate]]s");
    }
    root.finish();
    return plan;
}

EvaluationPlan load_evaluation(const std::string& path, const std::vector<std::string>& sets) {
    return parse_evaluation(read_config_text(path), path, sets);
}

std::string EvaluationPlan::identity() const {
    std::string text = fmt::format("seed {}, window {} {} {}", seed, window.warm_up_s,
                                   window.cool_down_s, window.find);
    if (variation) text += fmt::format(", varies {} {}", variation->seed, variation->perturbation);
    for (std::size_t c = 0; c < labels.size(); ++c) {
        text += "\n" + labels[c] + ": ";
        if (scenarios) text += digest_of(scenarios->scenario(c));
    }
    text += "\n" + command.command + command.result;
    for (const auto& values : command.candidates) {
        text += "\n";
        for (const auto& [key, value] : values) text += key + "=" + value + ";";
    }
    if (importance) text += fmt::format("\nsizes {}", static_cast<int>(*importance));
    for (const Metric& metric : metrics) text += "\n" + metric.name + ": " + describe(metric);
    for (const auto& [from, to] : ports) text += "\n" + from.shown() + " " + to.shown();
    return text;
}

}  // namespace sluice::eval
