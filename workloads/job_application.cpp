// SPDX-License-Identifier: Apache-2.0
#include "workloads/job_application.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace sluice {

namespace {

/// now + duration, or the last instant that exists.
Tick later(Tick now, Tick duration) {
    return duration < kNever - now ? now + duration : kNever - 1;
}

}  // namespace

JobApplication::JobApplication(JobGraph graph, std::vector<NodeId> hosts, FlowId first_flow)
    : graph_(std::move(graph)), hosts_(std::move(hosts)), first_flow_(first_flow) {
    if (!graph_.finished()) throw InternalError("the job graph is not finished");
    if (hosts_.size() < graph_.rank_count()) {
        throw ConfigError("the job has " + std::to_string(graph_.rank_count()) +
                          " ranks but only " + std::to_string(hosts_.size()) + " hosts");
    }
    hosts_.resize(graph_.rank_count());
    ranks_.assign(*std::max_element(hosts_.begin(), hosts_.end()) + std::size_t{1}, kNone);
    for (RankId rank = 0; rank < hosts_.size(); ++rank) {
        RankId& owner = ranks_[hosts_[rank]];
        if (owner != kNone) {
            throw ConfigError("host " + std::to_string(hosts_[rank]) + " is given to ranks " +
                              std::to_string(owner) + " and " + std::to_string(rank) +
                              ": each rank needs a host of its own");
        }
        owner = rank;
    }
    rank_states_.resize(graph_.rank_count());
    pending_.resize(graph_.op_count());
    arrived_.assign(graph_.op_count(), 0);
    start_.assign(graph_.op_count(), kNever);
    end_.assign(graph_.op_count(), kNever);
    for (OpId op = 0; op < graph_.op_count(); ++op) pending_[op] = graph_.dependency_count(op);
}

void JobApplication::on_begin(NodeId host, HostServices& services) {
    const RankId rank = rank_of(host);
    if (rank == kNone) return;
    RankState& state = rank_states_[rank];
    state.ready.clear();
    state.completed = 0;
    state.last_end = 0;
    for (const OpId op : graph_.ops_of(rank)) {
        pending_[op] = graph_.dependency_count(op);
        arrived_[op] = 0;
        start_[op] = kNever;
        end_[op] = kNever;
        if (pending_[op] == 0) state.ready.push_back(op);
    }
    for (std::size_t i = 0; i < state.ready.size(); ++i) {
        start_op(state.ready[i], 0, state, services);
    }
    state.ready.clear();
}

const JobGraph::Message* JobApplication::message_of(FlowId flow) const {
    if (flow < first_flow_ || flow - first_flow_ >= graph_.messages().size()) return nullptr;
    return &graph_.messages()[flow - first_flow_];
}

void JobApplication::on_received(NodeId host, FlowId flow, Tick now, HostServices& services) {
    const JobGraph::Message* message = message_of(flow);
    if (message == nullptr || rank_of(host) != graph_.rank(message->recv)) return;
    arrive(message->recv, now, services);
}

void JobApplication::on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) {
    const JobGraph::Message* message = message_of(flow);
    if (message == nullptr || rank_of(host) != graph_.rank(message->send)) return;
    advance(message->send, now, services);
}

void JobApplication::on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) {
    if (token >= graph_.op_count()) return;
    const auto op = static_cast<OpId>(token);
    if (rank_of(host) != graph_.rank(op)) return;
    if (graph_.kind(op) == OpKind::await) {
        arrive(op, now, services);
    } else {
        advance(op, now, services);
    }
}

void JobApplication::arrive(OpId op, Tick now, HostServices& services) {
    arrived_[op] = 1;
    if (start_[op] != kNever) advance(op, now, services);
}

void JobApplication::advance(OpId op, Tick now, HostServices& services) {
    RankState& state = rank_states_[graph_.rank(op)];
    finish_op(op, now, state);
    // A queue, not recursion: a chain of operations that take no time may be long.
    for (std::size_t i = 0; i < state.ready.size(); ++i) {
        start_op(state.ready[i], now, state, services);
    }
    state.ready.clear();
}

void JobApplication::start_op(OpId op, Tick now, RankState& state, HostServices& services) {
    start_[op] = now;
    const RankId rank = graph_.rank(op);
    const Tick duration = graph_.duration(op);
    switch (graph_.kind(op)) {
        case OpKind::compute:
        case OpKind::delay:
            if (duration == 0) {
                finish_op(op, now, state);
            } else {
                services.set_timer(hosts_[rank], later(now, duration), op);
            }
            break;
        case OpKind::send: services.start_flow(first_flow_ + graph_.target(op), now); break;
        case OpKind::signal: {
            const OpId await = graph_.target(op);
            services.set_timer(hosts_[graph_.rank(await)], later(now, duration), await);
            finish_op(op, now, state);
            break;
        }
        case OpKind::recv:
        case OpKind::await:
            if (arrived_[op] != 0) finish_op(op, now, state);
            break;
    }
}

void JobApplication::finish_op(OpId op, Tick now, RankState& state) {
    end_[op] = now;
    ++state.completed;
    state.last_end = std::max(state.last_end, now);
    for (const OpId next : graph_.successors(op)) {
        if (--pending_[next] == 0) state.ready.push_back(next);
    }
}

std::size_t JobApplication::completed_count() const {
    std::size_t count = 0;
    for (const RankState& state : rank_states_) count += state.completed;
    return count;
}

Tick JobApplication::last_end() const {
    Tick last = 0;
    for (const RankState& state : rank_states_) last = std::max(last, state.last_end);
    return last;
}

}  // namespace sluice
