// SPDX-License-Identifier: Apache-2.0
#include "scenario/combinations/combinations.h"

#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "scenario/scenario.h"

namespace sluice {

namespace {

bool matches(const char* pattern, const char* key) {
    if (*pattern == '*') {
        return matches(pattern + 1, key) || (*key != '\0' && matches(pattern, key + 1));
    }
    return *pattern == *key && (*key == '\0' || matches(pattern + 1, key + 1));
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
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
        std::string spaced = path;
        std::replace(spaced.begin(), spaced.end(), '.', ' ');
        tables = words_of(spaced);
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
    bool named = subject == key;
    for (const std::string& word : words_of(subject)) {
        if (word.front() == '!' && word.substr(1) == key) return false;
        named = named || matches(word.c_str(), key.c_str());
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
