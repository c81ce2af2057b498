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

#include <mutex>
#include <vector>

#include "core/flow/application.h"
#include "core/job/job_graph.h"
#include "core/job/job_state.h"

namespace sluice {

class JobApplication final : public Application {
  public:
    /// `graph` must be finished; `hosts` are different nodes, at least one per rank.
    JobApplication(JobGraph graph, std::vector<NodeId> hosts, FlowId first_flow = 0);
    ~JobApplication() override;
    JobApplication(const JobApplication&) = delete;
    JobApplication& operator=(const JobApplication&) = delete;

    bool waits_at(NodeId host) const override { return rank_of(host) != kNone; }
    /// The least delay of a signal between ranks, or half of the least meeting of several ranks.
    Tick signal_lookahead() const override { return signal_lookahead_; }
    void on_begin(NodeId host, HostServices& services) override;
    /// The two halves of on_begin(): forgets an earlier run; starts the rank of `host` at `now`.
    void reset(NodeId host);
    void begin(NodeId host, Tick now, HostServices& services);
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override;

    const JobGraph& graph() const { return graph_; }
    FlowId first_flow() const { return job_.first_flow; }
    /// Before the first run.
    void set_first_flow(FlowId first_flow) { job_.first_flow = first_flow; }
    NodeId host(RankId rank) const { return hosts_[rank]; }

    /// When the operation's dependencies were complete (a compute operation: also its stream free;
    /// a task or an acquire: also its resource), and when it completed; kNever if it did not come to
    /// that.
    Tick start(OpId op) const { return start_.empty() ? kNever : start_[op]; }
    Tick end(OpId op) const { return end_.empty() ? kNever : end_[op]; }
    /// recv: the last byte has arrived; await: the signal has.
    bool arrived(OpId op) const { return !arrived_.empty() && arrived_[op] != 0; }
    /// The operation that holds the resource for which `op` waits; kNone: it waits for none.
    OpId holder_before(OpId op) const;
    /// What gave the resource of `op` back before `op` had it; kNone: nothing did.
    OpId served_after(OpId op) const { return served_after_.empty() ? kNone : served_after_[op]; }
    std::uint32_t pending_dependencies(OpId op) const {
        return pending_.empty() ? graph_.dependency_count(op) : pending_[op];
    }
    std::size_t completed_count() const;
    bool complete() const { return completed_count() == graph_.op_count(); }
    /// Latest completion so far; 0 if nothing has completed.
    Tick last_end() const;

    /// The job as columns, which stay where they are: for whoever executes it elsewhere (gpu/), and puts what
    /// came of it back. How far it has come is there from the first reset() on.
    const job::Job& columns() const { return job_; }

  private:
    RankId rank_of(NodeId host) const { return job::rank_at(job_, host); }
    void build_columns();
    void make_state();
    Tick least_signal() const;
    void fresh_resources(job::RankState& state) const;
    static void free_state(job::RankState& state);

    JobGraph graph_;
    std::vector<NodeId> hosts_;
    std::vector<RankId> ranks_;  ///< by node id
    std::vector<job::RankState> rank_states_;
    std::vector<job::MeetingState> meetings_;  ///< each touched at its first part's host only
    // By operation, from the first reset() on.
    std::once_flag state_made_;
    std::vector<std::uint32_t> pending_;
    std::vector<std::uint8_t> arrived_;
    std::vector<Tick> start_;
    std::vector<Tick> end_;
    std::vector<OpId> served_after_;  ///< empty without resources
    job::Job job_;
    Tick signal_lookahead_ = kNever;
};

}  // namespace sluice
