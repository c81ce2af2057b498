// SPDX-License-Identifier: Apache-2.0
/// Executes a JobGraph on the hosts of a network and records when each operation ran.
/// Rank r runs on hosts[r]; the graph's message m is flow first_flow + m of the experiment, so
/// several jobs and other traffic can share one flow list. Callbacks for other hosts and flows
/// are ignored.
/// All mutable state belongs to one rank and is touched only by callbacks for that rank's host, so
/// engines may call hosts in any order within their lookahead and from several threads. Operations
/// of a rank that become ready at once start in order of readiness, ties in order of addition.
/// on_begin() resets its rank: one application can be run again.
#pragma once

#include <vector>

#include "core/flow/application.h"
#include "workloads/job_graph.h"

namespace sluice {

class JobApplication final : public Application {
  public:
    /// `graph` must be finished; `hosts` are different nodes, at least one per rank.
    JobApplication(JobGraph graph, std::vector<NodeId> hosts, FlowId first_flow = 0);

    void on_begin(NodeId host, HostServices& services) override;
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override;

    const JobGraph& graph() const { return graph_; }
    FlowId first_flow() const { return first_flow_; }
    NodeId host(RankId rank) const { return hosts_[rank]; }

    /// When the operation's dependencies were complete (a compute operation: also its stream
    /// free), and when it completed; kNever if it did not come to that.
    Tick start(OpId op) const { return start_[op]; }
    Tick end(OpId op) const { return end_[op]; }
    /// recv: the last byte has arrived; await: the signal has.
    bool arrived(OpId op) const { return arrived_[op] != 0; }
    std::uint32_t pending_dependencies(OpId op) const { return pending_[op]; }
    std::size_t completed_count() const;
    bool complete() const { return completed_count() == graph_.op_count(); }
    /// Latest completion so far; 0 if nothing has completed.
    Tick last_end() const;

  private:
    /// What one rank's callbacks keep between them; a cache line of its own.
    struct alignas(64) RankState {
        std::vector<OpId> ready;
        std::size_t completed = 0;
        Tick last_end = 0;
    };

    RankId rank_of(NodeId host) const { return host < ranks_.size() ? ranks_[host] : kNone; }
    const JobGraph::Message* message_of(FlowId flow) const;
    void arrive(OpId op, Tick now, HostServices& services);
    void advance(OpId op, Tick now, HostServices& services);
    void start_op(OpId op, Tick now, RankState& state, HostServices& services);
    void finish_op(OpId op, Tick now, RankState& state);

    JobGraph graph_;
    std::vector<NodeId> hosts_;
    std::vector<RankId> ranks_;  ///< by node id
    FlowId first_flow_;
    std::vector<RankState> rank_states_;
    std::vector<std::uint32_t> pending_;
    std::vector<std::uint8_t> arrived_;
    std::vector<Tick> start_;
    std::vector<Tick> end_;
};

}  // namespace sluice
