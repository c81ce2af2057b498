// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/variants.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text/config_value.h"

namespace sluice {

namespace {

/// "a,[b,c],d" as its three parts.
std::vector<std::string> split_values(const std::string& text) {
    std::vector<std::string> values(1);
    int depth = 0;
    char quote = 0;
    for (const char c : text) {
        if (quote != 0) {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' || c == '{') {
            ++depth;
        } else if (c == ']' || c == '}') {
            --depth;
        } else if (c == ',' && depth == 0) {
            values.emplace_back();
            continue;
        }
        values.back() += c;
    }
    return values;
}

template <typename Value>
std::optional<Value> value_of(const nlohmann::json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return std::nullopt;
    return found->get<Value>();
}

}  // namespace

VariedKey parse_varied_key(const std::string& text, const std::string& what) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw ConfigError(what + ": " + shown_text(text) +
                          " is not KEY=VALUE,VALUE,..., e.g. congestion.law=hpcc,dcqcn");
    }
    VariedKey varied{text.substr(0, equals), split_values(text.substr(equals + 1))};
    for (std::size_t i = 0; i < varied.values.size(); ++i) {
        const std::string& value = varied.values[i];
        if (value.empty()) {
            throw ConfigError(what + ": a value of " + shown_text(varied.key) + " is empty");
        }
        if (std::find(varied.values.begin(), varied.values.begin() + static_cast<std::ptrdiff_t>(i),
                      value) != varied.values.begin() + static_cast<std::ptrdiff_t>(i)) {
            throw ConfigError(what + ": " + shown_text(varied.key) + " has " + shown_text(value) +
                              " twice");
        }
    }
    return varied;
}

std::vector<std::vector<std::string>> cross_product(const std::vector<VariedKey>& keys,
                                                    std::size_t most) {
    std::vector<std::vector<std::string>> variants(1);
    for (std::size_t k = 0; k < keys.size(); ++k) {
        for (std::size_t before = 0; before < k; ++before) {
            if (keys[before].key == keys[k].key) {
                throw ConfigError(shown_text(keys[k].key) + " is varied twice");
            }
        }
        if (variants.size() * keys[k].values.size() > most) {
            throw ConfigError("more than " + std::to_string(most) +
                              " variants; allowed: fewer values of fewer keys");
        }
        std::vector<std::vector<std::string>> longer;
        for (const std::vector<std::string>& variant : variants) {
            for (const std::string& value : keys[k].values) {
                longer.push_back(variant);
                longer.back().push_back(value);
            }
        }
        variants = std::move(longer);
    }
    return variants;
}

VariantRow read_variant(const std::string& folder) {
    const std::string path = (std::filesystem::path(folder) / "summary.json").string();
    std::ifstream in(path);
    const nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
    if (!json.is_object()) throw ConfigError(path, 0, "is missing or no summary of a run");
    VariantRow row;
    row.folder = folder;
    row.runs = 1;
    try {
        row.costs.wall_s = json.at("elaboration_s").get<double>() + json.at("wall_s").get<double>();
        row.costs.user_s =
            json.at("elaboration_user_s").get<double>() + json.at("user_s").get<double>();
        row.costs.peak_rss_bytes = json.at("peak_rss_bytes").get<double>();
        row.flows = json.at("flows_completed").get<std::size_t>();
        row.flows_left = json.at("flows").get<std::size_t>() - row.flows;
        const nlohmann::json& fct = json.at("fct_s");
        if (!fct.at("mean").is_null()) {
            row.fct = VariantFct{fct["mean"].get<double>(), fct.at("p50").get<double>(),
                                 fct.at("p99").get<double>(), fct.at("max").get<double>()};
        }
        row.jct_s = value_of<double>(json, "jct_s");
        row.packet_hops = value_of<std::uint64_t>(json, "packet_hops");
        row.ecn_marks = value_of<std::uint64_t>(json, "ecn_marks");
        row.pfc_pauses = value_of<std::uint64_t>(json, "pfc_pauses");
        row.drops = value_of<std::uint64_t>(json, "drops");
        if (std::filesystem::exists(std::filesystem::path(folder) / "flows.csv")) {
            row.seen = read_flows_seen(folder);
        }
    } catch (const nlohmann::json::exception& error) {
        throw ConfigError(path, 0, std::string("is no summary of a run: ") + error.what());
    }
    return row;
}

}  // namespace sluice
