// SPDX-License-Identifier: Apache-2.0
/// The scenario that `sluice init` writes. Errors: ConfigError that says what is allowed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// Answers; empty and 0: not given yet.
struct FirstScenario {
    std::string network;
    std::uint32_t gpus = 0;
    std::string rate;
    std::string workload;
};

inline constexpr int kLeastFirstGpus = 2;
inline constexpr int kMostFirstGpus = 16384;
inline constexpr const char* kUsualNetwork = "rail-optimized";
inline constexpr std::uint32_t kUsualGpus = 64;
inline constexpr const char* kUsualRate = "400Gbps";
inline constexpr const char* kUsualWorkload = "training";

/// What an answer may be.
const std::vector<std::string>& first_networks();
const std::vector<std::string>& first_workloads();
/// "rail-optimized, fat-tree, ...".
std::string listed(const std::vector<std::string>& words);

/// All of a text, as a number of GPUs.
std::uint32_t parse_first_gpus(const std::string& text);
/// What is given must be allowed, by itself and together.
void check_first(const FirstScenario& answers);
/// A scenario file with a comment on each choice. All must be answered.
std::string first_scenario(const FirstScenario& answers);

}  // namespace sluice
