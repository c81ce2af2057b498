// SPDX-License-Identifier: Apache-2.0
/// A scenario file as a tree of values, each of which remembers where it was written, so that a
/// mistake found long after parsing still names its file, line and column. Units are still text
/// here: core/text/config_section.h gives them meaning.
/// Errors: ConfigError for malformed TOML, an unreadable file, or an override that does not fit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// Where a value was written. Line and column count from 1; line 0: not from a file (an override).
struct ConfigPosition {
    std::shared_ptr<const std::string> source;
    int line = 0;
    int column = 0;

    /// "file:line:column", or the override's own text.
    std::string text() const;
};

struct ConfigMember;

struct ConfigValue {
    enum class Kind : std::uint8_t { text, integer, number, boolean, date, array, table };

    Kind kind = Kind::table;
    bool braces = false;  ///< a table that is written in braces, whole
    bool boolean = false;
    std::int64_t integer = 0;
    double number = 0;
    std::string text;
    std::vector<ConfigValue> array;
    std::vector<ConfigMember> table;  ///< in the order of the file
    ConfigPosition at;

    const ConfigMember* find(const std::string& key) const;
    /// "a text", "an integer", ...: for messages.
    const char* kind_name() const;
    /// The value as the user wrote it, shortened: for messages.
    std::string shown() const;
};

struct ConfigMember {
    std::string key;
    ConfigPosition at;  ///< of the key
    ConfigValue value;
};

/// Parses TOML text; `source` names it in messages.
ConfigValue parse_config(const std::string& text, const std::string& source);

/// The text of a TOML file of at most 64 MiB.
std::string read_config_text(const std::string& path);

/// Reads and parses one.
ConfigValue load_config(const std::string& path);

/// Applies "path.to.key=value" (the argument of `option`). Tables on the way are made as needed, a
/// number steps into an array. The value is read as TOML, or as a text where that fails.
void override_config(ConfigValue& root, const std::string& assignment,
                     const std::string& option = "--set");

/// Sets "path.to.key", as override_config() does, to a value that a program has. `said`: how messages
/// call where it is from, an option of the command line for example.
void set_config(ConfigValue& root, const std::string& path, ConfigValue value,
                const std::string& said);
ConfigValue text_value(std::string text);
ConfigValue boolean_value(bool value);
ConfigValue number_value(double value);

/// `text` between quotes, with control characters made visible and at most 60 characters of it.
std::string shown_text(const std::string& text);

/// The member of `known` with the least edit distance to `word` if it is close enough to be a
/// slip of the finger, else "". Ties go to the first.
std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

}  // namespace sluice
