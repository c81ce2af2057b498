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
    OperationBlock given;
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
        block->given.entries = {};
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
    struct Kept {
        std::uint32_t index = kNone;
        StreamBlock* block = nullptr;
    };

    /// Null: it is not in memory.
    StreamBlock* find(std::uint32_t index) {
        if (recent_.index == index) return recent_.block;
        const auto at = place_of(index);
        if (at == blocks_.end() || at->index != index) return nullptr;
        recent_ = *at;
        return recent_.block;
    }
    void add(StreamBlock* block) {
        recent_ = {block->index, block};
        blocks_.insert(place_of(block->index), recent_);
    }
    void remove(StreamBlock* block) {
        blocks_.erase(place_of(block->index));
        if (recent_.block == block) recent_ = {};
    }
    const std::vector<Kept>& all() const { return blocks_; }

  private:
    std::vector<Kept>::iterator place_of(std::uint32_t index) {
        return std::lower_bound(
            blocks_.begin(), blocks_.end(), index,
            [](const Kept& kept, std::uint32_t wanted) { return kept.index < wanted; });
    }

    std::vector<Kept> blocks_;  ///< ascending
    Kept recent_;
};

}  // namespace sluice
