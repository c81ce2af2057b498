// SPDX-License-Identifier: Apache-2.0
#include "core/job/stream_memory.h"

#include "core/error.h"

namespace sluice {

StreamMemory::StreamMemory(OperationSource& source)
    : source_(&source), indexed_(source.indexed()), ranks_(source.rank_count()) {
    for (RankId rank = 0; indexed_ && rank < ranks_.size(); ++rank) {
        ranks_[rank].count = source.operation_count(rank);
        ranks_[rank].ended = true;
    }
}

StreamMemory::Place StreamMemory::place(RankId rank, StreamOp op) {
    StreamBlock* block = ranks_[rank].blocks.find(op / kBlockSize);
    if (block == nullptr) block = load(rank, op / kBlockSize);
    StreamEntry& entry = block->given.entries[op % kBlockSize];
    return {block, entry, entry.given};
}

StreamBlock* StreamMemory::load(RankId rank, std::uint32_t index) {
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

void StreamMemory::touch(const Place& at) {
    if (at.state.touched) return;
    at.state.touched = true;
    at.state.pending = at.given.dependencies;
    ++at.block->held;
}

void StreamMemory::let_go(RankId rank, StreamBlock* block) {
    --block->held;
    release_unheld(rank, block);
}

/// The block that is being registered stays: the next operation is most likely in it, too.
void StreamMemory::release_unheld(RankId rank, StreamBlock* block) {
    if (block->held > 0) return;
    Rank& state = ranks_[rank];
    if (state.registered / kBlockSize == block->index && state.registered < state.count) return;
    state.blocks.remove(block);
    pool_.give_back(block);
}

StreamBlock* StreamMemory::read_next(RankId rank, std::vector<StreamOp>& ready) {
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
            add_waiter(other->given.entries[on % kBlockSize], first + i);
        }
        entry.pending = pending;
        if (pending == 0) ready.push_back(first + i);
    }
    return block;
}

void StreamMemory::add_waiter(StreamEntry& entry, StreamOp op) {
    if (free_waiter_ == kNone) {
        free_waiter_ = static_cast<std::uint32_t>(waiters_.size());
        waiters_.emplace_back();
    }
    const std::uint32_t waiter = free_waiter_;
    free_waiter_ = waiters_[waiter].next;
    waiters_[waiter] = {op, entry.waiters};
    entry.waiters = waiter;
}

StreamOp StreamMemory::pop_waiter(StreamEntry& entry) {
    const std::uint32_t at = entry.waiters;
    const Waiter waiter = waiters_[at];
    waiters_[at].next = free_waiter_;
    free_waiter_ = at;
    entry.waiters = waiter.next;
    return waiter.op;
}

}  // namespace sluice
