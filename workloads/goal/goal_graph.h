// SPDX-License-Identifier: Apache-2.0
/// A GOAL schedule as the work of a job, for the network engines: the network, not L, g and G, says
/// how long messages take.
/// Hosts. Layout gpu: rank r is the job's rank r, whatever NICs it names. Layout node (traces of
/// NCCL with a NIC per GPU, ATLAHS --unique-nic): NIC i of rank n is the job's rank n k + i, k =
/// NICs per rank. Automatic: node where the schedule names more than NIC 0.
/// Operations. calc occupies its CPU for its duration (JobGraph task); of those that wait for a CPU
/// the first in the file is next. send and recv are the two ends of a message and occupy no
/// CPU: their cost is the network's. A message of 0 bytes is one of 1 byte; one that stays on its
/// host takes no time.
/// Matching. The n-th send of a (source, destination, tag) meets the n-th recv, in file order,
/// which is the order in which MPI programs post them. A schedule with a recv from any source or
/// with any tag is matched as in a LogGOPS run with the parameters given (all messages eager),
/// since who comes first depends on time.
/// irequires. JobGraph joins ends only. An operation b that others wait to see started gets a delay
/// of 0 before it, which takes b's dependencies; b, and who waits for b's start, depend on that. So
/// b counts as started when it may start, even if its CPU is busy.
/// Layout node. Dependencies between hosts of one rank go by signals, which take `signal_delay`, at
/// least the engine's lookahead. A calc runs on the host of the NIC that its CPU's first message
/// uses; where it has none, on the rank's first.
/// Errors: ConfigError where a message has no other end or operations wait for each other.
#pragma once

#include <string>
#include <vector>

#include "core/job/job_graph.h"
#include "core/text/import_report.h"
#include "workloads/goal/goal_schedule.h"
#include "workloads/goal/loggops.h"

namespace sluice {

enum class GoalLayout : std::uint8_t { automatic, node, gpu };

struct GoalGraphOptions {
    std::string file = "GOAL";  ///< what an error names
    GoalLayout layout = GoalLayout::automatic;
    Tick signal_delay = kMicrosecond;  ///< between hosts of a rank
    LogGopsParameters matching;        ///< for wildcards
};

/// By operation the other end of its message; kNoGoalOp for calc and for what has none.
std::vector<GoalOp> match_goal(const GoalSchedule& schedule, const LogGopsParameters& parameters);

/// Notes on messages without another end, and on ends that differ in size.
void report_matches(const GoalSchedule& schedule, const std::vector<GoalOp>& partner,
                    const std::string& file, ImportReport& report);

/// Hosts per rank.
std::uint32_t hosts_per_rank(const GoalSchedule& schedule, GoalLayout layout);

/// Finished.
JobGraph build_goal_graph(const GoalSchedule& schedule, const GoalGraphOptions& options);

}  // namespace sluice
