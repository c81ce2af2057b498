// SPDX-License-Identifier: Apache-2.0
#include "cli/goal_merge.h"

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "workloads/goal/goal_merge.h"
#include "workloads/goal/goal_text.h"

namespace sluice {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json load(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error)) throw ConfigError(path, 0, "no such file");
    if (fs::is_directory(path, error)) throw ConfigError(path, 0, "is a folder, not a file");
    std::ifstream input(path);
    const json config = json::parse(input, nullptr, false);
    if (!config.is_object()) throw ConfigError(path, 0, "is not a JSON object");
    return config;
}

std::string resolve(const std::string& config, const std::string& file) {
    std::error_code error;
    if (fs::exists(file, error)) return file;
    return (fs::path(config).parent_path() / file).string();
}

GoalMapping read_mapping(const std::string& path, const json& pattern,
                         const std::vector<std::uint32_t>& ranks, std::uint64_t seed) {
    if (pattern == "packed") return map_goal_jobs(GoalPattern::packed, ranks, seed);
    if (pattern == "random") return map_goal_jobs(GoalPattern::random, ranks, seed);
    if (pattern == "round-robin" || pattern == "round_robin") {
        return map_goal_jobs(GoalPattern::round_robin, ranks, seed);
    }
    GoalMapping mapping;
    const auto refuse = [&] {
        throw ConfigError(
            path, 0,
            "pattern must be \"packed\", \"round-robin\", \"random\" or, for each job, "
            "a list of ranks from 0 to " +
                std::to_string(kMostGoalRanks - 1));
    };
    if (!pattern.is_array()) refuse();
    for (const json& job : pattern) {
        if (!job.is_array()) refuse();
        mapping.emplace_back();
        for (const json& rank : job) {
            if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= kMostGoalRanks) refuse();
            mapping.back().push_back(rank.get<std::uint32_t>());
        }
    }
    return mapping;
}

}  // namespace

GoalSchedule read_goal_merge(const std::string& path, std::uint64_t seed, ImportReport& report) {
    const json config = load(path);
    if (config.value("mode", json("multi-job")) != "multi-job") {
        throw ConfigError(path, 0,
                          "mode must be \"multi-job\"; jobs that share ranks are not modelled");
    }
    const json files = config.value("goal_files", json());
    if (!files.is_array() || files.empty()) {
        throw ConfigError(path, 0, "goal_files must be a list of at least one file");
    }
    std::vector<GoalSchedule> jobs;
    std::vector<std::uint32_t> ranks;
    for (const json& file : files) {
        if (!file.is_string()) throw ConfigError(path, 0, "goal_files must be texts");
        jobs.push_back(read_goal(resolve(path, file.get<std::string>()), report));
        ranks.push_back(jobs.back().rank_count());
    }
    const GoalMapping mapping =
        read_mapping(path, config.value("pattern", json("packed")), ranks, seed);
    try {
        return merge_goal(jobs, mapping);
    } catch (const ConfigError& error) {
        throw ConfigError(path, 0, error.what());
    }
}

}  // namespace sluice
