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
      numbering_(source_->numbering()),
      memory_(*source_) {
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
        ranks_[rank].resources.set_count(source_->resource_count());
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
            if (memory_.place(rank, op).given.kind == StreamKind::recv) {
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
    ranks_[rank].resources.free(memory_.place(rank, op).given.resource);
    finish_op(rank, op, now);
    drain(rank, now, services);
}

StreamApplication::Sender StreamApplication::sender_of(FlowId flow) {
    const auto op = static_cast<StreamOp>(flow & 0xffffffffU);
    const auto rank = static_cast<RankId>(flow >> 32);
    if (numbering_ == FlowNumbering::tag) return {rank & 0xffffU, op};
    // The id is that of the lower rank's end, be that the send or the recv.
    const Place end = memory_.place(rank, op);
    if (end.given.kind == StreamKind::send) return {rank, op};
    return {end.given.peer, end.state.partner};
}

void StreamApplication::on_received(NodeId host, FlowId flow, Tick now, HostServices& services) {
    const RankId rank = rank_of(host);
    const Sender sender = sender_of(flow);
    const Place at = memory_.place(sender.rank, sender.op);
    if (at.state.partner == kNoStreamOp) {
        matches_.arrive(sender.rank, rank, at.given.tag, sender.op);
        return;
    }
    arrive(rank, at.state.partner, now);
    drain(rank, now, services);
}

void StreamApplication::on_sent(NodeId /*host*/, FlowId flow, Tick now, HostServices& services) {
    const Sender sender = sender_of(flow);
    const Place at = memory_.place(sender.rank, sender.op);
    const RankId peer = at.given.peer;
    const StreamOp recv = at.state.partner;
    if (at.given.resource != StreamOperation::kNoResource) {
        ranks_[sender.rank].resources.free(at.given.resource);
    }
    finish_op(sender.rank, sender.op, now);
    if (recv != kNoStreamOp) {
        memory_.let_go(peer, memory_.place(peer, recv).block);
        memory_.let_go(sender.rank, at.block);
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
        if (!indexed_ && state.ready.empty() && !state.resources.claimed()) refill(rank, now);
    } while (!state.ready.empty() || state.resources.claimed());
}

void StreamApplication::start_op(RankId rank, StreamOp op, Tick now, HostServices& services) {
    const Place at = memory_.place(rank, op);
    const StreamOperation& given = at.given;
    // A recv that waits for nothing but its message keeps nothing: it is as the source has it.
    const bool posted = is_posted(given);
    if (!posted) memory_.touch(at);
    at.state.started = true;
    if (indexed_) {
        for (std::uint32_t i = 0; i < given.starts; ++i) {
            release(rank, at.block->given.links[given.first_link + given.ends + i]);
        }
    }
    switch (given.kind) {
        case StreamKind::compute: ranks_[rank].resources.wait_for(given.resource, op); break;
        case StreamKind::join: finish_op(rank, op, now); break;
        case StreamKind::send:
            if (given.resource == StreamOperation::kNoResource) {
                send(rank, op, now, services);
            } else {
                ranks_[rank].resources.wait_for(given.resource, op);
            }
            break;
        case StreamKind::recv:
            if (at.state.arrived) finish_op(rank, op, now);
            break;
    }
    if (posted) memory_.release_unheld(rank, at.block);
}

/// Keeps the window full, of a source that hands its blocks out in order.
void StreamApplication::refill(RankId rank, Tick now) {
    Rank& state = ranks_[rank];
    while (!memory_.ended(rank) && memory_.count(rank) - state.completed < options_.window) {
        const std::size_t before = state.ready.size();
        StreamBlock* const block = memory_.read_next(rank, state.ready);
        while (!memory_.all_registered(rank)) register_next(rank);
        memory_.let_go(rank, block);
        if (now == options_.start) continue;
        for (std::size_t i = before; i < state.ready.size(); ++i) {
            const StreamOperation& given = memory_.place(rank, state.ready[i]).given;
            const bool idle = given.resource == StreamOperation::kNoResource ||
                              !state.resources.taken(given.resource);
            if (given.kind != StreamKind::recv && idle) ++late_;
        }
    }
}

/// Free resources go to those that wait for them; what that completes at once may free them again.
void StreamApplication::grant_resources(RankId rank, Tick now, HostServices& services) {
    ranks_[rank].resources.grant([&](StreamOp op) {
        const Place at = memory_.place(rank, op);
        const std::int64_t amount = at.given.amount;
        if (at.given.kind == StreamKind::send) {
            send(rank, op, now, services);
        } else if (amount == 0) {
            ranks_[rank].resources.free(at.given.resource);
            finish_op(rank, op, now);
        } else if (amount <= kLastEnd - now) {
            services.set_timer(hosts_[rank], now + amount, op);
        }
    });
}

void StreamApplication::finish_op(RankId rank, StreamOp op, Tick now) {
    const Place at = memory_.place(rank, op);
    at.state.finished = true;
    ++ranks_[rank].completed;
    last_end_ = std::max(last_end_, now);
    if (indexed_) {
        const StreamOperation& given = at.given;
        for (std::uint32_t i = 0; i < given.ends; ++i) {
            release(rank, at.block->given.links[given.first_link + i]);
        }
    } else {
        while (at.state.waiters != kNone) release(rank, memory_.pop_waiter(at.state));
    }
    memory_.let_go(rank, at.block);
}

/// One of the operations that `op` waits for is over.
void StreamApplication::release(RankId rank, StreamOp op) {
    const Place at = memory_.place(rank, op);
    memory_.touch(at);
    if (at.state.pending == 0) {
        throw ConfigError(source_->describe(rank, op) +
                          " is named as a dependent more often than it has dependencies");
    }
    if (--at.state.pending == 0) ranks_[rank].ready.push_back(op);
}

// What it has to say of itself.

std::uint64_t StreamApplication::operation_count() const {
    std::uint64_t count = 0;
    for (RankId rank = 0; rank < rank_count(); ++rank) count += memory_.count(rank);
    return count;
}

std::uint64_t StreamApplication::completed_count() const {
    std::uint64_t count = 0;
    for (const Rank& rank : ranks_) count += rank.completed;
    return count;
}

bool StreamApplication::complete() const {
    for (RankId rank = 0; rank < rank_count(); ++rank) {
        const Rank& state = ranks_[rank];
        const bool over =
            memory_.ended(rank) && state.begun && state.completed == memory_.count(rank);
        if (!over) return false;
    }
    return true;
}

std::string StreamApplication::waits_for(RankId rank, StreamOp op, const StreamBlock& block) const {
    const StreamEntry& state = block.given.entries[op % kBlockSize];
    const StreamOperation& given = state.given;
    const std::string what = source_->describe(rank, op);
    if (state.pending > 0) {
        return what + " waits for " + std::to_string(state.pending) + " more operations";
    }
    if (given.kind == StreamKind::recv) {
        return what + " waits for its message from rank " + std::to_string(given.peer);
    }
    if (given.kind == StreamKind::send) {
        return what + " waits for the last acknowledgement from rank " + std::to_string(given.peer);
    }
    return what + " has not ended";
}

std::vector<std::string> StreamApplication::unfinished(std::size_t limit) const {
    std::vector<std::string> lines;
    for (RankId rank = 0; rank < rank_count(); ++rank) {
        if (ranks_[rank].completed == memory_.count(rank)) continue;
        const std::size_t before = lines.size();
        for (const RankBlocks::Kept& kept : memory_.blocks(rank).all()) {
            const OperationBlock& block = kept.block->given;
            for (StreamOp i = 0; i < block.count && lines.size() < limit; ++i) {
                if (!block.entries[i].touched || block.entries[i].finished) continue;
                lines.push_back(waits_for(rank, kept.index * kBlockSize + i, *kept.block));
            }
        }
        if (lines.size() == before && lines.size() < limit) {
            lines.push_back("rank " + std::to_string(rank) +
                            " waits for messages that nobody sends");
        }
    }
    return lines;
}

}  // namespace sluice
