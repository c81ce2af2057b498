// SPDX-License-Identifier: Apache-2.0
#include "scenario/combinations/combinations.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

bool matches(std::string_view pattern, std::string_view key) {
    if (pattern.empty() || key.empty()) {
        return key.empty() && pattern.find_first_not_of('*') == std::string_view::npos;
    }
    if (pattern.front() == '*') {
        return matches(pattern.substr(1), key) || matches(pattern, key.substr(1));
    }
    return pattern.front() == key.front() && matches(pattern.substr(1), key.substr(1));
}

/// Removes the first word of a text and returns it; empty: there was none. Every run asks for all rules: nothing is
/// allocated.
std::string_view take_word(std::string_view& text, char separator = ' ') {
    text.remove_prefix(std::min(text.find_first_not_of(separator), text.size()));
    const std::string_view word = text.substr(0, text.find(separator));
    text.remove_prefix(word.size());
    return word;
}

std::vector<std::string> words_of(std::string_view text, char separator = ' ') {
    std::vector<std::string> words;
    for (std::string_view word; !(word = take_word(text, separator)).empty();) {
        words.emplace_back(word);
    }
    return words;
}

void replace(std::string& text, const std::string& name, const std::string& value) {
    const std::size_t at = text.find(name);
    if (at != std::string::npos) text.replace(at, name.size(), value);
}

bool is_option(const std::string& subject) { return subject.rfind("--", 0) == 0; }

const CombinationRule* first_of(Effect effect, const std::string& subject,
                                const Configuration& configuration) {
    for (const CombinationRule& rule : combination_rules()) {
        if (rule.effect == effect && rule.is_of(subject) && rule.applies(configuration)) {
            return &rule;
        }
    }
    return nullptr;
}

/// Fails at the first key of the rule that is given, or where its table would have the last one.
[[noreturn]] void fail_by(const CombinationRule& rule, const Configuration& configuration,
                          ConfigSection& root) {
    std::vector<std::string> tables;
    std::string key;
    for (const std::string& path : words_of(rule.subject)) {
        tables = words_of(path, '.');
        key = tables.back();
        tables.pop_back();
        if (configuration.gives(path)) break;
    }
    ConfigSection section = root;
    for (const std::string& table : tables) section = section.table(table);
    section.fail(key, text_of(rule, configuration));
}

void collect(const Configuration& configuration, const ConfigValue& table, const std::string& path,
             std::vector<std::string>& keys) {
    for (const ConfigMember& member : table.table) {
        const std::string key = path + member.key;
        if (member.value.kind == ConfigValue::Kind::table) {
            collect(configuration, member.value, key + ".", keys);
            continue;
        }
        const CombinationRule* const rule = first_of(Effect::no_effect, key, configuration);
        if (rule != nullptr) keys.push_back(key + ": " + rule->text);
    }
}

}  // namespace

bool CombinationRule::is_of(const std::string& key) const {
    // No pattern stands for the run: nothing need be taken apart for it.
    if (key.empty()) return subject.empty();
    bool named = subject == key;
    std::string_view rest = subject;
    for (std::string_view word; !(word = take_word(rest)).empty();) {
        if (word.front() == '!' && word.substr(1) == key) return false;
        named = named || matches(word, key);
    }
    return named;
}

std::string text_of(const CombinationRule& rule, const Configuration& configuration) {
    std::string text = rule.text;
    replace(text, "{mode}", mode_name(configuration.mode));
    if (text.find("{why}") != std::string::npos) {
        replace(text, "{why}", why_not(Effect::not_local, configuration));
    }
    return text;
}

void refuse_keys(const Configuration& configuration, ConfigSection& root) {
    for (const CombinationRule& rule : combination_rules()) {
        const bool of_keys = !rule.subject.empty() && !is_option(rule.subject);
        if (rule.effect == Effect::refused && of_keys && rule.applies(configuration)) {
            fail_by(rule, configuration, root);
        }
    }
}

void refuse(const Configuration& configuration, const std::string& subject,
            const std::string& where) {
    const CombinationRule* const rule = first_of(Effect::refused, subject, configuration);
    if (rule == nullptr) return;
    const std::string joint = subject.empty() ? "" : is_option(subject) ? ": " : " ";
    throw ConfigError((where.empty() ? "" : where + ": ") + subject + joint +
                      text_of(*rule, configuration));
}

void refuse(const Configuration& configuration, Effect effect, const std::string& where) {
    const std::string fault = why_not(effect, configuration);
    if (!fault.empty()) throw ConfigError((where.empty() ? "" : where + ": ") + fault);
}

std::string why_not(Effect effect, const Configuration& configuration) {
    const CombinationRule* const rule = first_of(effect, "", configuration);
    return rule == nullptr ? "" : text_of(*rule, configuration);
}

const CombinationRule* automatic_choice(const std::string& subject,
                                        const Configuration& configuration) {
    return first_of(Effect::automatic, subject, configuration);
}

std::vector<std::string> keys_without_effect(const Scenario& scenario) {
    std::vector<std::string> keys;
    if (scenario.values) collect(Configuration(scenario), *scenario.values, "", keys);
    return keys;
}

}  // namespace sluice
