// SPDX-License-Identifier: Apache-2.0
/// Where things stand in a GOAL binary (workloads/goal/goal_binary.h), checked; and its nodes.
/// Errors: ConfigError with file and rank.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/goal/goal_schedule.h"

namespace sluice {

inline constexpr std::uint64_t kGoalMagic = 4223;
inline constexpr std::uint64_t kGoalInvalidated = 2342;
inline constexpr std::uint64_t kGoalOffsetBase = 8;
inline constexpr std::uint64_t kGoalHeader = 6;  ///< ranks, largest cpu and nic
inline constexpr std::uint64_t kGoalNode = 39;   ///< bytes

template <typename T>
T get_little_endian(const char* at) {
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = static_cast<T>(
            value | static_cast<T>(static_cast<T>(static_cast<unsigned char>(at[i])) << (8 * i)));
    }
    return value;
}

/// A rank's block; offsets in the file.
struct GoalBlock {
    std::uint64_t roots = 0;  ///< where they begin
    std::uint64_t nodes = 0;
    std::uint64_t appendix = 0;
    std::uint32_t root_count = 0;
    std::uint32_t node_count = 0;
    std::uint64_t entry_count = 0;  ///< of the appendix
};

struct GoalLayoutTable {
    std::uint8_t max_cpu = 0;
    std::uint8_t max_nic = 0;
    std::vector<GoalBlock> ranks;
};

/// Reads `count` bytes at offset `at`, or throws.
using GoalFetch = std::function<void(std::uint64_t at, std::uint64_t count, std::string& into)>;

/// Of a file of `size` bytes.
GoalLayoutTable read_goal_layout(const std::string& file, std::uint64_t size,
                                 const GoalFetch& fetch);

/// A node as it stands in the file.
struct GoalNode {
    GoalOperation operation;
    std::uint32_t dependencies = 0;
    std::uint32_t ends = 0;  ///< how many wait for its end, from entry `first_end` on
    std::uint32_t first_end = 0;
    std::uint32_t starts = 0;
    std::uint32_t first_start = 0;
};

/// Operation `number` of `rank`, checked but for its dependents.
GoalNode read_goal_node(const char* node, const std::string& file, std::uint32_t ranks,
                        std::uint32_t rank, std::uint32_t number);

/// Throws what is wrong with a rank's block.
[[noreturn]] void fail_goal_rank(const std::string& file, std::uint32_t rank,
                                 const std::string& message);

}  // namespace sluice
