// SPDX-License-Identifier: Apache-2.0
/// GOAL binary, what LogGOPSim's txt2bin writes; little endian, unaligned. Offsets count from byte 8.
///     u64 4223 (2342: made invalid by a simulation in place)
///     u32 ranks, u8 largest cpu, u8 largest nic, per rank u64 start, u64 end
///     at `start`: u32 nodes, u32 roots, u32 root[roots], 39 bytes per node, u32 appendix[]
///     node: u32 dependencies, i8 type, u32 peer, u64 size, u32 tag, u8 cpu, u8 nic,
///           u32 dependents on its end, u32 first in appendix, u32 those on its start, u32 first
/// Reads rank by rank: memory is the schedule and the largest rank's block. Every offset, index and
/// count is checked before use; ranks' blocks must follow one another, so that a file cannot
/// describe more operations than it has bytes for. Roots are recomputed.
/// Errors: ConfigError with file and rank.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/import_report.h"
#include "workloads/goal/goal_schedule.h"

namespace sluice {

/// Do the first eight bytes say so, whether or not the file is valid still?
bool is_goal_binary(std::string_view magic);

GoalSchedule read_goal_binary(std::istream& input, const std::string& file, ImportReport& report);

/// Byte for byte what txt2bin writes, in pieces.
void write_goal_binary(const GoalSchedule& schedule,
                       const std::function<void(std::string_view)>& write);

/// The parts of such a file, for whoever has the ranks one after the other: the beginning, once the
/// sizes of all ranks' blocks are known, and the block of one rank of a schedule.
std::string goal_binary_header(const std::vector<std::uint64_t>& block_bytes, std::uint8_t max_cpu,
                               std::uint8_t max_nic);
std::string goal_binary_block(const GoalSchedule& schedule, std::uint32_t rank);

}  // namespace sluice
