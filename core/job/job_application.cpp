// SPDX-License-Identifier: Apache-2.0
#include "core/job/job_application.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/error.h"
#include "core/job/job_step.h"

namespace sluice {

namespace {

/// What an engine of the host offers to a job's step (core/job/job_step.h): there is always room.
class EngineServices {
  public:
    EngineServices(const JobGraph& graph, HostServices& engine) : graph_(graph), engine_(engine) {}
    static bool room(std::uint32_t) { return true; }
    void start_flow(FlowId flow, Tick at) { engine_.start_flow(flow, at); }
    void set_timer(NodeId host, Tick at, std::uint64_t token) {
        engine_.set_timer(host, at, token);
    }
    Tick lookahead() const { return engine_.lookahead(); }
    /// Else it would give away what another operation holds.
    void bad_release(OpId op, RankResourceId resource) const {
        throw InternalError(graph_.describe(op) + " gives back resource " +
                            std::to_string(resource) + ", which no acquire holds");
    }

  private:
    const JobGraph& graph_;
    HostServices& engine_;
};

using EngineStep = job::Step<EngineServices>;

}  // namespace

JobApplication::JobApplication(JobGraph graph, std::vector<NodeId> hosts, FlowId first_flow)
    : graph_(std::move(graph)), hosts_(std::move(hosts)) {
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
    for (job::RankState& state : rank_states_) fresh_resources(state);
    meetings_.resize(graph_.meetings().size());
    build_columns();
    job_.first_flow = first_flow;
    signal_lookahead_ = least_signal();
}

/// By operation: a quarter of what the graph takes, which nobody needs who only describes it.
void JobApplication::make_state() {
    pending_.resize(graph_.op_count());
    arrived_.assign(graph_.op_count(), 0);
    start_.assign(graph_.op_count(), kNever);
    end_.assign(graph_.op_count(), kNever);
    if (graph_.resources().count() > 0) served_after_.assign(graph_.op_count(), kNone);
    for (OpId op = 0; op < graph_.op_count(); ++op) pending_[op] = graph_.dependency_count(op);
    job_.pending = pending_.data();
    job_.arrived = arrived_.data();
    job_.start = start_.data();
    job_.end = end_.data();
    job_.served_after = served_after_.empty() ? nullptr : served_after_.data();
}

JobApplication::~JobApplication() {
    for (job::RankState& state : rank_states_) free_state(state);
}

void JobApplication::build_columns() {
    job_ = graph_.columns();
    job_.nodes = static_cast<std::uint32_t>(ranks_.size());
    job_.host = hosts_.data();
    job_.rank_at = ranks_.data();
    job_.state = rank_states_.data();
    job_.meet = meetings_.data();
}

Tick JobApplication::least_signal() const {
    Tick least = kNever;
    for (OpId op = 0; op < job_.ops; ++op) {
        if (job_.kind[op] == OpKind::signal && job_.rank[op] != job_.rank[job_.target[op]]) {
            least = std::min(least, job_.duration[op]);
        }
    }
    for (const JobMeeting& meeting : graph_.meetings()) {
        // The parts tell the first part's host, which tells them.
        if (meeting.parts > 1) least = std::min(least, job_.duration[meeting.first] / 2);
    }
    return least;
}

void JobApplication::free_state(job::RankState& state) {
    std::free(state.ready.data);
    std::free(state.running.data);
    for (std::uint32_t i = 0; i < state.resources.count; ++i) {
        std::free(state.resources[i].waiting.data);
    }
    std::free(state.resources.data);
    state = job::RankState{};
}

void JobApplication::on_begin(NodeId host, HostServices& services) {
    reset(host);
    begin(host, 0, services);
}

void JobApplication::reset(NodeId host) {
    const RankId rank = rank_of(host);
    if (rank == kNone) return;
    std::call_once(state_made_, [this] { make_state(); });
    job::RankState& state = rank_states_[rank];
    free_state(state);
    fresh_resources(state);
    for (const OpId op : graph_.ops_of(rank)) {
        pending_[op] = graph_.dependency_count(op);
        arrived_[op] = 0;
        start_[op] = kNever;
        end_[op] = kNever;
        if (pending_[op] == 0) state.ready.push(state.memory, op);
        if (graph_.kind(op) != OpKind::meet) continue;
        const std::uint32_t meeting = graph_.target(op);
        if (graph_.meetings()[meeting].first == op) meetings_[meeting] = {};
    }
}

void JobApplication::fresh_resources(job::RankState& state) const {
    for (RankResourceId id = 0; id < graph_.resources().count(); ++id) {
        job::Resource resource;
        const JobGraph::Count* count = graph_.resources().counted(id);
        if (count != nullptr) resource.left = count->first;
        state.resources.push(state.memory, resource);
    }
}

void JobApplication::begin(NodeId host, Tick now, HostServices& services) {
    EngineServices engine(graph_, services);
    EngineStep(job_, engine).begin(host, now);
}

void JobApplication::on_received(NodeId host, FlowId flow, Tick now, HostServices& services) {
    EngineServices engine(graph_, services);
    EngineStep(job_, engine).received(host, flow, now);
}

void JobApplication::on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) {
    EngineServices engine(graph_, services);
    EngineStep(job_, engine).sent(host, flow, now);
}

void JobApplication::on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) {
    EngineServices engine(graph_, services);
    EngineStep(job_, engine).timer(host, token, now);
}

OpId JobApplication::holder_before(OpId op) const {
    const OpKind kind = graph_.kind(op);
    const bool waits = (kind == OpKind::task || kind == OpKind::acquire) &&
                       pending_dependencies(op) == 0 && start(op) == kNever;
    return waits ? rank_states_[graph_.rank(op)].resources[graph_.target(op)].holder : kNone;
}

std::size_t JobApplication::completed_count() const {
    std::size_t count = 0;
    for (const job::RankState& state : rank_states_) count += state.completed;
    return count;
}

Tick JobApplication::last_end() const {
    Tick last = 0;
    for (const job::RankState& state : rank_states_) last = std::max(last, state.last_end);
    return last;
}

}  // namespace sluice
