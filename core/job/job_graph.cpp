// SPDX-License-Identifier: Apache-2.0
#include "core/job/job_graph.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/job/job_checks.h"

namespace sluice {

namespace {

constexpr std::array<const char*, 10> kKindNames = {
    "compute", "delay", "send", "recv", "signal", "await", "meet", "task", "acquire", "release"};
constexpr std::array<const char*, 9> kClassNames = {
    "compute", "TP", "DP", "PP", "EP", "CP", "embedding", "other", "collective"};

}  // namespace

const char* to_string(OpKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }
const char* to_string(OpClass cls) { return kClassNames[static_cast<std::size_t>(cls)]; }

JobGraph::JobGraph(RankId ranks) : operations_(ranks), last_compute_(ranks, kNone) {
    if (ranks == 0) throw ConfigError("a job needs at least one rank");
    intern("");
}

void JobGraph::reserve(std::size_t operations, std::size_t dependencies) {
    operations_.reserve(operations);
    dependencies_.reserve(dependencies);
}

NameId JobGraph::intern(std::string_view name) { return names_.intern(name); }

CollectiveId JobGraph::add_collective(const Collective& collective) {
    collectives_.push_back(collective);
    return static_cast<CollectiveId>(collectives_.size() - 1);
}

OpId JobGraph::add(OpKind kind, RankId rank, Tick duration, std::uint32_t target, Label label) {
    if (finished_) throw InternalError("operation added to a finished graph");
    operations_.check_rank(rank);
    if (duration < 0) {
        throw ConfigError(std::string(to_string(kind)) + " \"" + names_[label.name] +
                          "\" on rank " + std::to_string(rank) +
                          " has a negative duration: it must be 0 or more");
    }
    return operations_.add(kind, rank, duration, target, label);
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
    resources_.use(resource);
    return add(OpKind::task, rank, duration, resource, label);
}

OpId JobGraph::add_acquire(RankId rank, RankResourceId resource, Label label) {
    resources_.use(resource);
    return add(OpKind::acquire, rank, 0, resource, label);
}

OpId JobGraph::add_release(RankId rank, RankResourceId resource, Label label) {
    resources_.use(resource);
    return add(OpKind::release, rank, 0, resource, label);
}

void JobGraph::make_counted(RankResourceId resource, Count count) {
    if (finished_) throw InternalError("a resource is made counted in a finished graph");
    resources_.make_counted(resource, count);
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
    return messages_.communicator(group, channel);
}

JobGraph::Pair JobGraph::add_message(RankId src, RankId dst, std::int64_t bytes, Label label,
                                     CommunicatorId communicator) {
    operations_.check_rank(src);
    operations_.check_rank(dst);
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
    messages_.add({send, recv, bytes}, src, dst, communicator);
    return {send, recv};
}

JobGraph::Pair JobGraph::add_signal(RankId from, RankId to, Tick delay, Label label) {
    operations_.check_rank(to);
    const OpId signal = add(OpKind::signal, from, delay, kNone, label);
    const OpId await = add(OpKind::await, to, 0, signal, label);
    operations_.set_target(signal, await);
    return {signal, await};
}

void JobGraph::add_dependency(OpId op, OpId on) {
    if (finished_) throw InternalError("dependency added to a finished graph");
    if (on == kNone) return;
    dependencies_.add(op, on);
}

void JobGraph::set_overlap_slowdown(std::int64_t millionths) { slowdowns_.set(millionths); }

void JobGraph::set_overlap_slowdown(OpId op, std::int64_t millionths) {
    slowdowns_.set(op, millionths);
}

void JobGraph::finish() {
    if (finished_) return;
    if (queue_pairs_) MessageParts(operations_, messages_, dependencies_).split_all(queue_pairs_);
    slowdowns_.finish(op_count());
    check_dependencies(*this, dependencies_.listed());
    dependencies_.index(op_count());
    operations_.group_by_rank();
    refuse_cycles(*this);
    finished_ = true;
    names_.forget();
    messages_.forget();
}

std::vector<FlowSpec> JobGraph::flows(const std::vector<NodeId>& hosts) const {
    if (hosts.size() < rank_count()) {
        throw ConfigError("the job has " + std::to_string(rank_count()) +
                          " ranks but the topology has " + std::to_string(hosts.size()) +
                          " hosts: each rank needs a host of its own");
    }
    std::vector<FlowSpec> flows(messages_.size());
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        flows[i].src = hosts[rank(messages_[i].send)];
        flows[i].dst = hosts[rank(messages_[i].recv)];
        flows[i].size = messages_[i].bytes;
        flows[i].connection = messages_.connection(i);
        flows[i].nic_port = messages_.nic_port(i);
    }
    return flows;
}

job::Job JobGraph::columns() const {
    job::Job job;
    operations_.show(job);
    dependencies_.show(job);
    job.messages = static_cast<std::uint32_t>(messages_.size());
    job.message = messages_.data();
    job.meeting = meetings_.data();
    job.counts = static_cast<std::uint32_t>(resources_.counts().size());
    job.count = resources_.counts().data();
    slowdowns_.show(job);
    return job;
}

std::string JobGraph::describe(OpId op) const {
    return "rank " + std::to_string(rank(op)) + " " + to_string(kind(op)) + " \"" +
           names_[label(op).name] + "\" (operation " + std::to_string(op) + ")";
}

}  // namespace sluice
