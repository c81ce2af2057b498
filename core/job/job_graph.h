// SPDX-License-Identifier: Apache-2.0
/// The work of a job as a graph of operations, one rank (GPU) each.
/// What is modelled. An operation starts when all operations that it depends on have completed;
/// dependencies join operations of the same rank. Ranks learn of each other only by a message (a
/// flow: a send on one rank, a recv on the other) or by a signal with an explicit delay, so that
/// every engine may run ranks independently within its lookahead (docs/architecture.md, locality).
///   compute  occupies the rank's one compute stream for its duration. The stream is in order: a
///            compute operation also waits for the one added to its rank before it.
///   task     occupies one of the rank's numbered resources for its duration. Of the operations that
///            wait for a resource, the one added first is next.
///   acquire, release  take a resource and give it back: what happens between occupies it. Of a
///            counted resource, a semaphore, an acquire takes one of several and any release adds
///            one; who came first is next.
///   delay    takes its duration and occupies nothing; duration 0 joins dependencies.
///   send     starts its flow at once; completes with the last ACK.
///   recv     completes when its dependencies have and the last in-order byte has arrived; the
///            sender does not wait for it (eager, unbounded receive memory).
///   signal   completes at once; its await, on any rank, completes no sooner than `delay` later.
///   meet     an operation of several ranks, one part each (a collective inside a server, computed,
///            not simulated): all parts complete together, `duration` after the last one started.
/// Overlap (Multiverse, section 4.1): while a rank communicates, i.e. has a send or a meet that has
/// started and not completed, its operations of class compute progress more slowly, by the factor
/// 1 / (1 + overlap_slowdown).
/// Invariants after finish(): ids are dense, in order of addition; no operation waits for itself
/// in any number of steps, messages and signals included; successors are in order of addition.
/// Storage is columns of plain integers, no allocation per operation: 38 bytes per operation and
/// 4 per dependency once finished.
/// Errors: a mistake in the graph throws ConfigError that names the operations.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/flow/flow.h"
#include "core/ids.h"
#include "core/job/graph/job_dependencies.h"
#include "core/job/graph/job_messages.h"
#include "core/job/graph/message_parts.h"
#include "core/job/graph/name_table.h"
#include "core/job/graph/operation_columns.h"
#include "core/job/graph/overlap_slowdowns.h"
#include "core/job/graph/rank_resources.h"
#include "core/job/job_state.h"
#include "core/units.h"

namespace sluice {

const char* to_string(OpKind kind);
const char* to_string(OpClass cls);

/// One instance of a collective over a group of ranks. `bytes` follows the convention of
/// nccl-tests: the full tensor for all-reduce, all-gather and reduce-scatter, one rank's buffer
/// for all-to-all, the message for point-to-point.
struct Collective {
    NameId name = 0;
    NameId group = 0;
    OpClass cls = OpClass::other;
    std::uint32_t members = 0;
    std::int64_t bytes = 0;
    NameId choice = 0;  ///< how it runs, where a library chose that by size: for people
};

class JobGraph {
  public:
    static constexpr RankResourceId kMostResources = RankResources::kMost;
    static constexpr std::int64_t kMostSlowdown = OverlapSlowdowns::kMost;

    /// A message or a signal: what happens at each end.
    struct Pair {
        OpId from;
        OpId to;
    };

    using Count = ResourceCount;

    explicit JobGraph(RankId ranks);

