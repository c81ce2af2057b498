// SPDX-License-Identifier: Apache-2.0
/// The blocks of a rank's operations that are in memory, and what is known of each operation in them.
/// A block is kept while something holds it: an operation in progress or partly released, or a message
/// whose end is in it. Blocks are reused, those of all ranks together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/job/operation_source.h"

namespace sluice {

struct StreamBlock {
    struct State {
        std::uint32_t pending = 0;           ///< operations that it waits for, once it is touched
        StreamOp partner = kNoStreamOp;      ///< the other end of a message
        std::uint32_t waiters = kNone;       ///< first of who waits for it, of a source in order
        std::uint16_t port = 0;              ///< of a send: which of its pair's source ports
        bool touched = false;
        bool started = false;
        bool arrived = false;   ///< recv: the message is there
        bool finished = false;
    };

    OperationBlock given;
    std::array<State, kBlockSize> states;
    std::uint32_t index = 0;
    std::uint32_t held = 0;
};

/// Blocks that nobody uses.
class BlockPool {
  public:
    StreamBlock* take() {
        if (free_.empty()) {
            all_.emplace_back();
            free_.push_back(&all_.back());
        }
        StreamBlock* block = free_.back();
        free_.pop_back();
        block->states = {};
        block->held = 0;
        return block;
    }
    void give_back(StreamBlock* block) { free_.push_back(block); }
    /// The most there were at a time.
    std::size_t most() const { return all_.size(); }

  private:
    std::deque<StreamBlock> all_;
    std::vector<StreamBlock*> free_;
};

/// Those of one rank, by index.
class RankBlocks {
  public:
    /// Null: it is not in memory.
    StreamBlock* find(std::uint32_t index) {
        if (recent_ != nullptr && recent_->index == index) return recent_;
        const auto at = place_of(index);
        if (at == blocks_.end() || (*at)->index != index) return nullptr;
        return recent_ = *at;
    }
    void add(StreamBlock* block) {
        blocks_.insert(place_of(block->index), block);
        recent_ = block;
    }
    void remove(StreamBlock* block) {
        blocks_.erase(place_of(block->index));
        if (recent_ == block) recent_ = nullptr;
    }
    const std::vector<StreamBlock*>& all() const { return blocks_; }

  private:
    std::vector<StreamBlock*>::iterator place_of(std::uint32_t index) {
        return std::lower_bound(
            blocks_.begin(), blocks_.end(), index,
            [](const StreamBlock* block, std::uint32_t wanted) { return block->index < wanted; });
    }

    std::vector<StreamBlock*> blocks_;  ///< ascending
    StreamBlock* recent_ = nullptr;
};

}  // namespace sluice
