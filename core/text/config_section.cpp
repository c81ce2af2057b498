// SPDX-License-Identifier: Apache-2.0
#include "core/text/config_section.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

std::string plain(double number) {
    std::ostringstream out;
    out.precision(15);
    out << number;
    return out.str();
}

/// The text of a quantity. A bare number is passed on as text, so that the quantity parser says
/// which units are missing; zero needs none.
std::string quantity_text(const ConfigValue& value, const std::string& what,
                          const std::string& example) {
    if (value.kind == ConfigValue::Kind::text) return value.text;
    if (value.kind == ConfigValue::Kind::integer && value.integer >= 0) {
        return std::to_string(value.integer);
    }
    if (value.kind == ConfigValue::Kind::integer || value.kind == ConfigValue::Kind::number) {
        fail_at({value.at.text(), 0, what},
                value.shown() + ": must be a text with its unit, such as \"" + example + "\"");
    }
    fail_at({value.at.text(), 0, what}, std::string("is ") + value.kind_name() +
                                            "; must be a text with its unit, such as \"" + example +
                                            "\"");
}

std::string named(const std::string& key) { return "'" + key + "'"; }

std::string join(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

}  // namespace

struct EffectiveConfig::Tree {
    nlohmann::ordered_json root = nlohmann::ordered_json::object();

    /// The value at a path of keys, and of indices where there is an array; what is missing is made.
    nlohmann::ordered_json& at(const std::vector<std::string>& path) {
        nlohmann::ordered_json* node = &root;
        for (const std::string& step : path) {
            node = node->is_array() ? &(*node)[std::stoul(step)] : &(*node)[step];
        }
        return *node;
    }
};

EffectiveConfig::EffectiveConfig(bool recorded) {
    if (recorded) tree_ = std::make_unique<Tree>();
}
EffectiveConfig::~EffectiveConfig() = default;

