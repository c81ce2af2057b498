// SPDX-License-Identifier: Apache-2.0
/// GOAL text, as LogGOPSim's txt2bin reads it:
///     num_ranks N
///     rank R {
///       [label:] send BYTESb to RANK [tag T] [cpu C] [nic I]
///       [label:] recv BYTESb from RANK|-1 [tag T|-1] [cpu C] [nic I]
///       [label:] calc NANOSECONDS [cpu C]
///       a requires b        a starts after b ended
///       a irequires b       a starts after b started
///     }
/// Statements end with their line; // and /* */ are comments. Ranks appear in order from 0; what
/// follows rank N - 1 is not read. Defaults: tag 0, cpu 0, nic 0. Beyond txt2bin: comments may
/// stand anywhere, and labels defined twice, ids and numbers out of range are refused, not wrapped.
/// Reads in blocks: memory is the schedule, the labels of one rank and a block.
/// Errors: ConfigError with file and line.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "core/text/import_report.h"
#include "workloads/goal/goal_schedule.h"

namespace sluice {

/// `file` is for messages.
GoalSchedule read_goal_text(std::istream& input, const std::string& file, ImportReport& report);

/// Takes a rank of a schedule of `ranks`: a schedule with the operations of that rank only.
using GoalRankSink = std::function<void(std::uint32_t ranks, const GoalSchedule& rank)>;

/// The same, one rank after the other: memory is that of the largest rank.
void read_goal_ranks(std::istream& input, const std::string& file, const GoalRankSink& on_rank);

/// Writes the schedule with labels l1, l2, ... per rank, in pieces of one rank. What is read back
/// is the same schedule.
void write_goal_text(const GoalSchedule& schedule,
                     const std::function<void(std::string_view)>& write);

/// Does the file begin as a GOAL binary does? ConfigError if it cannot be read, is empty, or is htsim's.
bool goal_file_is_binary(const std::string& path);

/// A schedule of either format, told apart by the binary one's first eight bytes.
GoalSchedule read_goal(const std::string& path, ImportReport& report);

}  // namespace sluice
