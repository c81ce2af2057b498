// SPDX-License-Identifier: Apache-2.0
/// A job as plain columns: its graph, and how far it has come.
#pragma once

#include "core/hd.h"
#include "core/ids.h"
#include "core/job/operation.h"
#include "core/memory_space.h"
#include "core/plain_vector.h"
#include "core/units.h"

namespace sluice::job {

/// A timer's token: the operation that completes or whose signal arrives; with this bit, the part of
/// a meeting that is present, told to the host of the first part.
inline constexpr std::uint64_t kPresent = std::uint64_t{1} << 32;
/// Of one of several jobs on a network: the job's own below, then its number, then whether it is its start.
inline constexpr int kJobShift = 40;
inline constexpr std::uint64_t kStart = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kOwnToken = (std::uint64_t{1} << kJobShift) - 1;

/// One of a rank's resources, and who waits for it: a heap, the least id on top; of a counted one,
/// those from `served` on in their order.
struct Resource {
    OpId holder = kNone;    ///< of a counted one: the last that took one
    OpId given_by = kNone;  ///< the last one that gave it back
    std::uint32_t left = 0;
    std::uint32_t served = 0;
    PlainVector<OpId> waiting;
};

/// Compute in progress, of a graph where communication slows it.
struct Running {
    OpId op = kNone;
    Tick work = 0;   ///< left, in time of a rank that does not communicate
    Tick since = 0;  ///< when that was so
    Tick due = 0;    ///< when it ends at the present speed
};

/// What one rank's callbacks keep between them; cache lines of its own.
struct alignas(64) RankState {
    Memory memory;
    PlainVector<OpId> ready;
    std::uint32_t started = 0;        ///< of `ready`
    std::uint32_t communicating = 0;  ///< sends and meets in progress
    std::uint64_t completed = 0;
    Tick last_end = 0;
    PlainVector<Resource> resources;
    PlainVector<Running> running;
    Tick stuck_at = kNever;  ///< kNever: it is not
    bool claimed = false;    ///< somebody waits for a resource that may be free
    bool slow = false;       ///< `running` is timed for communication
};

struct MeetingState {
    std::uint32_t present = 0;
    Tick latest = 0;
};

/// A job: what it is to do, and how far it has come.
struct Job {
    // The graph, by operation; core/job/job_graph.h says what each means.
    std::uint32_t ops = 0;
    Global<const OpKind> kind = nullptr;
    Global<const OpClass> cls = nullptr;
    Global<const RankId> rank = nullptr;
    Global<const Tick> duration = nullptr;
    Global<const std::uint32_t> target = nullptr;
    Global<const std::uint32_t> successors_begin = nullptr;  ///< ops + 1
    Global<const OpId> successors = nullptr;

    std::uint32_t messages = 0;
    Global<const JobMessage> message = nullptr;
    Global<const JobMeeting> meeting = nullptr;
    std::uint32_t counts = 0;
    Global<const ResourceCount> count = nullptr;  ///< by resource, `counts` of them
    /// By how much compute is slower while its rank communicates, millionths: the first of all operations, where
    /// `slowdown_of` says nothing else.
    Global<const std::int64_t> slowdowns = nullptr;
    std::uint32_t slowdown_count = 0;
    Global<const std::uint16_t> slowdown_of = nullptr;  ///< by operation, null: the first
    FlowId first_flow = 0;                              ///< of its messages

    std::uint32_t nodes = 0;
    Global<const NodeId> host = nullptr;     ///< by rank
    Global<const RankId> rank_at = nullptr;  ///< by node, `nodes` of them

    // How far it has come.
    Global<std::uint32_t> pending = nullptr;  ///< dependencies, by operation
    Global<std::uint8_t> arrived = nullptr;   ///< by operation
    Global<Tick> start = nullptr;             ///< by operation
    Global<Tick> end = nullptr;               ///< by operation
    Global<OpId> served_after = nullptr;      ///< by operation; null without resources
    Global<RankState> state = nullptr;        ///< by rank
    Global<MeetingState> meet = nullptr;
};

/// Some compute may be slower while its rank communicates.
SLUICE_HD inline bool overlaps_slow(const Job& job) {
    return job.slowdown_count > 1 || job.slowdowns[0] > 0;
}
SLUICE_HD inline std::int64_t overlap_slowdown(const Job& job, OpId op) {
    return job.slowdowns[job.slowdown_of == nullptr ? 0 : job.slowdown_of[op]];
}

SLUICE_HD inline RankId rank_at(const Job& job, NodeId host) {
    return host < job.nodes ? job.rank_at[host] : kNone;
}

/// Null: the resource is not counted.
SLUICE_HD inline const ResourceCount* counted(const Job& job, RankResourceId resource) {
    return resource < job.counts && job.count[resource].counted ? &job.count[resource] : nullptr;
}

}  // namespace sluice::job
