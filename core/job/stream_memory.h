// SPDX-License-Identifier: Apache-2.0
/// What a streamed job keeps in memory: the blocks of its ranks' operations that something holds, and of a source that
/// is not indexed who waits for whom.
/// Errors: those of the source; InternalError where an operation of such a source is asked for again.
#pragma once

#include <cstdint>
#include <vector>

#include "core/job/stream_blocks.h"

namespace sluice {

class StreamMemory {
  public:
    /// An operation that is in memory.
    struct Place {
        StreamBlock* block;
        StreamEntry& state;
        const StreamOperation& given;
    };

    /// `source` outlives it.
    explicit StreamMemory(OperationSource& source);

    /// The operation, read if it must be. What is returned stays as long as something holds its block.
    Place place(RankId rank, StreamOp op);
    void hold(const Place& at) { ++at.block->held; }
    void let_go(RankId rank, StreamBlock* block);
    /// The operation is in progress from now on, or partly released, and holds its block.
    void touch(const Place& at);
    /// Forgets the block if nothing holds it.
    void release_unheld(RankId rank, StreamBlock* block);

    // The program of a rank.
    std::uint64_t count(RankId rank) const {
        return ranks_[rank].count;
    }                                                             ///< as far as it is known
    bool ended(RankId rank) const { return ranks_[rank].ended; }  ///< count is final
    /// Of the operations below this the messages' ends have been registered.
    StreamOp registered(RankId rank) const {
        return static_cast<StreamOp>(ranks_[rank].registered);
    }
    bool all_registered(RankId rank) const { return ranks_[rank].registered >= ranks_[rank].count; }
    void set_registered(RankId rank, StreamOp op) { ranks_[rank].registered = op; }

    // Of a source that hands its blocks out in order.
    /// Reads the next block, which is held, and appends to `ready` the operations that wait for nothing.
    StreamBlock* read_next(RankId rank, std::vector<StreamOp>& ready);
    /// Takes one of those that wait for the operation; there must be one.
    StreamOp pop_waiter(StreamEntry& entry);

    const RankBlocks& blocks(RankId rank) const { return ranks_[rank].blocks; }
    /// The most blocks that have been in memory at a time.
    std::size_t most_blocks() const { return pool_.most(); }

  private:
    struct Rank {
        RankBlocks blocks;
        std::uint64_t count = 0;
        std::uint64_t registered = 0;
        bool ended = false;
    };
    /// `op` waits for the operation whose list this is in.
    struct Waiter {
        StreamOp op = kNoStreamOp;
        std::uint32_t next = kNone;
    };

    StreamBlock* load(RankId rank, std::uint32_t index);
    void add_waiter(StreamEntry& entry, StreamOp op);

    OperationSource* source_;
    bool indexed_;
    std::vector<Rank> ranks_;
    BlockPool pool_;
    std::vector<Waiter> waiters_;
    std::uint32_t free_waiter_ = kNone;
};

}  // namespace sluice
