// SPDX-License-Identifier: Apache-2.0
/// Executes a JobGraph on the hosts of a network and records when each operation ran.
/// Rank r runs on hosts[r]; the graph's message m is flow first_flow + m of the experiment, so
/// several jobs and other traffic can share one flow list. Callbacks for other hosts and flows
/// are ignored.
/// All mutable state belongs to one rank (a meeting's to the rank of its first part) and is touched
/// only by callbacks for that rank's host, so engines may call hosts in any order within their
/// lookahead and from several threads. Operations of a rank that become ready at once start in order
/// of readiness, ties in order of addition; then free resources go to the waiting operations that
/// were added first. What is counted goes at once to the one that has waited longest.
/// A meeting: each part's start is told to the first part's host, one lookahead later; from the last
/// one follows when all parts end.
/// What would end within a day of the end of time (106 days) does not end: the job comes to rest.
/// on_begin() resets its rank: one application can be run again.
#pragma once

#include <vector>

#include "core/flow/application.h"
#include "core/job/job_graph.h"

namespace sluice {

class JobApplication final : public Application {
  public:
    /// `graph` must be finished; `hosts` are different nodes, at least one per rank.
    JobApplication(JobGraph graph, std::vector<NodeId> hosts, FlowId first_flow = 0);

    bool waits_at(NodeId host) const override { return rank_of(host) != kNone; }
    void on_begin(NodeId host, HostServices& services) override;
    /// The two halves of on_begin(): forgets an earlier run; starts the rank of `host` at `now`.
    void reset(NodeId host);
    void begin(NodeId host, Tick now, HostServices& services);
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override;

    const JobGraph& graph() const { return graph_; }
    FlowId first_flow() const { return first_flow_; }
    /// Before the first run.
    void set_first_flow(FlowId first_flow) { first_flow_ = first_flow; }
    NodeId host(RankId rank) const { return hosts_[rank]; }

    /// When the operation's dependencies were complete (a compute operation: also its stream free;
    /// a task or an acquire: also its resource), and when it completed; kNever if it did not come to
    /// that.
    Tick start(OpId op) const { return start_[op]; }
    Tick end(OpId op) const { return end_[op]; }
    /// recv: the last byte has arrived; await: the signal has.
    bool arrived(OpId op) const { return arrived_[op] != 0; }
    /// The operation that holds the resource for which `op` waits; kNone: it waits for none.
    OpId holder_before(OpId op) const;
    /// What gave the resource of `op` back before `op` had it; kNone: nothing did.
    OpId served_after(OpId op) const { return served_after_.empty() ? kNone : served_after_[op]; }
    std::uint32_t pending_dependencies(OpId op) const { return pending_[op]; }
    std::size_t completed_count() const;
    bool complete() const { return completed_count() == graph_.op_count(); }
    /// Latest completion so far; 0 if nothing has completed.
    Tick last_end() const;

  private:
    /// One of a rank's resources, and who waits for it: a heap, the least id on top; of a counted one,
    /// those from `served` on in their order.
    struct Resource {
        OpId holder = kNone;    ///< of a counted one: the last that took one
        OpId given_by = kNone;  ///< the last one that gave it back
        std::uint32_t left = 0;
        std::uint32_t served = 0;
        std::vector<OpId> waiting;
    };
    /// Compute in progress, of a graph where communication slows it.
    struct Running {
        OpId op = kNone;
        Tick work = 0;   ///< left, in time of a rank that does not communicate
        Tick since = 0;  ///< when that was so
        Tick due = 0;    ///< when it ends at the present speed
    };
    /// What one rank's callbacks keep between them; a cache line of its own.
    struct alignas(64) RankState {
        std::vector<OpId> ready;
        std::size_t completed = 0;
        Tick last_end = 0;
        std::vector<Resource> resources;
        bool claimed = false;  ///< somebody waits for a resource that may be free
        std::vector<Running> running;
        std::uint32_t communicating = 0;  ///< sends and meets in progress
        bool slow = false;                ///< `running` is timed for communication
    };
    struct MeetingState {
        std::uint32_t present = 0;
        Tick latest = 0;
    };

    RankId rank_of(NodeId host) const { return host < ranks_.size() ? ranks_[host] : kNone; }
    const JobGraph::Message* message_of(FlowId flow) const;
    void arrive(OpId op, Tick now, HostServices& services);
    void advance(OpId op, Tick now, HostServices& services);
    void drain(RankState& state, Tick now, HostServices& services);
    void start_op(OpId op, Tick now, RankState& state, HostServices& services);
    void start_timed(OpId op, Tick now, RankState& state, HostServices& services);
    std::vector<Resource> fresh_resources() const;
    void take_one(OpId op, Tick now, RankState& state);
    void give_one(OpId op, Tick now, RankState& state);
    void check_release(OpId op, const Resource& resource) const;
    void finish_op(OpId op, Tick now, RankState& state);
    void grant_resources(RankState& state, Tick now, HostServices& services);
    void part_present(OpId op, Tick at, HostServices& services);
    bool slows(OpId op) const;
    void time_running(RankState& state, Tick now, HostServices& services);
    bool finish_running(OpId op, Tick now, RankState& state);

    JobGraph graph_;
    std::vector<NodeId> hosts_;
    std::vector<RankId> ranks_;  ///< by node id
    FlowId first_flow_;
    std::vector<RankState> rank_states_;
    std::vector<MeetingState> meetings_;  ///< each touched at its first part's host only
    std::vector<std::uint32_t> pending_;
    std::vector<std::uint8_t> arrived_;
    std::vector<Tick> start_;
    std::vector<Tick> end_;
    std::vector<OpId> served_after_;  ///< empty without resources
};

}  // namespace sluice
