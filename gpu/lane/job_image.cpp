// SPDX-License-Identifier: Apache-2.0
/// Jobs in a lane's memory.
#include "gpu/lane/image.h"
#include "gpu/lane/job_bounds.h"

namespace sluice::gpu {

RankBounds rank_bounds(const JobApplication& application, RankId rank) {
    const JobGraph& graph = application.graph();
    RankBounds bounds;
    bounds.waiting.resize(graph.resources().count());
    for (const OpId op : graph.ops_of(rank)) {
        const OpKind kind = graph.kind(op);
        ++bounds.ready;
        if (kind == OpKind::task || kind == OpKind::acquire) {
            ++bounds.waiting[graph.target(op)];
        }
        const bool timed = kind == OpKind::compute || kind == OpKind::delay || kind == OpKind::task;
        bounds.running += timed && graph.overlap_slowdown(op) > 0 ? 1 : 0;
    }
    return bounds;
}

std::size_t bytes_of_jobs(const std::vector<const JobApplication*>& jobs) {
    std::size_t bytes = rounded(jobs.size() * sizeof(job::Job));
    for (const JobApplication* const application : jobs) {
        const JobGraph& graph = application->graph();
        const job::Job& job = application->columns();
        const std::size_t ops = graph.op_count();
        bytes += 64 * 22;  // columns, each rounded up
        bytes += ops * (sizeof(OpKind) + sizeof(OpClass) + sizeof(RankId) + 3 * sizeof(Tick) +
                        4 * sizeof(std::uint32_t) + 1);
        bytes += job.successors_begin[ops] * sizeof(OpId);
        bytes += graph.messages().size() * sizeof(JobMessage);
        bytes += graph.meetings().size() * (sizeof(JobMeeting) + sizeof(job::MeetingState));
        bytes += job.counts * sizeof(ResourceCount) + job.slowdown_count * sizeof(std::int64_t);
        bytes += job.slowdown_of == nullptr ? 0 : ops * sizeof(std::uint16_t);
        bytes += job.nodes * sizeof(RankId);
        for (RankId rank = 0; rank < graph.rank_count(); ++rank) {
            const RankBounds bounds = rank_bounds(*application, rank);
            bytes += sizeof(NodeId) + sizeof(job::RankState);
            bytes += rounded(bounds.ready * sizeof(OpId));
            bytes += rounded(bounds.running * sizeof(job::Running));
            bytes += rounded(bounds.waiting.size() * sizeof(job::Resource));
            for (const std::uint32_t waiting : bounds.waiting) {
                bytes += rounded(waiting * sizeof(OpId));
            }
        }
    }
    return bytes;
}

void LaneImage::load_jobs() {
    Lane& lane = *lane_;
    lane.job_count = static_cast<std::uint32_t>(jobs_.size());
    if (jobs_.empty()) {
        return;
    }
    auto* const jobs = place<job::Job>(jobs_.size());
    auto* const job_at = place<std::uint32_t>(lane.world.node_count);
    std::fill_n(job_at, lane.world.node_count, std::uint32_t{kNone});
    for (std::uint32_t number = 0; number < jobs_.size(); ++number) {
        const JobApplication& application = *jobs_[number];
        load_job(application.columns(), jobs[number]);
        load_ranks(application, jobs[number].state);
        for (RankId rank = 0; rank < application.graph().rank_count(); ++rank) {
            job_at[application.host(rank)] = number;
        }
    }
    lane.jobs = jobs;
    lane.job_at = job_at;
}

void LaneImage::load_job(const job::Job& from, job::Job& to) {
    std::uint32_t ranks = 0;
    for (NodeId node = 0; node < from.nodes; ++node) {
        ranks += from.rank_at[node] != kNone ? 1 : 0;
    }
    std::uint32_t meetings = 0;
    for (OpId op = 0; op < from.ops; ++op) {
        meetings =
            from.kind[op] == OpKind::meet ? std::max(meetings, from.target[op] + 1) : meetings;
    }
    to = from;
    to.kind = copy(from.kind, from.ops);
    to.cls = copy(from.cls, from.ops);
    to.rank = copy(from.rank, from.ops);
    to.duration = copy(from.duration, from.ops);
    to.target = copy(from.target, from.ops);
    to.successors_begin = copy(from.successors_begin, from.ops + std::size_t{1});
    to.successors = copy(from.successors, from.successors_begin[from.ops]);
    to.message = copy(from.message, from.messages);
    to.meeting = copy(from.meeting, meetings);
    to.count = copy(from.count, from.counts);
    to.slowdowns = copy(from.slowdowns, from.slowdown_count);
    to.slowdown_of = copy(from.slowdown_of, from.slowdown_of == nullptr ? 0 : from.ops);
    to.host = copy(from.host, ranks);
    to.rank_at = copy(from.rank_at, from.nodes);
    to.pending = copy(from.pending, from.ops);
    to.arrived = copy(from.arrived, from.ops);
    to.start = copy(from.start, from.ops);
    to.end = copy(from.end, from.ops);
    to.served_after = copy(from.served_after, from.ops);
    to.meet = copy(from.meet, meetings);
    to.state = place<job::RankState>(ranks);
}

void LaneImage::load_ranks(const JobApplication& application, job::RankState* to) {
    const job::Job& job = application.columns();
    for (RankId rank = 0; rank < application.graph().rank_count(); ++rank) {
        const RankBounds bounds = rank_bounds(application, rank);
        const job::RankState& from = job.state[rank];
        to[rank] = from;
        to[rank].memory = Memory{};
        to[rank].memory.arena = &lane_->arena;
        copy_vector(to[rank].ready, from.ready, bounds.ready);
        copy_vector(to[rank].running, from.running, bounds.running);
        copy_vector(to[rank].resources, from.resources);
        for (std::uint32_t i = 0; i < from.resources.count; ++i) {
            copy_vector(to[rank].resources[i].waiting, from.resources[i].waiting,
                        bounds.waiting[i]);
        }
    }
}

void LaneImage::save_jobs() const {
    for (std::uint32_t number = 0; number < jobs_.size(); ++number) {
        const job::Job& from = lane_->jobs[number];
        const job::Job& to = jobs_[number]->columns();
        std::copy_n(from.pending, from.ops, to.pending);
        std::copy_n(from.arrived, from.ops, to.arrived);
        std::copy_n(from.start, from.ops, to.start);
        std::copy_n(from.end, from.ops, to.end);
        if (from.served_after != nullptr) {
            std::copy_n(from.served_after, from.ops, to.served_after);
        }
        std::copy_n(from.meet, jobs_[number]->graph().meetings().size(), to.meet);
        for (RankId rank = 0; rank < jobs_[number]->graph().rank_count(); ++rank) {
            job::RankState& state = to.state[rank];
            const job::RankState now = from.state[rank];
            save_vector(state.memory, state.ready, now.ready);
            save_vector(state.memory, state.running, now.running);
            for (std::uint32_t i = 0; i < now.resources.count; ++i) {
                job::Resource& resource = state.resources[i];
                const PlainVector<OpId> waiting = resource.waiting;
                resource = now.resources.data[i];
                resource.waiting = waiting;
                save_vector(state.memory, resource.waiting, now.resources.data[i].waiting);
            }
            state.started = now.started;
            state.communicating = now.communicating;
            state.completed = now.completed;
            state.last_end = now.last_end;
            state.claimed = now.claimed;
            state.slow = now.slow;
        }
    }
}

}  // namespace sluice::gpu
