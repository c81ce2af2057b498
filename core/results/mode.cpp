// SPDX-License-Identifier: Apache-2.0
#include "core/results/mode.h"

#include "core/error.h"
#include "core/text/config_value.h"

namespace sluice {

const std::vector<std::pair<const char*, Mode>>& mode_words() {
    static const std::vector<std::pair<const char*, Mode>> kWords{{"packet", Mode::packet},
                                                                  {"hybrid", Mode::hybrid},
                                                                  {"wormhole", Mode::wormhole},
                                                                  {"flow", Mode::flow}};
    return kWords;
}

const char* mode_name(Mode mode) {
    for (const auto& [name, value] : mode_words()) {
        if (value == mode) return name;
    }
    throw InternalError("unknown mode");
}

Mode parse_mode(const std::string& word, const std::string& what) {
    std::vector<std::string> names;
    std::string allowed;
    for (const auto& [name, value] : mode_words()) {
        if (word == name) return value;
        names.emplace_back(name);
        allowed += (allowed.empty() ? "" : ", ") + names.back();
    }
    const std::string near = nearest_word(word, names);
    throw ConfigError(what + ": " + shown_text(word) + " is not a mode; must be one of " + allowed +
                      (near.empty() ? "" : " (nearest: " + near + ")"));
}

}  // namespace sluice