std::string EffectiveConfig::json() const {
    if (tree_ == nullptr) return {};
    // A user's text may hold bytes that are no UTF-8 (from --set): replace, never throw.
    return tree_->root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

ConfigSection::ConfigSection(const ConfigValue& value, EffectiveConfig& effective, std::string name)
    : value_(&value), at_(value.at), effective_(&effective), name_(std::move(name)) {
    if (value.kind != ConfigValue::Kind::table) {
        fail_at({value.at.text(), 0, named(name_)},
                std::string("is ") + value.kind_name() + "; must be a table");
    }
}

std::string ConfigSection::full_name(const std::string& key) const {
    return name_.empty() ? key : name_ + "." + key;
}

template <typename Recorded>
void ConfigSection::record(const std::string& key, const Recorded& value) {
    if (records()) effective_->tree_->at(path_)[key] = value;
}

const ConfigValue* ConfigSection::look_up(const std::string& key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
    const ConfigMember* member = value_->find(key);
    return member == nullptr ? nullptr : &member->value;
}

const ConfigValue& ConfigSection::require(const std::string& key) {
    const ConfigValue* value = look_up(key);
    if (value == nullptr) {
        fail_at({where(key), 0, named(key)},
                "is missing" + (name_.empty() ? std::string() : " from [" + name_ + "]"));
    }
    return *value;
}

void ConfigSection::wrong_type(const std::string& key, const ConfigValue& value,
                               const std::string& wanted) const {
    fail(key, "is " + value.shown() + "; must be " + wanted);
}

std::string ConfigSection::where(const std::string& key) const {
    const ConfigMember* member = value_->find(key);
    return member == nullptr ? at_.text() : member->value.at.text();
}

void ConfigSection::fail(const std::string& key, const std::string& message) const {
    fail_at({where(key), 0, named(key)}, message);
}

bool ConfigSection::has(const std::string& key) { return look_up(key) != nullptr; }

std::int64_t ConfigSection::integer(const std::string& key, std::optional<std::int64_t> fallback,
                                    std::int64_t lowest, std::int64_t highest) {
    const ConfigValue* value = fallback ? look_up(key) : &require(key);
    const std::int64_t result =
        value == nullptr ? *fallback : integer_of(*value, named(key), lowest, highest);
    record(key, result);
    return result;
}

double ConfigSection::number(const std::string& key, std::optional<double> fallback, double lowest,
                             double highest) {
    const ConfigValue* value = fallback ? look_up(key) : &require(key);
    double result = 0;
    if (value == nullptr) {
        result = *fallback;
    } else {
        const auto refuse = [&] {
            wrong_type(key, *value, "a number from " + plain(lowest) + " to " + plain(highest));
        };
        if (value->kind == ConfigValue::Kind::number) {
            result = value->number;
        } else if (value->kind == ConfigValue::Kind::integer) {
            result = static_cast<double>(value->integer);
        } else {
            refuse();
        }
        if (!std::isfinite(result) || result < lowest || result > highest) {
            refuse();
        }
    }
    record(key, result);
    return result;
}

bool ConfigSection::flag(const std::string& key, bool fallback) {
    const ConfigValue* value = look_up(key);
    if (value != nullptr && value->kind != ConfigValue::Kind::boolean) {
        wrong_type(key, *value, "true or false");
    }
    const bool result = value == nullptr ? fallback : value->boolean;
    record(key, result);
    return result;
}

std::string ConfigSection::text(const std::string& key, std::optional<std::string> fallback) {
    const ConfigValue* value = fallback ? look_up(key) : &require(key);
    if (value != nullptr && value->kind != ConfigValue::Kind::text) {
        wrong_type(key, *value, "a text");
    }
    std::string result = value == nullptr ? *fallback : value->text;
    record(key, result);
    return result;
}

Tick ConfigSection::time(const std::string& key, std::optional<Tick> fallback, Tick lowest,
                         Tick highest) {
    const ConfigValue* value = fallback ? look_up(key) : &require(key);
    const Tick result = value == nullptr ? *fallback : time_of(*value, named(key));
    if (value != nullptr && (result < lowest || result > highest)) {
        wrong_type(key, *value,
                   "a time from " + format_time(lowest) + " to " + format_time(highest));
    }
    if (records() && result != kNever) record(key, format_time(result));
    return result;
}

Rate ConfigSection::rate(const std::string& key, std::optional<Rate> fallback) {
    constexpr std::int64_t kLowest = 1'000'000;
    constexpr std::int64_t kHighest = 100'000'000'000'000;
    const ConfigValue* value = fallback ? look_up(key) : &require(key);
    Rate result;
    if (value == nullptr) {
        result = *fallback;
    } else {
        const std::string place = value->at.text();
        const std::string what = named(key);
        result = parse_rate(quantity_text(*value, what, "100Gbps"), {place, 0, what});
        if (result.bits_per_second < kLowest || result.bits_per_second > kHighest) {
            wrong_type(key, *value, "a rate from 1Mbps to 100Tbps");
        }
    }
    if (records()) record(key, format_rate(result));
    return result;
}

Bytes ConfigSection::bytes(const std::string& key, std::optional<Bytes> fallback, Bytes lowest,
                           Bytes highest) {
    const ConfigValue* value = fallback ? look_up(key) : &require(key);
    const Bytes result = value == nullptr ? *fallback : bytes_of(*value, named(key));
    if (value != nullptr && (result < lowest || highest < result)) {
        wrong_type(key, *value,
                   "a size from " + format_bytes(lowest) + " to " + format_bytes(highest));
    }
    if (records()) record(key, format_bytes(result));
    return result;
}

std::int32_t ConfigSection::packet_bytes(const std::string& key, std::int32_t fallback,
                                         std::int32_t lowest, std::int32_t highest) {
    const ConfigValue* value = look_up(key);
    std::int64_t result = fallback;
    if (value != nullptr) {
        result = value->kind == ConfigValue::Kind::integer ? value->integer
                                                           : bytes_of(*value, named(key)).count;
        if (result < lowest || result > highest) {
            wrong_type(
                key, *value,
                "from " + std::to_string(lowest) + " to " + std::to_string(highest) + " bytes");
        }
    }
    record(key, result);
    return static_cast<std::int32_t>(result);
}

std::size_t ConfigSection::choice_index(const std::string& key, const std::string& fallback,
                                        const std::vector<std::string>& words) {
    const ConfigValue* value = fallback.empty() ? &require(key) : look_up(key);
    const auto allowed = [&] { return "one of " + join(words); };
    if (value != nullptr && value->kind != ConfigValue::Kind::text) {
        wrong_type(key, *value, allowed());
    }
    const std::string& word = value == nullptr ? fallback : value->text;
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) {
        const std::string near = nearest_word(word, words);
        fail(key, "is " + shown_text(word) + "; must be " + allowed() +
                      (near.empty() ? "" : " (nearest: " + near + ")"));
    }
    record(key, word);
    return static_cast<std::size_t>(found - words.begin());
}

