// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_file.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/core.h>

#include "core/error.h"
#include "core/memo/digest.h"
#include "core/text/config_section.h"
#include "core/text/printable.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

constexpr const char* kLabel = "label";

/// The value as TOML has it, on one line; a text is quoted if it is `inside` another value.
std::string written(const ConfigValue& value, bool inside) {
    switch (value.kind) {
        case ConfigValue::Kind::text: return inside ? "\"" + value.text + "\"" : value.text;
        case ConfigValue::Kind::integer: return std::to_string(value.integer);
        case ConfigValue::Kind::number: return fmt::format("{}", value.number);
        case ConfigValue::Kind::boolean: return value.boolean ? "true" : "false";
        case ConfigValue::Kind::date: return "a date";
        case ConfigValue::Kind::array: break;
        case ConfigValue::Kind::table: break;
    }
    std::string text;
    for (const ConfigValue& item : value.array) {
        text += (text.empty() ? "" : ", ") + written(item, true);
    }
    if (value.kind == ConfigValue::Kind::array) return "[" + text + "]";
    for (const ConfigMember& member : value.table) {
        text += (text.empty() ? "" : ", ") + member.key + " = " + written(member.value, true);
    }
    return "{" + text + "}";
}

/// "topology.k = 4" sets a key of a table, "topology = { type = "fat-tree", k = 4 }" replaces it.
void add_settings(const ConfigValue& table, const std::string& before,
                  std::vector<BatchSetting>& settings) {
    for (const ConfigMember& member : table.table) {
        const std::string key = before + member.key;
        if (member.value.kind == ConfigValue::Kind::table && !member.value.braces) {
            add_settings(member.value, key + ".", settings);
        } else {
            settings.push_back({key, member.value});
        }
    }
}

/// "range = [from, to]" or "[from, to, step]", the ends included.
void read_range(ConfigSection& section, const std::vector<std::int64_t>& range, BatchAxis& axis) {
    if (range.size() < 2 || range.size() > 3) {
        section.fail("range", "must be [from, to] or [from, to, step], the ends included");
    }
    const std::int64_t step = range.size() == 3 ? range[2] : 1;
    if (step < 1 || range[1] < range[0]) {
        section.fail("range",
                     "runs nowhere; must be [from, to] or [from, to, step] with from <= to and "
                     "step >= 1");
    }
    axis.from = range[0];
    axis.step = step;
    axis.count = static_cast<std::size_t>((range[1] - range[0]) / step) + 1;
    axis.at = section.raw("range")->at;
}

/// The keys of "key" or "keys".
std::vector<std::string> read_keys(ConfigSection& section) {
    if (section.has("key") == section.has("keys")) {
        section.fail("key",
                     "or 'keys' must be there, and only one of them: what varies, e.g. key = "
                     "\"topology.k\"");
    }
    if (section.has("key")) return {section.text("key", std::nullopt)};
    std::vector<std::string> keys;
    const ConfigValue* array = section.raw("keys");
    for (const ConfigValue& item : array->array) {
        if (item.kind != ConfigValue::Kind::text) {
            throw ConfigError(item.at.text() + ": a key is " + item.kind_name() + ", not a text");
        }
        keys.push_back(item.text);
    }
    if (keys.empty()) section.fail("keys", "must be an array of keys, e.g. [\"tp\", \"dp\"]");
    return keys;
}

BatchAxis read_axis(ConfigSection& section) {
    BatchAxis axis;
    axis.keys = read_keys(section);
    const bool alone = section.has("key");
    if (section.has("values") == section.has("range")) {
        section.fail("values", "or 'range' must be there, and only one of them");
    }
    if (section.has("range")) {
        if (!alone) section.fail("range", "is of one key; several vary together by 'values'");
        constexpr std::int64_t kFarthest = std::int64_t{1} << 53;
        read_range(section, *section.integers("range", -kFarthest, kFarthest, 3), axis);
        section.finish();
        return axis;
    }
    const ConfigValue* values = section.raw("values");
    if (values->kind != ConfigValue::Kind::array || values->array.empty()) {
        section.fail("values", "must be an array of at least one value");
    }
    for (const ConfigValue& value : values->array) {
        if (alone) {
            axis.points.push_back({value});
        } else if (value.array.size() == axis.keys.size()) {
            axis.points.push_back(value.array);
        } else {
            throw ConfigError(fmt::format(
                "{}: each of 'values' must be an array of {}, one value for each of 'keys'",
                value.at.text(), axis.keys.size()));
        }
    }
    axis.count = axis.points.size();
    section.finish();
    return axis;
}