    // Building. Ranks must be below rank_count(), durations >= 0, sizes >= 1.
    /// Room for so many, for speed: a large graph is then built without copying its columns.
    void reserve(std::size_t operations, std::size_t dependencies);
    NameId intern(std::string_view name);
    CollectiveId add_collective(const Collective& collective);
    OpId add_compute(RankId rank, Tick duration, Label label);
    OpId add_delay(RankId rank, Tick duration, Label label);
    /// `resource` below kMostResources.
    OpId add_task(RankId rank, RankResourceId resource, Tick duration, Label label);
    OpId add_acquire(RankId rank, RankResourceId resource, Label label);
    /// Must depend on its acquire, unless the resource is counted.
    OpId add_release(RankId rank, RankResourceId resource, Label label);
    /// Makes `resource` a counted one on every rank: there are `count` of it at first and never more
    /// than `most` (which may be 0: a release is then lost unless somebody waits). No tasks.
    void make_counted(RankResourceId resource, Count count);
    /// One part per rank, which must be different, in their order: ids first, first + 1, ...
    /// Returns the first. With two ranks or more an engine's lookahead is at most half of `duration`:
    /// check_signals() (job_checks.h).
    OpId add_meet(const std::vector<RankId>& ranks, Tick duration, Label label);
    /// One channel of a group of ranks, as NCCL has communicators: the same name and channel are the
    /// same one.
    CommunicatorId communicator(NameId group, std::uint32_t channel);
    /// A flow of `bytes` from rank `src` to another rank `dst`. Messages of one communicator between
    /// the same two ranks share a connection (core/flow/flow.h); kNone: one of its own.
    Pair add_message(RankId src, RankId dst, std::int64_t bytes, Label label,
                     CommunicatorId communicator = kNone);
    /// Where the ranks differ, an engine's lookahead is at most `delay`: check_signals().
    Pair add_signal(RankId from, RankId to, Tick delay, Label label);
    /// `op` starts after `on` has completed. `on` may be added later; kNone is no dependency.
    void add_dependency(OpId op, OpId on);
    /// By how much compute is slower while its rank communicates, in millionths: 0 to kMostSlowdown. Of all compute,
    /// but for operations that have their own.
    void set_overlap_slowdown(std::int64_t millionths);
    /// Of one; a graph has few different ones.
    void set_overlap_slowdown(OpId op, std::int64_t millionths);
    /// Over how many queue pairs messages from one rank to another go: each is split into as many parts, nearly equal and none
    /// below kLeastPart, which are messages on connections of their own, by the sender's ports in turn. It has arrived, or been
    /// acknowledged, when all of them have. Null: over one.
    using QueuePairs = sluice::QueuePairs;
    static constexpr std::int64_t kLeastPart = MessageParts::kLeastBytes;
    void set_queue_pairs(QueuePairs queue_pairs) { queue_pairs_ = std::move(queue_pairs); }
    /// Checks everything and freezes the graph.
    void finish();

    // The graph.
    std::size_t op_count() const { return operations_.size(); }
    RankId rank_count() const { return operations_.ranks(); }
    OpKind kind(OpId op) const { return operations_.kind(op); }
    RankId rank(OpId op) const { return operations_.rank(op); }
    /// compute, delay, task, meet: how long it takes; signal: how late its await hears of it; else 0.
    Tick duration(OpId op) const { return operations_.duration(op); }
    Label label(OpId op) const { return operations_.label(op); }
    /// send, recv: the message's index; signal: its await; await: its signal; meet: the meeting's
    /// index; task, acquire, release: the resource; else kNone.
    std::uint32_t target(OpId op) const { return operations_.target(op); }
    const RankResources& resources() const { return resources_; }
    std::int64_t overlap_slowdown(OpId op) const { return slowdowns_.of(op); }

    using Message = JobMessage;
    const JobMessages& messages() const { return messages_; }

    using Meeting = JobMeeting;
    const std::vector<Meeting>& meetings() const { return meetings_; }
    /// One flow per message, started by the application: rank r is hosts[r]. Ports are defaults.
    std::vector<FlowSpec> flows(const std::vector<NodeId>& hosts) const;

    const std::string& name(NameId id) const { return names_[id]; }
    const std::vector<Collective>& collectives() const { return collectives_; }

    // The finished graph.
    bool finished() const { return finished_; }
    std::uint32_t dependency_count(OpId op) const { return dependencies_.count(op); }
    OpSpan successors(OpId op) const { return dependencies_.successors(op); }
    /// In order of addition.
    OpSpan ops_of(RankId rank) const { return operations_.ops_of(rank); }
    /// The graph as columns, which stay where they are.
    job::Job columns() const;
    /// For messages to users: `rank 3 send "dp_rs" (operation 17)`.
    std::string describe(OpId op) const;

  private:
    OpId add(OpKind kind, RankId rank, Tick duration, std::uint32_t target, Label label);

    bool finished_ = false;
    OperationColumns operations_;
    JobDependencies dependencies_;
    JobMessages messages_;
    std::vector<Meeting> meetings_;
    RankResources resources_;
    OverlapSlowdowns slowdowns_;
    std::vector<Collective> collectives_;
    NameTable names_;
    QueuePairs queue_pairs_;
    std::vector<OpId> last_compute_;  ///< by rank
};

}  // namespace sluice
