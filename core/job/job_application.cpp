// SPDX-License-Identifier: Apache-2.0
#include "core/job/job_application.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/error.h"

namespace sluice {

namespace {

/// A timer's token: the operation that completes or whose signal arrives; with this bit, the part of
/// a meeting that is present, told to the host of the first part.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 32;

__extension__ typedef __int128 Wide;
constexpr std::int64_t kMillion = 1'000'000;

/// Nothing ends later: flows that start then have a day until time itself ends.
constexpr Tick kLastEnd = kNever - 86'400 * kSecond;
/// What would end later than that has no timer.
constexpr Tick kTooLate = kNever - 1;

Tick later(Tick now, Tick duration) {
    return duration <= kLastEnd - now ? now + duration : kTooLate;
}

void set_timer(HostServices& services, NodeId host, Tick at, std::uint64_t token) {
    if (at != kTooLate) services.set_timer(host, at, token);
}

/// How long `work` takes, and how much is done in `time`, where work is `slowdown` millionths slower.
/// Rounded so that work is never done early.
Tick slowed_time(Tick work, std::int64_t slowdown) {
    const Wide time = (static_cast<Wide>(work) * (kMillion + slowdown) + kMillion - 1) / kMillion;
    return time < kTooLate ? static_cast<Tick>(time) : kTooLate;
}
Tick slowed_work(Tick time, std::int64_t slowdown) {
    return static_cast<Tick>(static_cast<Wide>(time) * kMillion / (kMillion + slowdown));
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
    for (RankState& state : rank_states_) state.resources = fresh_resources();
    meetings_.resize(graph_.meetings().size());
    pending_.resize(graph_.op_count());
    arrived_.assign(graph_.op_count(), 0);
    start_.assign(graph_.op_count(), kNever);
    end_.assign(graph_.op_count(), kNever);
    if (graph_.resource_count() > 0) served_after_.assign(graph_.op_count(), kNone);
    for (OpId op = 0; op < graph_.op_count(); ++op) pending_[op] = graph_.dependency_count(op);
}

void JobApplication::on_begin(NodeId host, HostServices& services) {
    reset(host);
    begin(host, 0, services);
}

void JobApplication::reset(NodeId host) {
    const RankId rank = rank_of(host);
    if (rank == kNone) return;
    RankState& state = rank_states_[rank];
    state = RankState{};
    state.resources = fresh_resources();
    for (const OpId op : graph_.ops_of(rank)) {
        pending_[op] = graph_.dependency_count(op);
        arrived_[op] = 0;
        start_[op] = kNever;
        end_[op] = kNever;
        if (pending_[op] == 0) state.ready.push_back(op);
        if (graph_.kind(op) != OpKind::meet) continue;
        const std::uint32_t meeting = graph_.target(op);
        if (graph_.meetings()[meeting].first == op) meetings_[meeting] = {};
    }
}

std::vector<JobApplication::Resource> JobApplication::fresh_resources() const {
    std::vector<Resource> resources(graph_.resource_count());
    for (RankResourceId id = 0; id < resources.size(); ++id) {
        const JobGraph::Count* count = graph_.counted(id);
        if (count != nullptr) resources[id].left = count->first;
    }
    return resources;
}

void JobApplication::begin(NodeId host, Tick now, HostServices& services) {
    const RankId rank = rank_of(host);
    if (rank != kNone) drain(rank_states_[rank], now, services);
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
    const bool present = (token & kPresent) != 0;
    token &= ~kPresent;
    if (token >= graph_.op_count()) return;
    const auto op = static_cast<OpId>(token);
    if (present) {
        part_present(op, now - services.lookahead(), services);
        return;
    }
    if (rank_of(host) != graph_.rank(op)) return;
    if (graph_.kind(op) == OpKind::await) {
        arrive(op, now, services);
    } else if (!slows(op) || finish_running(op, now, rank_states_[graph_.rank(op)])) {
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
    drain(state, now, services);
}

/// Starts all that can start now. A queue, not recursion: a chain of operations that take no time may
/// be long.
void JobApplication::drain(RankState& state, Tick now, HostServices& services) {
    do {
        for (std::size_t i = 0; i < state.ready.size(); ++i) {
            start_op(state.ready[i], now, state, services);
        }
        state.ready.clear();
        grant_resources(state, now, services);
    } while (!state.ready.empty() || state.claimed);
    if (graph_.overlap_slowdown() > 0) time_running(state, now, services);
}

void JobApplication::start_op(OpId op, Tick now, RankState& state, HostServices& services) {
    const OpKind kind = graph_.kind(op);
    if (kind == OpKind::acquire && graph_.counted(graph_.target(op)) != nullptr) {
        Resource& resource = state.resources[graph_.target(op)];
        if (resource.left == 0) {
            resource.waiting.push_back(op);
        } else {
            --resource.left;
            take_one(op, now, state);
        }
        return;
    }
    if (kind == OpKind::task || kind == OpKind::acquire) {
        std::vector<OpId>& waiting = state.resources[graph_.target(op)].waiting;
        waiting.push_back(op);
        std::push_heap(waiting.begin(), waiting.end(), std::greater<>());
        state.claimed = true;
        return;
    }
    start_[op] = now;
    switch (kind) {
        case OpKind::compute:
        case OpKind::delay: start_timed(op, now, state, services); break;
        case OpKind::send:
            ++state.communicating;
            services.start_flow(first_flow_ + graph_.target(op), now);
            break;
        case OpKind::signal: {
            const OpId await = graph_.target(op);
            set_timer(services, hosts_[graph_.rank(await)], later(now, graph_.duration(op)), await);
            finish_op(op, now, state);
            break;
        }
        case OpKind::meet: {
            ++state.communicating;
            const OpId first = graph_.meetings()[graph_.target(op)].first;
            services.set_timer(hosts_[graph_.rank(first)], now + services.lookahead(),
                               kPresent | op);
            break;
        }
        case OpKind::recv:
        case OpKind::await:
            if (arrived_[op] != 0) finish_op(op, now, state);
            break;
        case OpKind::release: finish_op(op, now, state); break;
        case OpKind::task:
        case OpKind::acquire: break;
    }
}

void JobApplication::start_timed(OpId op, Tick now, RankState& state, HostServices& services) {
    const Tick duration = graph_.duration(op);
    if (duration == 0) {
        finish_op(op, now, state);
    } else if (slows(op)) {
        // Timed at the end of this instant, when it is known whether the rank communicates.
        state.running.push_back({op, duration, now, kNever});
    } else {
        set_timer(services, hosts_[graph_.rank(op)], later(now, duration), op);
    }
}

/// Free resources go to those that wait for them; what that completes at once may free them again.
void JobApplication::grant_resources(RankState& state, Tick now, HostServices& services) {
    if (!state.claimed) return;
    state.claimed = false;
    for (Resource& resource : state.resources) {
        if (resource.holder != kNone || resource.waiting.empty()) continue;
        std::pop_heap(resource.waiting.begin(), resource.waiting.end(), std::greater<>());
        const OpId op = resource.waiting.back();
        resource.waiting.pop_back();
        resource.holder = op;
        served_after_[op] = resource.given_by;
        start_[op] = now;
        if (graph_.kind(op) == OpKind::task) {
            start_timed(op, now, state, services);
        } else {
            finish_op(op, now, state);
        }
    }
}

void JobApplication::take_one(OpId op, Tick now, RankState& state) {
    Resource& resource = state.resources[graph_.target(op)];
    resource.holder = op;
    served_after_[op] = resource.given_by;
    start_[op] = now;
    finish_op(op, now, state);
}

void JobApplication::give_one(OpId op, Tick now, RankState& state) {
    Resource& resource = state.resources[graph_.target(op)];
    resource.given_by = op;
    if (resource.waiting.empty()) {
        const std::uint32_t most = graph_.counted(graph_.target(op))->most;
        resource.left = std::min(resource.left + 1, most);
        return;
    }
    const OpId next = resource.waiting[resource.served++];
    if (resource.served == resource.waiting.size()) {
        resource.waiting.clear();
        resource.served = 0;
    }
    take_one(next, now, state);
}

void JobApplication::finish_op(OpId op, Tick now, RankState& state) {
    end_[op] = now;
    ++state.completed;
    state.last_end = std::max(state.last_end, now);
    const OpKind kind = graph_.kind(op);
    if (kind == OpKind::release && graph_.counted(graph_.target(op)) != nullptr) {
        give_one(op, now, state);
    } else if (kind == OpKind::task || kind == OpKind::release) {
        Resource& resource = state.resources[graph_.target(op)];
        if (kind == OpKind::release) check_release(op, resource);
        resource.holder = kNone;
        resource.given_by = op;
        state.claimed = true;
    } else if (kind == OpKind::send || kind == OpKind::meet) {
        --state.communicating;
    }
    for (const OpId next : graph_.successors(op)) {
        if (--pending_[next] == 0) state.ready.push_back(next);
    }
}

/// Else it would give away what another operation holds.
void JobApplication::check_release(OpId op, const Resource& resource) const {
    if (resource.holder != kNone && graph_.kind(resource.holder) == OpKind::acquire) return;
    throw InternalError(graph_.describe(op) + " gives back resource " +
                        std::to_string(graph_.target(op)) + ", which no acquire holds");
}

/// Runs at the host of the meeting's first part: another one's part `op` has been there since `at`.
void JobApplication::part_present(OpId op, Tick at, HostServices& services) {
    const std::uint32_t index = graph_.target(op);
    const JobGraph::Meeting& meeting = graph_.meetings()[index];
    MeetingState& state = meetings_[index];
    state.latest = std::max(state.latest, at);
    if (++state.present < meeting.parts) return;
    const Tick end = later(state.latest, graph_.duration(op));
    for (OpId part = meeting.first; part < meeting.first + meeting.parts; ++part) {
        set_timer(services, hosts_[graph_.rank(part)], end, part);
    }
}

bool JobApplication::slows(OpId op) const {
    const OpKind kind = graph_.kind(op);
    return graph_.overlap_slowdown() > 0 && graph_.label(op).cls == OpClass::compute &&
           (kind == OpKind::compute || kind == OpKind::task || kind == OpKind::delay);
}

/// Compute that runs changes speed when its rank begins or ends to communicate. Timers cannot be
/// taken back: those set for an earlier speed find another due time and mean nothing.
void JobApplication::time_running(RankState& state, Tick now, HostServices& services) {
    const std::int64_t slowdown = graph_.overlap_slowdown();
    const bool slow = state.communicating > 0;
    for (Running& running : state.running) {
        if (running.due != kNever && slow == state.slow) continue;
        if (running.due != kNever) {
            const Tick elapsed = now - running.since;
            running.work -= state.slow ? slowed_work(elapsed, slowdown) : elapsed;
            running.work = std::max<Tick>(running.work, 0);
        }
        running.since = now;
        running.due = later(now, slow ? slowed_time(running.work, slowdown) : running.work);
        set_timer(services, hosts_[graph_.rank(running.op)], running.due, running.op);
    }
    state.slow = slow;
}

bool JobApplication::finish_running(OpId op, Tick now, RankState& state) {
    for (Running& running : state.running) {
        if (running.op != op || running.due != now) continue;
        running = state.running.back();
        state.running.pop_back();
        return true;
    }
    return false;
}

OpId JobApplication::holder_before(OpId op) const {
    const OpKind kind = graph_.kind(op);
    const bool waits = (kind == OpKind::task || kind == OpKind::acquire) && pending_[op] == 0 &&
                       start_[op] == kNever;
    return waits ? rank_states_[graph_.rank(op)].resources[graph_.target(op)].holder : kNone;
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
