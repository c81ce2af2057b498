// SPDX-License-Identifier: Apache-2.0
/// What a streamed job keeps in memory, and what it has to say of itself.
#include <algorithm>

#include "core/error.h"
#include "core/job/stream_application.h"

namespace sluice {

/// The operation, read if it must be. What is returned stays as long as something holds its block.
StreamApplication::Place StreamApplication::place(RankId rank, StreamOp op) {
    StreamBlock* block = ranks_[rank].blocks.find(op / kBlockSize);
    if (block == nullptr) block = load(rank, op / kBlockSize);
    StreamEntry& entry = block->given.entries[op % kBlockSize];
    return {block, entry, entry.given};
}

StreamBlock* StreamApplication::load(RankId rank, std::uint32_t index) {
    if (!indexed_ && std::uint64_t{index} * kBlockSize < ranks_[rank].count) {
        throw InternalError(source_->describe(rank, index * kBlockSize) +
                            " is over and has been forgotten");
    }
    StreamBlock* block = pool_.take();
    block->index = index;
    source_->load(rank, index, block->given);
    ranks_[rank].blocks.add(block);
    return block;
}

void StreamApplication::touch(Place at) {
    if (at.state.touched) return;
    at.state.touched = true;
    at.state.pending = at.given.dependencies;
    ++at.block->held;
}

void StreamApplication::let_go(RankId rank, StreamBlock* block) {
    --block->held;
    release_unheld(rank, block);
}

/// The block that is being registered stays: the next operation is most likely in it, too.
void StreamApplication::release_unheld(RankId rank, StreamBlock* block) {
    if (block->held > 0) return;
    Rank& state = ranks_[rank];
    if (state.registered / kBlockSize == block->index && state.registered < state.count) return;
    state.blocks.remove(block);
    pool_.give_back(block);
}

/// Keeps the window full, of a source that hands its blocks out in order.
void StreamApplication::refill(RankId rank, Tick now) {
    Rank& state = ranks_[rank];
    while (!state.ended && state.count - state.completed < options_.window) {
        const std::size_t before = state.ready.size();
        read_next(rank);
        if (now == options_.start) continue;
        for (std::size_t i = before; i < state.ready.size(); ++i) {
            const StreamOperation& given = place(rank, state.ready[i]).given;
            const bool idle = given.resource == StreamOperation::kNoResource ||
                              !state.resources[given.resource].taken;
            if (given.kind != StreamKind::recv && idle) ++late_;
        }
    }
}

void StreamApplication::read_next(RankId rank) {
    Rank& state = ranks_[rank];
    const auto first = static_cast<StreamOp>(state.count);
    StreamBlock* const block = load(rank, first / kBlockSize);
    const std::uint32_t read = block->given.count;
    state.ended = read < kBlockSize;
    state.count += read;
    // Its operations hold it; so does this, until all of them have been seen.
    block->held = 1;
    for (StreamOp i = 0; i < read; ++i) {
        StreamEntry& entry = block->given.entries[i];
        const StreamOperation& given = entry.given;
        touch({block, entry, given});
        std::uint32_t pending = 0;
        for (std::uint32_t link = 0; link < given.dependencies; ++link) {
            const StreamOp on = block->given.links[given.first_link + link];
            StreamBlock* const other = state.blocks.find(on / kBlockSize);
            if (other == nullptr || other->given.entries[on % kBlockSize].finished) continue;
            ++pending;
            if (free_waiter_ == kNone) {
                free_waiter_ = static_cast<std::uint32_t>(waiters_.size());
                waiters_.emplace_back();
            }
            const std::uint32_t waiter = free_waiter_;
            free_waiter_ = waiters_[waiter].next;
            std::uint32_t& list = other->given.entries[on % kBlockSize].waiters;
            waiters_[waiter] = {first + i, list};
            list = waiter;
        }
        entry.pending = pending;
        if (pending == 0) state.ready.push_back(first + i);
    }
    while (state.registered < state.count) register_next(rank);
    let_go(rank, block);
}

std::uint64_t StreamApplication::operation_count() const {
    std::uint64_t count = 0;
    for (const Rank& rank : ranks_) count += rank.count;
    return count;
}

std::uint64_t StreamApplication::completed_count() const {
    std::uint64_t count = 0;
    for (const Rank& rank : ranks_) count += rank.completed;
    return count;
}

bool StreamApplication::complete() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
        return rank.ended && rank.begun && rank.completed == rank.count;
    });
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
        const Rank& state = ranks_[rank];
        if (state.completed == state.count) continue;
        const std::size_t before = lines.size();
        for (const RankBlocks::Kept& kept : state.blocks.all()) {
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
