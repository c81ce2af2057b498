// SPDX-License-Identifier: Apache-2.0
#include "core/job/job_graph.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

void check_slowdown(std::int64_t millionths) {
    if (millionths < 0 || millionths > JobGraph::kMostSlowdown) {
        throw ConfigError(
            "the slow-down of compute by communication is out of range: allowed are "
            "0 to " +
            std::to_string(JobGraph::kMostSlowdown / 1'000'000));
    }
}

constexpr std::array<const char*, 10> kKindNames = {
    "compute", "delay", "send", "recv", "signal", "await", "meet", "task", "acquire", "release"};
constexpr std::array<const char*, 9> kClassNames = {
    "compute", "TP", "DP", "PP", "EP", "CP", "embedding", "other", "collective"};

/// Turns counts in begin[1..] into offsets.
void accumulate(std::vector<std::uint32_t>& begin) {
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
}

}  // namespace

const char* to_string(OpKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }
const char* to_string(OpClass cls) { return kClassNames[static_cast<std::size_t>(cls)]; }

JobGraph::JobGraph(RankId ranks) : ranks_(ranks), last_compute_(ranks, kNone) {
    if (ranks == 0) throw ConfigError("a job needs at least one rank");
    intern("");
}

void JobGraph::reserve(std::size_t operations, std::size_t dependencies) {
    duration_.reserve(operations);
    rank_.reserve(operations);
    target_.reserve(operations);
    name_.reserve(operations);
    collective_.reserve(operations);
    kind_.reserve(operations);
    cls_.reserve(operations);
    edges_.reserve(dependencies);
}

NameId JobGraph::intern(std::string_view name) {
    const auto [it, fresh] =
        name_ids_.try_emplace(std::string(name), static_cast<NameId>(names_.size()));
    if (fresh) names_.push_back(it->first);
    return it->second;
}

CollectiveId JobGraph::add_collective(const Collective& collective) {
    collectives_.push_back(collective);
    return static_cast<CollectiveId>(collectives_.size() - 1);
}

void JobGraph::check_rank(RankId rank) const {
    if (rank >= ranks_) {
        throw ConfigError("rank " + std::to_string(rank) + " does not exist: ranks are 0 to " +
                          std::to_string(ranks_ - 1));
    }
}

OpId JobGraph::add(OpKind kind, RankId rank, Tick duration, std::uint32_t target, Label label) {
    if (finished_) throw InternalError("operation added to a finished graph");
    check_rank(rank);
    if (duration < 0) {
        throw ConfigError(std::string(to_string(kind)) + " \"" + names_[label.name] +
                          "\" on rank " + std::to_string(rank) +
                          " has a negative duration: it must be 0 or more");
    }
    if (kind_.size() >= kNone) throw ConfigError("a job holds at most 4294967295 operations");
    kind_.push_back(kind);
    cls_.push_back(label.cls);
    rank_.push_back(rank);
    duration_.push_back(duration);
    target_.push_back(target);
    name_.push_back(label.name);
    collective_.push_back(label.collective);
    return static_cast<OpId>(kind_.size() - 1);
}

OpId JobGraph::add_compute(RankId rank, Tick duration, Label label) {
    const OpId op = add(OpKind::compute, rank, duration, kNone, label);
    add_dependency(op, last_compute_[rank]);
    last_compute_[rank] = op;
    return op;
}

OpId JobGraph::add_delay(RankId rank, Tick duration, Label label) {
    return add(OpKind::delay, rank, duration, kNone, label);
}

OpId JobGraph::add_task(RankId rank, RankResourceId resource, Tick duration, Label label) {
    take_resource(resource);
    return add(OpKind::task, rank, duration, resource, label);
}

OpId JobGraph::add_acquire(RankId rank, RankResourceId resource, Label label) {
    take_resource(resource);
    return add(OpKind::acquire, rank, 0, resource, label);
}

OpId JobGraph::add_release(RankId rank, RankResourceId resource, Label label) {
    take_resource(resource);
    return add(OpKind::release, rank, 0, resource, label);
}

void JobGraph::make_counted(RankResourceId resource, Count count) {
    if (finished_) throw InternalError("a resource is made counted in a finished graph");
    take_resource(resource);
    if (counts_.size() <= resource) counts_.resize(resource + std::size_t{1}, {0, 0, false});
    counts_[resource] = count;
}