std::optional<std::vector<std::int64_t>> ConfigSection::integers(const std::string& key,
                                                                 std::int64_t lowest,
                                                                 std::int64_t highest,
                                                                 std::size_t most_entries) {
    return integers(
        key,
        [&](const ConfigValue& item) {
            return integer_of(item, "an entry of " + named(key), lowest, highest);
        },
        most_entries);
}

std::optional<std::vector<std::int64_t>> ConfigSection::integers(
    const std::string& key, const std::function<std::int64_t(const ConfigValue&)>& read,
    std::size_t most_entries) {
    const ConfigValue* value = look_up(key);
    if (value == nullptr) return std::nullopt;
    if (value->kind != ConfigValue::Kind::array || value->array.size() > most_entries) {
        wrong_type(key, *value,
                   "an array of at most " + std::to_string(most_entries) + " integers");
    }
    std::vector<std::int64_t> result;
    for (const ConfigValue& item : value->array) {
        result.push_back(read(item));
    }
    record(key, result);
    return result;
}

ConfigSection ConfigSection::table(const std::string& key) {
    static const ConfigValue kEmpty;
    const ConfigValue* value = look_up(key);
    ConfigSection section(value == nullptr ? kEmpty : *value, *effective_, full_name(key));
    section.path_ = path_;
    section.path_.push_back(key);
    if (value == nullptr) section.at_ = {at_.source, 0, 0};
    return section;
}

std::vector<ConfigSection> ConfigSection::tables(const std::string& key) {
    const ConfigValue* value = look_up(key);
    std::vector<ConfigSection> sections;
    if (value == nullptr) return sections;
    if (value->kind != ConfigValue::Kind::array) wrong_type(key, *value, "an array of tables");
    for (std::size_t i = 0; i < value->array.size(); ++i) {
        sections.emplace_back(value->array[i], *effective_, full_name(key));
        std::vector<std::string>& path = sections.back().path_;
        path = path_;
        path.push_back(key);
        if (records()) {
            effective_->tree_->at(path).push_back(nlohmann::ordered_json::object());
        }
        path.push_back(std::to_string(i));
    }
    return sections;
}

const ConfigValue* ConfigSection::raw(const std::string& key) { return look_up(key); }

void ConfigSection::note(const std::string& key, const std::string& text) { record(key, text); }
void ConfigSection::note(const std::string& key, std::int64_t number) { record(key, number); }

void ConfigSection::finish() {
    for (const ConfigMember& member : value_->table) {
        if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
        const std::string near = nearest_word(member.key, known_);
        std::vector<std::string> sorted = known_;
        std::sort(sorted.begin(), sorted.end());
        throw ConfigError(
            member.at.text() + ": unknown key " + shown_text(member.key) +
            (name_.empty() ? std::string() : " in [" + name_ + "]") +
            (near.empty() ? "; known keys: " + join(sorted) : "; did you mean \"" + near + "\"?"));
    }
}

Tick time_of(const ConfigValue& value, const std::string& what) {
    const std::string place = value.at.text();
    return parse_time(quantity_text(value, what, "10us"), {place, 0, what});
}

Bytes bytes_of(const ConfigValue& value, const std::string& what) {
    const std::string place = value.at.text();
    return parse_bytes(quantity_text(value, what, "8MB"), {place, 0, what});
}

std::int64_t integer_of(const ConfigValue& value, const std::string& what, std::int64_t lowest,
                        std::int64_t highest) {
    if (value.kind != ConfigValue::Kind::integer || value.integer < lowest ||
        value.integer > highest) {
        fail_at({value.at.text(), 0, what}, "is " + value.shown() + "; must be an integer from " +
                                                std::to_string(lowest) + " to " +
                                                std::to_string(highest));
    }
    return value.integer;
}

}  // namespace sluice
