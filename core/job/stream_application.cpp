// SPDX-License-Identifier: Apache-2.0
#include "core/job/stream_application.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/error.h"

namespace sluice {

namespace {

/// A timer's token: the operation that ends, or this, the job's start.
constexpr std::uint64_t kStart = std::uint64_t{1} << 32;

/// As in a job that is a graph: nothing ends within a day of the end of time.
constexpr Tick kLastEnd = kNever - 86'400 * kSecond;

}  // namespace

StreamApplication::StreamApplication(std::unique_ptr<OperationSource> source,
                                     std::vector<NodeId> hosts, const StreamOptions& options)
    : source_(std::move(source)),
      hosts_(std::move(hosts)),
      options_(options),
      indexed_(source_->indexed()),
      numbering_(source_->numbering()) {
    const RankId count = source_->rank_count();
    if (hosts_.size() < count) {
        throw ConfigError("the job has " + std::to_string(count) + " ranks but only " +
                          std::to_string(hosts_.size()) + " hosts");
    }
    if (numbering_ == FlowNumbering::tag && count > 65'536) {
        throw ConfigError("a streamed job of such a file has at most 65536 ranks");
    }
    if (options_.window == 0) {
        options_.window = std::clamp<std::uint32_t>((1U << 19) / count, kBlockSize, 4096);
    }
    hosts_.resize(count);
    rank_of_.assign(*std::max_element(hosts_.begin(), hosts_.end()) + std::size_t{1}, kNone);
    for (RankId rank = 0; rank < count; ++rank) rank_of_[hosts_[rank]] = rank;
    ranks_.resize(count);
    for (RankId rank = 0; rank < count; ++rank) {
        ranks_[rank].resources.resize(source_->resource_count());
        if (!indexed_) continue;
        ranks_[rank].count = source_->operation_count(rank);
        ranks_[rank].ended = true;
    }
}

// Callbacks.

void StreamApplication::on_begin(NodeId host, HostServices& services) {
    const RankId rank = rank_of(host);
    if (rank == kNone) return;
    if (options_.start > 0) {
        services.set_timer(host, options_.start, kStart);
    } else {
        begin(rank, 0, services);
    }
}

void StreamApplication::begin(RankId rank, Tick now, HostServices& services) {
    ranks_[rank].begun = true;
    if (indexed_) {
        // Recvs first: a send to oneself must find them posted.
        std::vector<StreamOp> others;
        for (const StreamOp op : source_->roots(rank)) {
            if (place(rank, op).given.kind == StreamKind::recv) {
                start_op(rank, op, now, services);
            } else {
                others.push_back(op);
            }
        }
        std::vector<StreamOp>& ready = ranks_[rank].ready;
        ready.insert(ready.end(), others.begin(), others.end());
    }
    drain(rank, now, services);
}

void StreamApplication::on_timer(NodeId host, std::uint64_t token, Tick now,
                                 HostServices& services) {
    const RankId rank = rank_of(host);
    if (rank == kNone) return;
    if (token == kStart) {
        begin(rank, now, services);
        return;
    }
    const auto op = static_cast<StreamOp>(token);
    free_resource(rank, place(rank, op).given.resource);
    finish_op(rank, op, now);
    drain(rank, now, services);
}

StreamApplication::Sender StreamApplication::sender_of(FlowId flow) {
    const auto op = static_cast<StreamOp>(flow & 0xffffffffU);
    const auto rank = static_cast<RankId>(flow >> 32);
    if (numbering_ == FlowNumbering::tag) return {rank & 0xffffU, op};
    // The id is that of the lower rank's end, be that the send or the recv.
    const Place end = place(rank, op);
    if (end.given.kind == StreamKind::send) return {rank, op};
    return {end.given.peer, end.state.partner};
}

void StreamApplication::on_received(NodeId host, FlowId flow, Tick now, HostServices& services) {
    const RankId rank = rank_of(host);
    const Sender sender = sender_of(flow);
    const Place at = place(sender.rank, sender.op);
    if (at.state.partner == kNoStreamOp) {
        matches_.arrive(sender.rank, rank, at.given.tag, sender.op);
        return;
    }
    arrive(rank, at.state.partner, now);
    drain(rank, now, services);
}

void StreamApplication::on_sent(NodeId /*host*/, FlowId flow, Tick now, HostServices& services) {
    const Sender sender = sender_of(flow);
    const Place at = place(sender.rank, sender.op);
    const RankId peer = at.given.peer;
    const StreamOp recv = at.state.partner;
    if (at.given.resource != StreamOperation::kNoResource) {
        free_resource(sender.rank, at.given.resource);
    }
    finish_op(sender.rank, sender.op, now);
    if (recv != kNoStreamOp) {
        let_go(peer, place(peer, recv).block);
        let_go(sender.rank, at.block);
    }
    drain(sender.rank, now, services);
}

// Operations.

/// Starts all that can start now. A queue, not recursion: a chain of operations that take no time may
/// be long.
void StreamApplication::drain(RankId rank, Tick now, HostServices& services) {
    Rank& state = ranks_[rank];
    do {
        for (std::size_t i = 0; i < state.ready.size(); ++i) {
            start_op(rank, state.ready[i], now, services);
        }
        state.ready.clear();
        grant_resources(rank, now, services);
        if (!indexed_ && state.ready.empty() && !state.claimed) refill(rank, now);
    } while (!state.ready.empty() || state.claimed);
}

void StreamApplication::start_op(RankId rank, StreamOp op, Tick now, HostServices& services) {
    const Place at = place(rank, op);
    const StreamOperation& given = at.given;
    // A recv that waits for nothing but its message keeps nothing: it is as the source has it.
    const bool posted = is_posted(given);
    if (!posted) touch(at);
    at.state.started = true;
    if (indexed_) {
        for (std::uint32_t i = 0; i < given.starts; ++i) {
            release(rank, at.block->given.links[given.first_link + given.ends + i]);
        }
    }
    switch (given.kind) {
        case StreamKind::compute: wait_for(rank, given.resource, op); break;
        case StreamKind::join: finish_op(rank, op, now); break;
        case StreamKind::send:
            if (given.resource == StreamOperation::kNoResource) {
                send(rank, op, now, services);
            } else {
                wait_for(rank, given.resource, op);
            }
            break;
        case StreamKind::recv:
            if (at.state.arrived) finish_op(rank, op, now);
            break;
    }
    if (posted) release_unheld(rank, at.block);
}

void StreamApplication::wait_for(RankId rank, std::uint16_t resource, StreamOp op) {
    std::vector<StreamOp>& waiting = ranks_[rank].resources[resource].waiting;
    waiting.push_back(op);
    std::push_heap(waiting.begin(), waiting.end(), std::greater<>());
    ranks_[rank].claimed = true;
}

void StreamApplication::free_resource(RankId rank, std::uint16_t resource) {
    ranks_[rank].resources[resource].taken = false;
    ranks_[rank].claimed = true;
}

/// Free resources go to those that wait for them; what that completes at once may free them again.
void StreamApplication::grant_resources(RankId rank, Tick now, HostServices& services) {
    if (!ranks_[rank].claimed) return;
    ranks_[rank].claimed = false;
    for (Resource& resource : ranks_[rank].resources) {
        if (resource.taken || resource.waiting.empty()) continue;
        std::pop_heap(resource.waiting.begin(), resource.waiting.end(), std::greater<>());
        const StreamOp op = resource.waiting.back();
        resource.waiting.pop_back();
        resource.taken = true;
        const Place at = place(rank, op);
        const std::int64_t amount = at.given.amount;
        if (at.given.kind == StreamKind::send) {
            send(rank, op, now, services);
        } else if (amount == 0) {
            free_resource(rank, at.given.resource);
            finish_op(rank, op, now);
        } else if (amount <= kLastEnd - now) {
            services.set_timer(hosts_[rank], now + amount, op);
        }
    }
}

void StreamApplication::finish_op(RankId rank, StreamOp op, Tick now) {
    const Place at = place(rank, op);
    at.state.finished = true;
    ++ranks_[rank].completed;
    last_end_ = std::max(last_end_, now);
    if (indexed_) {
        const StreamOperation& given = at.given;
        for (std::uint32_t i = 0; i < given.ends; ++i) {
            release(rank, at.block->given.links[given.first_link + i]);
        }
    } else {
        release_waiters(rank, at.state);
    }
    let_go(rank, at.block);
}

/// One of the operations that `op` waits for is over.
void StreamApplication::release(RankId rank, StreamOp op) {
    const Place at = place(rank, op);
    touch(at);
    if (at.state.pending == 0) {
        throw ConfigError(source_->describe(rank, op) +
                          " is named as a dependent more often than it has dependencies");
    }
    if (--at.state.pending == 0) ranks_[rank].ready.push_back(op);
}

void StreamApplication::release_waiters(RankId rank, StreamEntry& state) {
    for (std::uint32_t at = state.waiters; at != kNone;) {
        const Waiter waiter = waiters_[at];
        waiters_[at].next = free_waiter_;
        free_waiter_ = at;
        release(rank, waiter.op);
        at = waiter.next;
    }
    state.waiters = kNone;
}

}  // namespace sluice