void JobGraph::take_resource(RankResourceId resource) {
    if (resource >= kMostResources) {
        throw ConfigError("resource " + std::to_string(resource) + " of a rank: allowed are 0 to " +
                          std::to_string(kMostResources - 1));
    }
    resources_ = std::max(resources_, resource + 1);
}

OpId JobGraph::add_meet(const std::vector<RankId>& ranks, Tick duration, Label label) {
    if (ranks.empty()) throw InternalError("a meeting of no ranks");
    std::vector<RankId> sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
        throw ConfigError("\"" + names_[label.name] + "\" lists rank " + std::to_string(*twice) +
                          " twice: members must differ");
    }
    const auto meeting = static_cast<std::uint32_t>(meetings_.size());
    const auto first = static_cast<OpId>(op_count());
    for (const RankId rank : ranks) add(OpKind::meet, rank, duration, meeting, label);
    meetings_.push_back({first, static_cast<std::uint32_t>(ranks.size())});
    return first;
}

CommunicatorId JobGraph::communicator(NameId group, std::uint32_t channel) {
    const auto fresh = static_cast<CommunicatorId>(communicators_.size());
    return communicators_.try_emplace(std::uint64_t{group} << 32 | channel, fresh).first->second;
}

JobGraph::Pair JobGraph::add_message(RankId src, RankId dst, std::int64_t bytes, Label label,
                                     CommunicatorId communicator) {
    check_rank(src);
    check_rank(dst);
    if (src == dst) {
        throw ConfigError("message \"" + names_[label.name] + "\" of rank " + std::to_string(src) +
                          " to itself: the ranks must differ");
    }
    if (bytes < 1) {
        throw ConfigError("message \"" + names_[label.name] + "\" from rank " +
                          std::to_string(src) + " to rank " + std::to_string(dst) + " has " +
                          std::to_string(bytes) + " bytes: it must have at least 1");
    }
    const auto message = static_cast<std::uint32_t>(messages_.size());
    const OpId send = add(OpKind::send, src, 0, message, label);
    const OpId recv = add(OpKind::recv, dst, 0, message, label);
    messages_.push_back({send, recv, bytes});
    connection_.push_back(communicator == kNone ? kNone
                                                : connections_.find_or_add(src, dst, communicator));
    return {send, recv};
}

JobGraph::Pair JobGraph::add_signal(RankId from, RankId to, Tick delay, Label label) {
    check_rank(to);
    const OpId signal = add(OpKind::signal, from, delay, kNone, label);
    const OpId await = add(OpKind::await, to, 0, signal, label);
    target_[signal] = await;
    return {signal, await};
}

void JobGraph::add_dependency(OpId op, OpId on) {
    if (finished_) throw InternalError("dependency added to a finished graph");
    if (on == kNone) return;
    edges_.push_back({op, on});
}

void JobGraph::set_overlap_slowdown(std::int64_t millionths) {
    check_slowdown(millionths);
    slowdowns_.front() = millionths;
}

void JobGraph::set_overlap_slowdown(OpId op, std::int64_t millionths) {
    check_slowdown(millionths);
    const auto own = std::find(slowdowns_.begin() + 1, slowdowns_.end(), millionths);
    if (own - slowdowns_.begin() > UINT16_MAX) {
        throw InternalError("a job graph has too many different slow-downs");
    }
    if (slowdown_of_.size() <= op) {
        slowdown_of_.resize(std::size_t{op} + 1, 0);
    }
    slowdown_of_[op] = static_cast<std::uint16_t>(own - slowdowns_.begin());
    if (own == slowdowns_.end()) {
        slowdowns_.push_back(millionths);
    }
}

void JobGraph::finish() {
    if (finished_) return;
    if (queue_pairs_) split_messages();
    if (!slowdown_of_.empty()) {
        slowdown_of_.resize(op_count(), 0);
    }
    check_edges();
    index_successors();
    group_by_rank();
    refuse_cycles();
    finished_ = true;
    name_ids_ = {};
    communicators_ = {};
    connections_.forget();
}

