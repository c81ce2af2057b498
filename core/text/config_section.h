// SPDX-License-Identifier: Apache-2.0
/// Reading one table of a scenario. The getters are the schema: a key is known because some code
/// asks for it, with its type, unit, range and default in one place; finish() then refuses what
/// nobody asked for and names the nearest key that exists. Every value handed out, defaults
/// included, is recorded in the effective configuration.
/// All errors are ConfigErrors of one line: "file:line:column: 'key' ...: what is allowed".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/config_value.h"
#include "core/units.h"

namespace sluice {

/// The resolved configuration of a run, defaults filled in, as JSON. Quantities are text with
/// units that a scenario may repeat.
class EffectiveConfig {
  public:
    /// `recorded`: for json(). Else nothing is kept of what is read: cheaper, where nobody asks for it.
    explicit EffectiveConfig(bool recorded = true);
    ~EffectiveConfig();
    EffectiveConfig(const EffectiveConfig&) = delete;
    EffectiveConfig& operator=(const EffectiveConfig&) = delete;

    /// Empty if nothing was recorded.
    std::string json() const;

  private:
    friend class ConfigSection;
    struct Tree;
    std::unique_ptr<Tree> tree_;
};

class ConfigSection {
  public:
    /// `value` and `effective` must outlive the section; `name` is how messages call it: "" for the
    /// whole file, "network.pfc", ...
    ConfigSection(const ConfigValue& value, EffectiveConfig& effective, std::string name = "");

    const std::string& name() const { return name_; }
    bool has(const std::string& key);

    /// With a default: the key may be missing. Without: it must be there.
    std::int64_t integer(const std::string& key, std::optional<std::int64_t> fallback,
                         std::int64_t lowest, std::int64_t highest);
    double number(const std::string& key, std::optional<double> fallback, double lowest,
                  double highest);
    bool flag(const std::string& key, bool fallback);
    std::string text(const std::string& key, std::optional<std::string> fallback);
    Tick time(const std::string& key, std::optional<Tick> fallback, Tick lowest = 0,
              Tick highest = kMaxTime);
    /// From 1 Mb/s to 100 Tb/s.
    Rate rate(const std::string& key, std::optional<Rate> fallback);
    Bytes bytes(const std::string& key, std::optional<Bytes> fallback, Bytes lowest, Bytes highest);
    /// A size of at most a packet: a bare integer is bytes too.
    std::int32_t packet_bytes(const std::string& key, std::int32_t fallback, std::int32_t lowest,
                              std::int32_t highest);
    /// One of a few words.
    template <typename T>
    T choice(const std::string& key, T fallback,
             const std::vector<std::pair<const char*, T>>& words) {
        std::vector<std::string> names;
        names.reserve(words.size());
        std::string fallback_name;
        for (const auto& [name, value] : words) {
            names.emplace_back(name);
            if (value == fallback) fallback_name = name;
        }
        return words[choice_index(key, fallback_name, names)].second;
    }
    /// The position in `words` of the key's text; an empty fallback: the key must be there.
    std::size_t choice_index(const std::string& key, const std::string& fallback,
                             const std::vector<std::string>& words);
    /// An array of integers; nullopt if missing.
    std::optional<std::vector<std::int64_t>> integers(const std::string& key, std::int64_t lowest,
                                                      std::int64_t highest,
                                                      std::size_t most_entries);

    /// The same of entries that are read by `read`, such as names of numbers.
    std::optional<std::vector<std::int64_t>> integers(
        const std::string& key, const std::function<std::int64_t(const ConfigValue&)>& read,
        std::size_t most_entries);

    /// A table below this one; empty if it is missing.
    ConfigSection table(const std::string& key);
    /// An array of tables below this one; empty if it is missing.
    std::vector<ConfigSection> tables(const std::string& key);
    /// The raw value of a key that has a syntax of its own (a list of flows); null if missing.
    const ConfigValue* raw(const std::string& key);

    /// Records something resolved that was not read from a key.
    void note(const std::string& key, const std::string& text);
    void note(const std::string& key, std::int64_t number);

    /// Refuses keys that nobody asked for.
    void finish();

    /// "file:line:column" of a key's value, or of the table if the key is missing.
    std::string where(const std::string& key) const;
    /// Throws: the key's value is wrong: "WHERE: 'key' MESSAGE".
    [[noreturn]] void fail(const std::string& key, const std::string& message) const;

    /// Longest time a scenario may name: about 53 days, half of what a Tick holds, so that sums of
    /// an instant and a duration cannot overflow.
    static constexpr Tick kMaxTime = kNever / 2;

  private:
    const ConfigValue* look_up(const std::string& key);
    const ConfigValue& require(const std::string& key);
    [[noreturn]] void wrong_type(const std::string& key, const ConfigValue& value,
                                 const std::string& wanted) const;
    std::string full_name(const std::string& key) const;
    bool records() const { return effective_->tree_ != nullptr; }
    template <typename Recorded>
    void record(const std::string& key, const Recorded& value);

    const ConfigValue* value_;
    ConfigPosition at_;  ///< of the table, or only the file if the table is missing
    EffectiveConfig* effective_;
    std::string name_;
    std::vector<std::string> path_;  ///< of this table in the effective configuration
    std::vector<std::string> known_;
};

/// An instant of simulated time or a rate or a size, wherever a value stands alone (in a list).
Tick time_of(const ConfigValue& value, const std::string& what);
Bytes bytes_of(const ConfigValue& value, const std::string& what);
std::int64_t integer_of(const ConfigValue& value, const std::string& what, std::int64_t lowest,
                        std::int64_t highest);

}  // namespace sluice
