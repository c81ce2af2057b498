// SPDX-License-Identifier: Apache-2.0
/// ATLAHS's merge configuration: {"mode": "multi-job", "goal_files": [...], "pattern": "packed",
/// "round-robin", "random" or [[rank, ...], ...] by job}. Files as named from the working directory
/// if they are there, else from the configuration's folder. share-nic is for mode multi-tenant,
/// which ATLAHS names but does not have, and which is refused.
/// Errors: ConfigError with the file.
#pragma once

#include <string>

#include "core/text/import_report.h"
#include "workloads/goal/goal_schedule.h"

namespace sluice {

GoalSchedule read_goal_merge(const std::string& path, std::uint64_t seed, ImportReport& report);

}  // namespace sluice
