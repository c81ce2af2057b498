// SPDX-License-Identifier: Apache-2.0
/// What the tests of GOAL share.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "workloads/goal/goal_binary.h"
#include "workloads/goal/goal_text.h"

namespace sluice::goal {

inline GoalSchedule from_text(const std::string& text) {
    std::istringstream input(text);
    ImportReport report;
    return read_goal_text(input, "s.goal", report);
}

inline GoalSchedule from_binary(const std::string& bytes) {
    std::istringstream input(bytes);
    ImportReport report;
    return read_goal_binary(input, "s.bin", report);
}

inline std::string to_text(const GoalSchedule& schedule) {
    std::string text;
    write_goal_text(schedule, [&](std::string_view piece) { text += piece; });
    return text;
}

inline std::string to_binary(const GoalSchedule& schedule) {
    std::string bytes;
    write_goal_binary(schedule, [&](std::string_view piece) { bytes += piece; });
    return bytes;
}

/// A file of the reference samples; empty where they are absent.
inline std::string sample(const std::string& name) {
    const char* const reference = std::getenv("SLUICE_REFERENCE");
    if (reference == nullptr) return {};
    std::ifstream input(std::string(reference) + "/samples/" + name, std::ios::binary);
    std::ostringstream text;
    text << input.rdbuf();
    return text.str();
}

}  // namespace sluice::goal
