// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/json_text.h"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "workloads/chakra/text_source.h"

namespace sluice::chakra {

using nlohmann::json;

namespace {

/// What people and tools write nests a dozen levels; a list that opens for ever costs memory.
constexpr int kDeepest = 200;

}  // namespace

void check_json_depth(const std::string& text, const std::string& file) {
    int depth = 0;
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c == '\\') {
                ++at;
            } else if (c == '"') {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kDeepest) {
                throw ConfigError(file, line_at(text, at + 1),
                                  "is nested more than " + std::to_string(kDeepest) + " deep");
            }
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
}

void refuse_json(const std::string& text, const std::string& file, const std::exception& error) {
    if (const auto* parsing = dynamic_cast<const json::parse_error*>(&error)) {
        throw ConfigError(file, line_at(text, parsing->byte), "is not JSON");
    }
    // The library says where only in its words: "number overflow parsing '1e999'".
    const std::string words = error.what();
    const std::size_t begin = std::min(words.find('\''), words.size() - 1) + 1;
    const std::string number = words.substr(begin, words.rfind('\'') - begin);
    const std::size_t at = number.empty() ? std::string::npos : text.find(number);
    throw ConfigError(file, at == std::string::npos ? 0 : line_at(text, at + 1),
                      number + " is beyond what a number can be here (1.8e308)");
}

}  // namespace sluice::chakra
