// SPDX-License-Identifier: Apache-2.0
/// A batch file: a base scenario, and what varies from experiment to experiment. Keys: docs/batch.md.
/// Experiments are numbered from 0: with axes, the cross product of their points, the last axis fastest; else
/// in the order of the list.
/// Errors: ConfigError with file, line and column, what is wrong and what is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/text/config_section.h"
#include "core/text/config_value.h"

namespace sluice {

/// A key of the scenario and what it is set to.
struct BatchSetting {
    std::string key;
    ConfigValue value;
};

/// Keys that vary together, and their values at each point: listed, or integers at equal distances.
struct BatchAxis {
    std::vector<std::string> keys;
    std::vector<std::vector<ConfigValue>> points;  ///< empty: a range
    std::int64_t from = 0;
    std::int64_t step = 1;
    std::size_t count = 0;  ///< of points
    ConfigPosition at;      ///< of a range

    ConfigValue value(std::size_t point, std::size_t key) const;
};

/// An experiment of a list.
struct BatchEntry {
    std::string label;
    std::string base;  ///< empty: the batch's
    std::vector<BatchSetting> settings;
};

/// Reads a scenario, by its path.
using LoadScenario = std::function<ConfigValue(const std::string& path)>;

class Batch {
  public:
    /// A list made by a program: every entry is an experiment. `path` names where it is from; an entry without a base of
    /// its own has `base`. ConfigError if it has none, or if a scenario cannot be read.
    static Batch of_entries(std::string name, std::string path, std::string base,
                            std::vector<BatchSetting> settings, std::vector<BatchEntry> entries,
                            const LoadScenario& load = load_config);

    const std::string& name() const { return name_; }
    std::size_t size() const { return size_; }
    /// What differs: the axes' keys, or "label" and each key that an entry of the list sets.
    const std::vector<std::string>& columns() const { return columns_; }
    /// Of one experiment, by column; "" where an entry of a list sets nothing.
    std::vector<std::string> values(std::size_t experiment) const;
    /// The scenario with everything set, as its file's values; `path`, if it is not null, becomes its file.
    ConfigValue scenario(std::size_t experiment, std::string* path = nullptr) const;
    /// Sets a key of all experiments, after what the file sets: "key=value".
    void override_all(const std::string& assignment);

  private:
    friend Batch parse_batch(const std::string& text, const std::string& path,
                             const LoadScenario& load);

    void take_entries(std::vector<BatchEntry> entries);
    void load_scenarios(const LoadScenario& load);
    using TakeSetting = std::function<void(const std::string& key, const ConfigValue& value)>;
    void visit_settings(std::size_t experiment, const TakeSetting& take) const;
    const std::string& base_of(std::size_t experiment) const;
    std::vector<std::size_t> points_of(std::size_t experiment) const;

    std::string name_;
    std::string path_;
    std::string base_;                              ///< as a path; empty: every entry has its own
    std::map<std::string, ConfigValue> scenarios_;  ///< by path, as their files have them
    std::vector<BatchSetting> settings_;            ///< of all
    std::vector<std::string> overrides_;            ///< of all
    std::vector<BatchAxis> axes_;
    std::vector<BatchEntry> entries_;
    std::vector<std::string> columns_;
    std::size_t size_ = 0;
};

/// 32 digits: a scenario of another content has another one. What files that it names hold is not in it.
std::string digest_of(const ConfigValue& scenario);

/// The table "set" of a section: "topology.k = 4" sets a key of a table, "topology = { type = "fat-tree" }" replaces it.
std::vector<BatchSetting> read_settings(ConfigSection& section);
/// "base" as messages and load_config() take it: beside the file at `path`, or from the working directory.
std::string resolve_beside(const std::string& file, const std::string& path);

/// The most experiments of a batch.
constexpr std::size_t kMostExperiments = 1'000'000;

Batch load_batch(const std::string& path);
/// From text; `path` names it, and what it names is looked for beside it.
Batch parse_batch(const std::string& text, const std::string& path,
                  const LoadScenario& load = load_config);

}  // namespace sluice
