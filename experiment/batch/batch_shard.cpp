// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_shard.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "core/error.h"
#include "experiment/batch/batch_file.h"
#include "experiment/batch/batch_run.h"

namespace sluice {

namespace {

constexpr const char* kShards = "shards";

/// All of a text; 0 if it is no number.
std::size_t number_of(const std::string& text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

std::size_t BatchShard::size(std::size_t experiments) const {
    return experiments / count + (experiments % count >= number ? 1 : 0);
}

BatchShard parse_shard(const std::string& text, const std::string& option) {
    const std::size_t slash = text.find('/');
    BatchShard shard{0, 0};
    if (slash != std::string::npos) {
        shard = {number_of(text.substr(0, slash)), number_of(text.substr(slash + 1))};
    }
    if (shard.number < 1 || shard.number > shard.count || shard.count > kMostExperiments) {
        throw ConfigError(
            fmt::format("{} {} must be I/N, from 1/N to N/N, with N at most {}; for example 3/8",
                        option, text, kMostExperiments));
    }
    return shard;
}

std::string shard_folder(const std::string& directory, const BatchShard& shard) {
    return fmt::format("{}/{}/{}-of-{}", directory, kShards, shard.number, shard.count);
}

std::vector<std::string> shard_databases(const std::string& directory) {
    std::vector<std::string> paths;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(directory + "/" + kShards, error)) {
        const std::filesystem::path database = entry.path() / kBatchDatabase;
        if (std::filesystem::is_regular_file(database, error)) paths.push_back(database.string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::vector<ShardGap> shard_gaps(const std::string& directory, const std::vector<bool>& missing) {
    constexpr std::string_view kOf = "-of-";
    std::map<std::size_t, std::set<std::size_t>> divisions;  // numbers of shards by their count
    for (const std::string& database : shard_databases(directory)) {
        const std::string name = std::filesystem::path(database).parent_path().filename().string();
        const std::size_t of = std::min(name.find(kOf), name.size());
        const std::size_t number = number_of(name.substr(0, of));
        const std::size_t count = number_of(name.substr(std::min(of + kOf.size(), name.size())));
        if (number >= 1 && number <= count) divisions[count].insert(number);
    }
    if (divisions.empty()) return {};
    const auto& [count, begun] = *std::max_element(
        divisions.begin(), divisions.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    std::map<std::size_t, ShardGap> gaps;  // by the shard's number
    for (std::size_t i = 0; i < missing.size(); ++i) {
        if (!missing[i]) continue;
        ShardGap& gap = gaps[i % count + 1];
        gap.shard = {i % count + 1, count};
        gap.begun = begun.count(gap.shard.number) > 0;
        ++gap.missing;
    }
    std::vector<ShardGap> list;
    for (const auto& [number, gap] : gaps) list.push_back(gap);
    return list;
}

}  // namespace sluice
