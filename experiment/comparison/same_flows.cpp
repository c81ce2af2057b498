// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/same_flows.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/checksum.h"
#include "core/error.h"
#include "core/text/tokens.h"
#include "experiment/comparison/variants.h"

namespace sluice {

namespace {

/// In pieces: a run may have millions of flows.
std::uint64_t digest_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw ConfigError(path, 0, "cannot be read");
    std::vector<char> piece(std::size_t{1} << 20);
    std::uint64_t digest = 0;
    while (in) {
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        digest = mix_bits(digest ^ checksum({piece.data(), static_cast<std::size_t>(in.gcount())}));
    }
    return digest;
}

std::size_t queued_ports(const std::string& path, std::int64_t least) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    const std::vector<std::string_view> head = split_fields(line, ',');
    const auto column = [&](const char* name) {
        return static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin());
    };
    const std::size_t kind = column("kind");
    const std::size_t queue = column("max_queue_bytes");
    const std::size_t width = head.size();
    std::size_t count = 0;
    for (std::string row; std::getline(in, row);) {
        const std::vector<std::string_view> fields = split_fields(row, ',');
        if (fields.size() != width || kind >= width || queue >= width || fields[kind] == "host") {
            continue;
        }
        count += std::atoll(std::string(fields[queue]).c_str()) > least ? 1 : 0;
    }
    return count;
}

/// The varied keys in which the rows differ.
std::vector<std::size_t> differing_keys(const Variants& variants,
                                        const std::vector<std::size_t>& rows) {
    std::vector<std::size_t> keys;
    for (std::size_t k = 0; k < variants.keys.size(); ++k) {
        const bool differ = std::any_of(rows.begin(), rows.end(), [&](std::size_t row) {
            return variants.rows[row].values[k] != variants.rows[rows.front()].values[k];
        });
        if (differ) keys.push_back(k);
    }
    return keys;
}

/// "key: why" of the one key in which the rows differ; empty if it has an effect.
std::string without_effect(const Variants& variants, const std::vector<std::size_t>& rows,
                           const std::string& key) {
    for (const std::size_t row : rows) {
        for (const std::string& text : variants.rows[row].seen->without_effect) {
            if (text.rfind(key + ":", 0) == 0) return text;
        }
    }
    return {};
}

std::string reason(const Variants& variants, const std::vector<std::size_t>& rows) {
    const std::vector<std::size_t> keys = differing_keys(variants, rows);
    const auto any = [&](auto&& is) {
        return std::any_of(rows.begin(), rows.end(),
                           [&](std::size_t row) { return is(*variants.rows[row].seen); });
    };
    if (keys.size() == 1) {
        const std::string& key = variants.keys[keys.front()];
        const std::string text = without_effect(variants, rows, key);
        if (!text.empty()) return "no effect: " + text;
        if (key == "seed") return "nothing that mattered was drawn at random";
        if (key == "mode" && !any([](const FlowsSeen& seen) { return seen.skips > 0; })) {
            return "nothing was skipped, so every mode moved the same packets";
        }
    }
    QueuesMet met;
    for (const std::size_t row : rows) met.add(variants.rows[row].seen->met);
    return why_same(met);
}

}  // namespace

FlowsSeen read_flows_seen(const std::string& folder) {
    const std::filesystem::path in(folder);
    FlowsSeen seen;
    seen.digest = digest_of((in / "flows.csv").string());
    const std::string path = (in / "summary.json").string();
    std::ifstream file(path);
    const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
    if (!json.is_object()) throw ConfigError(path, 0, "is missing or no summary of a run");
    const auto number = [](const nlohmann::json& from, const char* key) {
        return from.is_object() ? from.value(key, std::uint64_t{0}) : 0;
    };
    try {
        seen.met.packets = json.contains("packet_hops");
        seen.met.events =
            number(json, "ecn_marks") + number(json, "pfc_pauses") + number(json, "drops");
        seen.skips = number(json, "skips");
        if (json.contains("episodes")) seen.skips += number(json["episodes"], "hits");
        seen.without_effect = json.value("keys_without_effect", std::vector<std::string>{});
        constexpr std::int64_t kHeaders = 100;
        const std::int64_t payload = json.at("config").at("network").value("payload", 1000);
        seen.met.queued_ports =
            queued_ports((in / "ports.csv").string(), kPassingPackets * (payload + kHeaders));
    } catch (const nlohmann::json::exception& error) {
        throw ConfigError(path, 0, std::string("is no summary of a run: ") + error.what());
    }
    return seen;
}

std::vector<SameFlows> same_flows(const Variants& variants) {
    std::map<std::uint64_t, std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < variants.rows.size(); ++i) {
        const VariantRow& row = variants.rows[i];
        if (row.seen && row.flows > 0) rows[row.seen->digest].push_back(i);
    }
    std::vector<SameFlows> same;
    for (auto& [digest, of] : rows) {
        if (of.size() < 2) continue;
        SameFlows& one = same.emplace_back();
        one.why = reason(variants, of);
        one.rows = std::move(of);
    }
    std::sort(same.begin(), same.end(), [](const SameFlows& a, const SameFlows& b) {
        return a.rows.front() < b.rows.front();
    });
    return same;
}

}  // namespace sluice
