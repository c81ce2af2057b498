// SPDX-License-Identifier: Apache-2.0
/// Several schedules as one, each on ranks of its own: what ATLAHS's merge_goals.py calls
/// multi-job. Rank r of schedule j becomes rank mapping[j][r]; ranks that nobody has are empty.
/// Dependencies, tags, CPUs and NICs stay as they are. A recv from any source still hears of its
/// own job only, since nobody else sends to its rank.
/// Errors: ConfigError where a mapping does not fit or two ranks meet.
#pragma once

#include <string>
#include <vector>

#include "workloads/goal/goal_schedule.h"

namespace sluice {

using GoalMapping = std::vector<std::vector<std::uint32_t>>;

enum class GoalPattern : std::uint8_t {
    packed,       ///< job after job
    round_robin,  ///< jobs take turns, those that have all their ranks are passed over
    random,       ///< packed, and then all ranks shuffled by seed
};

GoalMapping map_goal_jobs(GoalPattern pattern, const std::vector<std::uint32_t>& ranks,
                          std::uint64_t seed);

GoalSchedule merge_goal(const std::vector<GoalSchedule>& jobs, const GoalMapping& mapping);

}  // namespace sluice