void JobGraph::check_edges() const {
    if (edges_.size() >= kNone) throw ConfigError("a job holds at most 4294967295 dependencies");
    const std::size_t count = op_count();
    for (const Edge& edge : edges_) {
        if (edge.op >= count) {
            throw ConfigError("operation " + std::to_string(edge.op) +
                              " has dependencies but does not exist");
        }
        if (edge.on >= count) {
            throw ConfigError(describe(edge.op) + " depends on operation " +
                              std::to_string(edge.on) + ", which does not exist");
        }
        if (rank_[edge.op] != rank_[edge.on]) {
            throw ConfigError(describe(edge.op) + " depends on " + describe(edge.on) +
                              ": ranks may depend on each other only by a message or a signal");
        }
    }
}

void JobGraph::index_successors() {
    dependency_count_.assign(op_count(), 0);
    successors_begin_.assign(op_count() + 1, 0);
    for (const Edge& edge : edges_) {
        ++dependency_count_[edge.op];
        ++successors_begin_[edge.on + 1];
    }
    accumulate(successors_begin_);
    successors_.resize(edges_.size());
    // Filling moves every begin to its end, which is the next one's begin.
    for (const Edge& edge : edges_) successors_[successors_begin_[edge.on]++] = edge.op;
    for (std::size_t i = op_count(); i > 0; --i) successors_begin_[i] = successors_begin_[i - 1];
    successors_begin_[0] = 0;
    edges_.clear();
    edges_.shrink_to_fit();
}

void JobGraph::group_by_rank() {
    rank_begin_.assign(static_cast<std::size_t>(ranks_) + 1, 0);
    for (const RankId rank : rank_) ++rank_begin_[rank + 1];
    accumulate(rank_begin_);
    rank_ops_.resize(op_count());
    std::vector<std::uint32_t> next(rank_begin_.begin(), rank_begin_.end() - 1);
    for (OpId op = 0; op < op_count(); ++op) rank_ops_[next[rank_[op]]++] = op;
}

/// A recv cannot complete before its send has started, nor an await before its signal.
OpId JobGraph::remote_successor(OpId op) const {
    if (kind_[op] == OpKind::send) return messages_[target_[op]].recv;
    if (kind_[op] == OpKind::signal) return target_[op];
    return kNone;
}

/// Takes operations away that wait for nothing, all that one round makes ready in the next round:
/// graphs are built step by step over all ranks, so that a round's operations are neighbours in
/// memory.
void JobGraph::refuse_cycles() const {
    std::vector<std::uint32_t> waiting = dependency_count_;
    std::vector<std::uint32_t> absent(meetings_.size());
    for (std::size_t m = 0; m < meetings_.size(); ++m) absent[m] = meetings_[m].parts;
    std::vector<OpId> ready;
    std::vector<OpId> next_ready;
    // A part of a meeting completes when all parts can start.
    const auto release = [&](OpId op) {
        if (kind_[op] != OpKind::meet) {
            next_ready.push_back(op);
        } else if (--absent[target_[op]] == 0) {
            const Meeting& meeting = meetings_[target_[op]];
            for (std::uint32_t i = 0; i < meeting.parts; ++i) {
                next_ready.push_back(meeting.first + i);
            }
        }
    };
    for (OpId op = 0; op < op_count(); ++op) {
        if (kind_[op] == OpKind::recv || kind_[op] == OpKind::await) ++waiting[op];
        if (waiting[op] == 0) release(op);
    }
    std::size_t ordered = 0;
    while (!next_ready.empty()) {
        std::swap(ready, next_ready);
        next_ready.clear();
        ordered += ready.size();
        for (const OpId op : ready) {
            for (const OpId next : successors(op)) {
                if (--waiting[next] == 0) release(next);
            }
            const OpId remote = remote_successor(op);
            if (remote != kNone && --waiting[remote] == 0) release(remote);
        }
    }
    if (ordered == op_count()) return;
    std::vector<bool> done(op_count(), false);
    for (OpId op = 0; op < op_count(); ++op) {
        done[op] = waiting[op] == 0 && (kind_[op] != OpKind::meet || absent[target_[op]] == 0);
    }
    throw ConfigError(describe_cycle(find_cycle(waiting, done)));
}

