// SPDX-License-Identifier: Apache-2.0
#include "scenario/effective_keys.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

void append(const std::string& name, const Json& node, std::vector<EffectiveKey>& keys) {
    if (node.is_structured()) {
        for (const auto& [member, value] : node.items()) {
            append(name.empty() ? member : name + "." + member, value, keys);
        }
    } else if (node.is_boolean()) {
        keys.push_back({name, node.get<bool>()});
    } else if (node.is_string()) {
        keys.push_back({name, node.get<std::string>()});
    } else if (node.is_number_integer() &&
               !(node.is_number_unsigned() && node.get<std::uint64_t>() > INT64_MAX)) {
        keys.push_back({name, node.get<std::int64_t>()});
    } else if (node.is_number()) {
        keys.push_back({name, node.get<double>()});
    }
}

}  // namespace

std::vector<EffectiveKey> effective_keys(const EffectiveConfig& effective) {
    std::vector<EffectiveKey> keys;
    append("", Json::parse(effective.json()), keys);
    return keys;
}

}  // namespace sluice