BatchEntry read_entry(ConfigSection& section, const std::string& batch) {
    BatchEntry entry;
    entry.label = section.text("label", "");
    entry.base = section.text("base", "");
    if (!entry.base.empty()) entry.base = resolve_beside(entry.base, batch);
    entry.settings = read_settings(section);
    section.finish();
    return entry;
}

/// Once each, in the order in which they come.
void add_column(std::vector<std::string>& columns, const std::string& column) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
        columns.push_back(column);
    }
}

std::size_t size_of(const std::vector<BatchAxis>& axes, const std::string& path) {
    std::size_t size = 1;
    for (const BatchAxis& axis : axes) {
        if (axis.count > kMostExperiments / size) {
            throw ConfigError(
                path, 0, fmt::format("the axes span more than {} experiments", kMostExperiments));
        }
        size *= axis.count;
    }
    return size;
}

void check_keys(const std::vector<BatchAxis>& axes, const std::string& path) {
    std::vector<std::string> seen;
    for (const BatchAxis& axis : axes) {
        for (const std::string& key : axis.keys) {
            if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
                throw ConfigError(path, 0, shown_text(key) + " varies twice");
            }
            seen.push_back(key);
        }
    }
}

}  // namespace

std::vector<BatchSetting> read_settings(ConfigSection& section) {
    std::vector<BatchSetting> settings;
    const ConfigValue* table = section.raw("set");
    if (table == nullptr) return settings;
    if (table->kind != ConfigValue::Kind::table) {
        section.fail("set", std::string("is ") + table->kind_name() +
                                "; must be a table of the scenario's keys, e.g. "
                                "{ congestion.law = \"dcqcn\" }");
    }
    add_settings(*table, "", settings);
    return settings;
}

std::string resolve_beside(const std::string& file, const std::string& path) {
    namespace fs = std::filesystem;
    const fs::path beside = fs::path(path).parent_path() / file;
    std::error_code ignored;
    return fs::exists(beside, ignored) ? beside.lexically_normal().string() : file;
}

/// What is there is a list.
void Batch::take_entries(std::vector<BatchEntry> entries) {
    entries_ = std::move(entries);
    size_ = entries_.size();
    add_column(columns_, kLabel);
    for (const BatchEntry& entry : entries_) {
        if (entry.base.empty() && base_.empty()) {
            throw ConfigError(path_, 0,
                              "an [[experiment]] has no 'base', and neither has the batch");
        }
        for (const BatchSetting& setting : entry.settings) add_column(columns_, setting.key);
    }
}

void Batch::load_scenarios(const LoadScenario& load) {
    for (std::size_t i = 0; i < size_ && (i == 0 || !entries_.empty()); ++i) {
        const std::string& file = base_of(i);
        if (scenarios_.count(file) == 0) scenarios_[file] = load(file);
    }
}

Batch Batch::of_entries(std::string name, std::string path, std::string base,
                        std::vector<BatchSetting> settings, std::vector<BatchEntry> entries,
                        const LoadScenario& load) {
    Batch batch;
    batch.name_ = std::move(name);
    batch.path_ = std::move(path);
    batch.base_ = std::move(base);
    batch.settings_ = std::move(settings);
    batch.take_entries(std::move(entries));
    batch.load_scenarios(load);
    return batch;
}