/// Every operation that is not done waits for another such one: a dependency, its message or
/// signal, or a part of its meeting. Walking backwards from any of them must run into a cycle.
std::vector<OpId> JobGraph::find_cycle(const std::vector<std::uint32_t>& waiting,
                                       const std::vector<bool>& done) const {
    std::vector<OpId> predecessor(op_count(), kNone);
    OpId at = kNone;
    for (OpId op = 0; op < op_count(); ++op) {
        if (done[op]) continue;
        at = op;
        for (const OpId next : successors(op)) predecessor[next] = op;
        const OpId remote = remote_successor(op);
        if (remote != kNone) predecessor[remote] = op;
    }
    for (const Meeting& meeting : meetings_) {
        OpId missing = kNone;
        for (OpId op = meeting.first; op < meeting.first + meeting.parts; ++op) {
            if (waiting[op] != 0) missing = op;
        }
        for (OpId op = meeting.first; op < meeting.first + meeting.parts; ++op) {
            if (waiting[op] == 0) predecessor[op] = missing;
        }
    }
    std::vector<bool> seen(op_count(), false);
    while (!seen[at]) {
        seen[at] = true;
        at = predecessor[at];
    }
    std::vector<OpId> cycle = {at};
    for (OpId op = predecessor[at]; op != at; op = predecessor[op]) cycle.push_back(op);
    return cycle;
}

std::string JobGraph::describe_cycle(const std::vector<OpId>& cycle) const {
    std::string text = "the job can never finish, operations wait for each other in a cycle: ";
    constexpr std::size_t kShown = 6;
    for (std::size_t i = 0; i < cycle.size() && i < kShown; ++i) {
        text += describe(cycle[i]) + " waits for ";
    }
    if (cycle.size() > kShown) {
        text += "... " + std::to_string(cycle.size() - kShown) + " more ... ";
    }
    return text + describe(cycle.front());
}

std::vector<FlowSpec> JobGraph::flows(const std::vector<NodeId>& hosts) const {
    if (hosts.size() < ranks_) {
        throw ConfigError("the job has " + std::to_string(ranks_) + " ranks but the topology has " +
                          std::to_string(hosts.size()) +
                          " hosts: each rank needs a host of its own");
    }
    std::vector<FlowSpec> flows(messages_.size());
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        flows[i].src = hosts[rank_[messages_[i].send]];
        flows[i].dst = hosts[rank_[messages_[i].recv]];
        flows[i].size = messages_[i].bytes;
        flows[i].connection = connection_[i];
        if (!nic_port_.empty()) flows[i].nic_port = nic_port_[i];
    }
    return flows;
}

job::Job JobGraph::columns() const {
    job::Job job;
    job.ops = static_cast<std::uint32_t>(op_count());
    job.kind = kind_.data();
    job.cls = cls_.data();
    job.rank = rank_.data();
    job.duration = duration_.data();
    job.target = target_.data();
    job.successors_begin = successors_begin_.data();
    job.successors = successors_.data();
    job.messages = static_cast<std::uint32_t>(messages_.size());
    job.message = messages_.data();
    job.meeting = meetings_.data();
    job.counts = static_cast<std::uint32_t>(counts_.size());
    job.count = counts_.data();
    job.slowdowns = slowdowns_.data();
    job.slowdown_count = static_cast<std::uint32_t>(slowdowns_.size());
    job.slowdown_of = slowdown_of_.empty() ? nullptr : slowdown_of_.data();
    return job;
}

void JobGraph::check_signals(Tick lookahead) const {
    const auto check = [&](OpId op, const std::string& what, Tick least) {
        if (duration_[op] >= least) return;
        throw ConfigError(describe(op) + what + " after " + format_time(duration_[op]) +
                          ": at least " + format_time(least) + " is needed");
    };
    for (OpId op = 0; op < op_count(); ++op) {
        if (kind_[op] == OpKind::signal && rank_[op] != rank_[target_[op]]) {
            check(op, " reaches rank " + std::to_string(rank_[target_[op]]), lookahead);
        }
    }
    for (const Meeting& meeting : meetings_) {
        if (meeting.parts > 1) {
            check(meeting.first, " of " + std::to_string(meeting.parts) + " ranks completes",
                  2 * lookahead);
        }
    }
}

std::string JobGraph::describe(OpId op) const {
    return "rank " + std::to_string(rank_[op]) + " " + to_string(kind_[op]) + " \"" +
           names_[name_[op]] + "\" (operation " + std::to_string(op) + ")";
}

}  // namespace sluice
