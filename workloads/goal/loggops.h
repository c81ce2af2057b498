// SPDX-License-Identifier: Apache-2.0
/// A schedule under the LogGOPS model (Hoefler, Schneider, Lumsdaine, "LogGOPSim", HPDC 2010, after
/// LogGP of Alexandrov et al., SPAA 1995): messages cross a network without contention; hosts' CPUs
/// and NICs are what operations wait for. Times are whole nanoseconds.
///   L  latency; o  CPU time per message at each end; g  NIC time per message at each end;
///   G  time per byte in the sender's NIC and on the wire; O  CPU time per byte at each end;
///   S  largest eager message: a larger one (rendezvous) ends at its sender when it is received.
/// What is modelled, so that the times are those of ATLAHS's LogGOPSim (spcl/atlahs,
/// sim/LogGOPSim). With b = floor((bytes - 1) G), c = (bytes - 1) O:
///   calc  starts when its CPU is free and holds it for its duration.
///   send  starts when its CPU and its NIC's sending side are free; holds them for o + c and g + b;
///         its message arrives o + c + L + b after its start. An eager send ends after o + c.
///   recv  is posted when what it requires has ended. A message that arrives takes the earliest
///         posted recv that fits it, waits for that recv's CPU and the NIC's receiving side (of
///         the sender's NIC index), and holds them for g + o + c and g; the recv ends with the CPU.
///         A recv that finds its message waiting takes the earliest: the same, but it waits for the
///         NIC's sending side and takes the CPU at once, even from an operation in progress.
///   rendezvous  the sender's CPU and NIC are busy until the receiver's have done.
/// Matching: source and tag, each possibly any (workloads/goal/posted_recvs.h). Of what is ready at one time, that runs first which
/// leaves GNU's std::priority_queue first, as in LogGOPSim (EventHeap in loggops.cpp; the same on
/// every platform). A host's time is when the last of its CPUs is free.
/// As in LogGOPSim, what an `irequires` frees starts as soon as its CPU and NIC allow, even where
/// those were free before the operation that it waits for started.
/// Deviations: a message that finds its CPU busy keeps its recv (LogGOPSim puts the recv behind the
/// others that are posted, and so loses what waits for it); a message of 0 bytes costs what one byte costs; wildcards match (ATLAHS builds
/// LogGOPSim without them); an operation never starts before its message has arrived (LogGOPSim
/// aborts).
/// Time: a heap of events. As in LogGOPSim, events that find their CPU or NIC busy are tried again
/// when it is free, all of them; so that many do not take quadratic time, at most 1024 per CPU and
/// NIC are, and the order of the others is that of arrival.
/// Memory: 12 bytes per operation beside the schedule, and what is in flight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/goal/goal_schedule.h"

namespace sluice {

/// The defaults are LogGOPSim's.
struct LogGopsParameters {
    std::int64_t latency = 2500;         ///< L
    std::int64_t overhead = 1500;        ///< o
    std::int64_t gap = 1000;             ///< g
    double gap_per_byte = 6;             ///< G
    std::int64_t overhead_per_byte = 0;  ///< O
    std::int64_t largest_eager = 65535;  ///< S, bytes
    /// Ranks [n k, (n + 1) k) share node n and use L and G of their own; 0: none do.
    std::int64_t ranks_per_node = 0;
    std::int64_t intra_latency = 2500;
    double intra_gap_per_byte = 6;
};

struct LogGopsResult {
    std::vector<std::int64_t> host_ns;  ///< by rank
    GoalOp completed = 0;               ///< operations
    std::uint64_t messages = 0;
    /// What did not come to its end and what it waits for, at most kMostBlocked lines.
    std::vector<std::string> blocked;
    GoalOp blocked_count = 0;
    /// By operation, where asked for: the recv that took a send's message, and the other way round;
    /// kNoGoalOp: none did.
    std::vector<GoalOp> partner;

    static constexpr std::size_t kMostBlocked = 20;
};

/// Runs until nothing can happen any more. ConfigError if times leave 2^62 ns.
LogGopsResult simulate_loggops(const GoalSchedule& schedule, const LogGopsParameters& parameters,
                               bool record_partners = false);

}  // namespace sluice
