// SPDX-License-Identifier: Apache-2.0
#include "core/config/scenario_value.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace sluice {

/// A check of toml++'s own that did not hold.
struct TomlCheckFailed : std::logic_error {
    TomlCheckFailed() : std::logic_error("toml++") {}
};
[[noreturn]] inline void toml_check_failed() { throw TomlCheckFailed(); }

}  // namespace sluice

// toml++ 3.3 leaves some malformed input (a table header "[[[") to assertions, which a release
// build turns into assumptions, i.e. undefined behaviour. Here they stay, as exceptions.
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : ::sluice::toml_check_failed())
#include <toml++/toml.h>

namespace sluice {

namespace {

constexpr std::size_t kMaxFileBytes = 64U << 20U;
constexpr std::size_t kMaxOverridePath = 16;
constexpr std::size_t kMaxShown = 60;

ConfigPosition position(const toml::source_region& region,
                        const std::shared_ptr<const std::string>& source) {
    return {source, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

bool written_before(const ConfigPosition& a, const ConfigPosition& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

ConfigValue convert(const toml::node& node, const std::shared_ptr<const std::string>& source) {
    ConfigValue value;
    value.at = position(node.source(), source);
    if (const auto* table = node.as_table()) {
        value.kind = ConfigValue::Kind::table;
        for (const auto& [key, child] : *table) {
            value.table.push_back({std::string(key.str()), position(key.source(), source),
                                   convert(child, source)});
        }
        // toml++ keeps keys sorted by name; messages and dumps follow the file.
        std::stable_sort(value.table.begin(), value.table.end(),
                         [](const ConfigMember& a, const ConfigMember& b) {
                             return written_before(a.at, b.at);
                         });
    } else if (const auto* array = node.as_array()) {
        value.kind = ConfigValue::Kind::array;
        value.array.reserve(array->size());
        for (const auto& child : *array) value.array.push_back(convert(child, source));
    } else if (const auto* text = node.as_string()) {
        value.kind = ConfigValue::Kind::text;
        value.text = text->get();
    } else if (const auto* integer = node.as_integer()) {
        value.kind = ConfigValue::Kind::integer;
        value.integer = integer->get();
    } else if (const auto* number = node.as_floating_point()) {
        value.kind = ConfigValue::Kind::number;
        value.number = number->get();
    } else if (const auto* boolean = node.as_boolean()) {
        value.kind = ConfigValue::Kind::boolean;
        value.boolean = boolean->get();
    } else {
        value.kind = ConfigValue::Kind::date;
    }
    return value;
}

void place(ConfigValue& value, const ConfigPosition& at) {
    value.at = at;
    for (ConfigValue& item : value.array) place(item, at);
    for (ConfigMember& member : value.table) {
        member.at = at;
        place(member.value, at);
    }
}

ConfigValue parse_override_value(const std::string& text, const ConfigPosition& at) {
    ConfigValue value;
    try {
        const toml::table parsed = toml::parse("v = " + text, std::string_view("option"));
        // One assignment only: a line break in the text must not smuggle in other keys.
        if (parsed.size() == 1 && parsed.contains("v")) {
            value = convert(*parsed.get("v"), at.source);
            place(value, at);
            return value;
        }
    } catch (const toml::parse_error&) {
        // Not TOML: a bare word such as 100Gbps is taken as a text below.
    } catch (const TomlCheckFailed&) {
        // Nor this.
    }
    value.kind = ConfigValue::Kind::text;
    value.text = text;
    value.at = at;
    return value;
}

std::vector<std::string> split_path(const std::string& path) {
    std::vector<std::string> parts;
    std::istringstream stream(path);
    for (std::string part; std::getline(stream, part, '.');) parts.push_back(part);
    if (!path.empty() && path.back() == '.') parts.emplace_back();
    return parts;
}

ConfigValue& step_into(ConfigValue& parent, const std::string& part, const ConfigPosition& at) {
    if (parent.kind == ConfigValue::Kind::array) {
        const bool digits = !part.empty() && part.size() <= 9 &&
                            part.find_first_not_of("0123456789") == std::string::npos;
        const std::size_t index = digits ? std::stoul(part) : parent.array.size();
        if (index >= parent.array.size()) {
            throw ConfigError(at.text() + ": " + shown_text(part) + " is no index of this array of " +
                              std::to_string(parent.array.size()) + " entries (counted from 0)");
        }
        return parent.array[index];
    }
    if (parent.kind != ConfigValue::Kind::table) {
        throw ConfigError(at.text() + ": the part before " + shown_text(part) + " is " +
                          parent.kind_name() + ", not a table");
    }
    for (ConfigMember& member : parent.table) {
        if (member.key == part) return member.value;
    }
    parent.table.push_back({part, at, {}});
    parent.table.back().value.at = at;
    return parent.table.back().value;
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

/// The first line with which toml++ gives up without saying where: it does so with every prefix of
/// the text that holds this line, and with none that does not.
int line_of_failed_check(const std::string& text) {
    std::vector<std::size_t> ends;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\n' || at + 1 == text.size()) ends.push_back(at + 1);
    }
    const auto passes = [&text](std::size_t end) {
        try {
            static_cast<void>(toml::parse(std::string_view(text).substr(0, end)));
        } catch (const toml::parse_error&) {
            return true;
        } catch (const TomlCheckFailed&) {
            return false;
        }
        return true;
    };
    const auto first = std::partition_point(ends.begin(), ends.end(), passes);
    return static_cast<int>(first - ends.begin()) + 1;
}

}  // namespace

std::string ConfigPosition::text() const {
    const std::string name = source ? *source : std::string("scenario");
    if (line <= 0) return name;
    return name + ":" + std::to_string(line) + ":" + std::to_string(column);
}

const ConfigMember* ConfigValue::find(const std::string& key) const {
    for (const ConfigMember& member : table) {
        if (member.key == key) return &member;
    }
    return nullptr;
}

const char* ConfigValue::kind_name() const {
    switch (kind) {
        case Kind::text: return "a text";
        case Kind::integer: return "an integer";
        case Kind::number: return "a number";
        case Kind::boolean: return "a boolean";
        case Kind::date: return "a date";
        case Kind::array: return "an array";
        case Kind::table: return "a table";
    }
    return "a value";
}

std::string ConfigValue::shown() const {
    switch (kind) {
        case Kind::text: return shown_text(text);
        case Kind::integer: return std::to_string(integer);
        case Kind::number: {
            std::ostringstream out;
            out << number;
            return out.str();
        }
        case Kind::boolean: return boolean ? "true" : "false";
        default: return kind_name();
    }
}

ConfigValue parse_config(const std::string& text, const std::string& source) {
    const auto shared = std::make_shared<const std::string>(source);
    try {
        return convert(toml::parse(text, source), shared);
    } catch (const toml::parse_error& error) {
        throw ConfigError(position(error.source(), shared).text() +
                          ": not valid TOML: " + std::string(error.description()));
    } catch (const TomlCheckFailed&) {
        throw ConfigError(source, line_of_failed_check(text),
                          "not valid TOML: no key where one must be");
    }
}

ConfigValue load_config(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw ConfigError(path + ": cannot be opened for reading");
    std::string text(kMaxFileBytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad()) throw ConfigError(path + ": cannot be read (is it a folder?)");
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) {
        throw ConfigError(path + ": is larger than 64 MiB, the most a scenario may have");
    }
    return parse_config(text, path);
}

void override_config(ConfigValue& root, const std::string& assignment,
                     const std::string& option) {
    const ConfigPosition at{
        std::make_shared<const std::string>(option + " " + shown_text(assignment)), 0, 0};
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw ConfigError(at.text() + ": must read key=value, for example network.payload=4096");
    }
    const std::vector<std::string> parts = split_path(assignment.substr(0, equals));
    if (parts.size() > kMaxOverridePath) {
        throw ConfigError(at.text() + ": the key has more than 16 parts");
    }
    ConfigValue* target = &root;
    for (const std::string& part : parts) {
        if (part.empty()) throw ConfigError(at.text() + ": the key has an empty part");
        target = &step_into(*target, part, at);
    }
    *target = parse_override_value(assignment.substr(equals + 1), at);
}

std::string shown_text(const std::string& text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i == kMaxShown) {
            out += "...";
            break;
        }
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 || c == 0x7f) {
            static const char* const kHex = "0123456789abcdef";
            out += "\\x";
            out += kHex[c >> 4U];
            out += kHex[c & 15U];
        } else {
            out += text[i];
        }
    }
    return out + "\"";
}

std::string nearest_word(const std::string& word, const std::vector<std::string>& known) {
    if (word.size() > 64) return "";
    std::string best;
    std::size_t least = std::max<std::size_t>(2, word.size() / 2) + 1;
    for (const std::string& candidate : known) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace sluice