Batch parse_batch(const std::string& text, const std::string& path, const LoadScenario& load) {
    const ConfigValue values = parse_config(text, path);
    EffectiveConfig unused;
    ConfigSection root(values, unused);
    Batch batch;
    batch.path_ = path;
    batch.name_ = read_name(root, path);
    const std::string base = root.text("base", "");
    if (!base.empty()) batch.base_ = resolve_beside(base, path);
    batch.settings_ = read_settings(root);
    for (ConfigSection& section : root.tables("axis")) batch.axes_.push_back(read_axis(section));
    std::vector<BatchEntry> entries;
    for (ConfigSection& section : root.tables("experiment")) {
        entries.push_back(read_entry(section, path));
    }
    root.finish();
    if (!batch.axes_.empty() && !entries.empty()) {
        root.fail("experiment", "and 'axis' exclude each other: a batch is a list or a product");
    }
    if (entries.empty()) {
        if (base.empty()) root.fail("base", "is missing: the scenario that all experiments share");
        check_keys(batch.axes_, path);
        batch.size_ = size_of(batch.axes_, path);
        for (const BatchAxis& axis : batch.axes_) {
            for (const std::string& key : axis.keys) add_column(batch.columns_, key);
        }
    } else {
        batch.take_entries(std::move(entries));
    }
    batch.load_scenarios(load);
    return batch;
}

ConfigValue BatchAxis::value(std::size_t point, std::size_t key) const {
    if (!points.empty()) return points[point][key];
    ConfigValue integer;
    integer.kind = ConfigValue::Kind::integer;
    integer.integer = from + step * static_cast<std::int64_t>(point);
    integer.at = at;
    return integer;
}

Batch load_batch(const std::string& path) { return parse_batch(read_config_text(path), path); }

void Batch::override_all(const std::string& assignment) {
    ConfigValue tried = scenario(0);
    override_config(tried, assignment);
    overrides_.push_back(assignment);
}

const std::string& Batch::base_of(std::size_t experiment) const {
    const bool own = !entries_.empty() && !entries_[experiment].base.empty();
    return own ? entries_[experiment].base : base_;
}

std::vector<std::size_t> Batch::points_of(std::size_t experiment) const {
    std::vector<std::size_t> points(axes_.size());
    for (std::size_t a = axes_.size(); a-- > 0;) {
        points[a] = experiment % axes_[a].count;
        experiment /= axes_[a].count;
    }
    return points;
}

/// In the order in which they are set.
void Batch::visit_settings(std::size_t experiment, const TakeSetting& take) const {
    for (const BatchSetting& setting : settings_) take(setting.key, setting.value);
    const std::vector<std::size_t> points = points_of(experiment);
    for (std::size_t a = 0; a < axes_.size(); ++a) {
        for (std::size_t k = 0; k < axes_[a].keys.size(); ++k) {
            take(axes_[a].keys[k], axes_[a].value(points[a], k));
        }
    }
    if (entries_.empty()) return;
    for (const BatchSetting& own : entries_[experiment].settings) take(own.key, own.value);
}

std::vector<std::string> Batch::values(std::size_t experiment) const {
    std::vector<std::string> texts(columns_.size());
    if (!entries_.empty()) texts[0] = printable_line(entries_[experiment].label);
    visit_settings(experiment, [&](const std::string& key, const ConfigValue& value) {
        const auto column = std::find(columns_.begin(), columns_.end(), key);
        if (column == columns_.end()) return;  // the same for all
        texts[static_cast<std::size_t>(column - columns_.begin())] =
            printable_line(written(value, false));
    });
    return texts;
}

ConfigValue Batch::scenario(std::size_t experiment, std::string* path) const {
    const std::string& file = base_of(experiment);
    ConfigValue values = scenarios_.at(file);
    visit_settings(experiment, [&](const std::string& key, const ConfigValue& value) {
        set_config(values, key, value, value.at.text());
    });
    for (const std::string& assignment : overrides_) override_config(values, assignment);
    if (path != nullptr) *path = file;
    return values;
}

std::string digest_of(const ConfigValue& scenario) {
    memo::Digester digester;
    for (const char letter : written(scenario, true)) {
        digester.take(static_cast<unsigned char>(letter));
    }
    return digester.digest().text();
}

}  // namespace sluice
