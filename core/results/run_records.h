// SPDX-License-Identifier: Apache-2.0
/// What a run tells its outputs: what is known before it starts, what happens, what came of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/flow/flow.h"
#include "core/results/mode.h"
#include "core/results/queue_facts.h"
#include "core/results/statistics.h"
#include "core/units.h"

namespace sluice {

/// What is known of a run before it starts.
struct RunInfo {
    Mode mode = Mode::packet;
    std::string scenario;  ///< the scenario's name
    std::string version;   ///< the program's version
    std::uint64_t seed = 1;
    std::string config_json = "{}";  ///< the effective configuration, JSON indented by 2
    std::shared_ptr<const QueueFacts> queues = nullptr;  ///< null unless an output records queues
    /// By node, what it does in which job, such as "training rank 3"; empty where there are no jobs.
    std::vector<std::string> host_roles = {};
};

/// A row of the timeline under a host (a rank).
enum class TraceLane : std::uint8_t { compute, tensor, expert, data, pipeline, flows };

/// Something that a host did from `start` to `end`.
struct TraceSpan {
    NodeId host = 0;
    TraceLane lane = TraceLane::compute;
    std::string_view name;
    Tick start = 0;
    Tick end = 0;
};

/// One collective operation of one group of ranks, finished everywhere.
struct CollectiveRecord {
    std::string_view job;    ///< the job's name
    std::uint32_t id = 0;    ///< within the job
    std::string_view kind;   ///< "all_reduce", "reduce_scatter", "all_gather", ...
    std::string_view group;  ///< "dp0", "pp3", ...
    std::uint32_t ranks = 0;
    std::int64_t bytes = 0;  ///< payload bytes that its flows carried in the network
    std::uint32_t flows = 0;
    Tick start = 0;   ///< the first rank began
    Tick finish = 0;  ///< the last rank was done
};

/// A share of a job's time: "compute", "PP over leaf-spine", ...
struct TimeShare {
    std::string name;
    Tick time = 0;
};

/// A share of each rank's time: its mean over the ranks, and the rank with the most.
struct RankTimeShare {
    std::string name;
    Tick mean = 0;
    Tick most = 0;
    std::uint32_t most_rank = 0;
};

/// What a kind of links carried.
struct LinkClassRecord {
    std::string name;
    std::size_t links = 0;
    std::int64_t bytes = 0;       ///< on the wire, both directions, headers and control included
    double mean_utilization = 0;  ///< of all its directed links over the simulated time
    double most_utilization = 0;  ///< of the busiest one
};

/// One of the jobs of a run.
struct JobRecord {
    std::string name;
    std::uint32_t ranks = 0;
    std::string hosts;  ///< of its ranks, in their order: "0-7 16-23"; empty: not known
    Tick start = 0;
    Tick jct = kNever;  ///< from its start to its last operation's end; kNever: not complete
    std::size_t operations = 0;
    std::size_t operations_completed = 0;
    std::size_t flows = 0;
    std::int64_t bytes = 0;  ///< of its flows
    Tick messages = 0;       ///< of the critical path: its steps that wait for a message
    std::vector<TimeShare> critical_path;  ///< adds up to jct; the largest share first
    /// Compute, exposed communication by group, waiting for other ranks, idle: adds up to jct on
    /// every rank. Empty, like critical_path, if nothing completed.
    std::vector<RankTimeShare> rank_time;
};

/// Packet `sequence` of a flow was acknowledged `rtt` after its last departure.
struct RoundTrip {
    FlowId flow = 0;
    std::uint32_t sequence = 0;
    Tick rtt = 0;
};

/// Something that happened to the network, for the timeline.
struct TraceMark {
    Tick at = 0;
    std::string text;
};

/// Payload that was sent more than once, and why: "out_of_order", "loss", "loss_or_out_of_order" (where
/// either may have been), "timeout".
struct ResentBytes {
    std::string cause;
    std::int64_t bytes = 0;
};

/// What the run itself reports at its end.
struct RunOutcome {
    RunCounters counters;
    std::vector<PortStatistics> ports;  ///< by port id
    Tick simulated = 0;                 ///< simulated time reached
    /// Job completion time. kNever: from the first start to the last finish of a completed flow.
    Tick jct = kNever;
    std::vector<JobRecord> jobs;  ///< empty where flows have start times
    /// Flows that were opened while the run went on, beside those of the list.
    std::size_t opened_flows = 0;
    std::int64_t opened_bytes = 0;
    std::vector<LinkClassRecord> link_classes;
    std::vector<std::string> keys_without_effect;  ///< "key: why"
    std::vector<std::string> warnings;
    std::vector<TraceMark> marks;        ///< links that went down or came back, drops
    std::vector<std::string> incidents;  ///< the same in lines for people, and what was resent
    std::vector<ResentBytes> resent;     ///< empty: nothing
    double elaboration_s = 0;
    double elaboration_user_s = 0;  ///< user CPU time of building the network, all threads
    double wall_s = 0;              ///< of the run phase
    double user_s = 0;              ///< of the run phase, all threads
    bool interrupted = false;
    bool stalled = false;  ///< flows were under way that could never end; the run was given up
    std::vector<PortId>
        paused_cycle;  ///< ports that pause each other in a circle at the end, if any do
};

/// What finish() put into summary.json, for a line on the terminal.
struct Summary {
    std::size_t flows = 0;
    std::size_t flows_completed = 0;
    std::int64_t bytes = 0;            ///< payload of all flows of the scenario
    std::int64_t bytes_completed = 0;  ///< payload of the completed ones
    Tick jct = kNever;                 ///< kNever if nothing completed
    double fct_mean_s = 0;
    Tick fct_p50 = kNever;
    Tick fct_p99 = kNever;
    Tick fct_max = kNever;
    double packet_hops_per_s = 0;     ///< executed ones, per user second of the run phase
    std::int64_t peak_rss_bytes = 0;  ///< 0: nothing was written
};

/// A flow that finished. `ideal`: its completion time on an idle network (0: unknown); `label`: its
/// class ("dp", "pp", "incast", ...), may be empty.
struct FlowReport {
    const FlowRecord& flow;
    Tick ideal = 0;
    std::string_view label;
};

}  // namespace sluice
