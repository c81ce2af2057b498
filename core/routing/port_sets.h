// SPDX-License-Identifier: Apache-2.0
/// A store of next-hop sets, each kept once: lists of egress ports. Ports are global, so equal lists belong to the same
/// node.
/// One thread adds at a time; others may read sets whose ids they were handed: storage never moves.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/ids.h"

namespace sluice {

class PortSets {
  public:
    using SetId = std::uint32_t;

    /// The id of the set equal to `ports` (not empty), added if it is new.
    SetId intern(const std::vector<PortId>& ports);

    std::uint32_t size(SetId set) const { return *at(set); }
    const PortId* ports(SetId set) const { return at(set) + 1; }
    std::size_t memory_bytes() const;

  private:
    // A set is [size, port, port, ...] inside one chunk; its id is chunk x 2^20 + position.
    static constexpr unsigned kChunkBits = 20;
    static constexpr std::size_t kChunkWords = std::size_t{1} << kChunkBits;

    const std::uint32_t* at(SetId set) const {
        return chunks_[set >> kChunkBits].get() + (set & (kChunkWords - 1));
    }
    SetId append(const std::vector<PortId>& ports);
    void grow_index();

    // Fixed size, so that a reader never sees the table of chunks move.
    std::array<std::unique_ptr<std::uint32_t[]>, (std::size_t{1} << (32 - kChunkBits)) - 1> chunks_;
    std::size_t chunk_count_ = 0;
    std::size_t chunk_used_ = 0;  ///< words used in the last chunk
    std::size_t chunk_size_ = 0;  ///< words it has
    std::size_t words_ = 0;       ///< allocated in all chunks

    struct Slot {
        std::uint64_t hash = 0;
        SetId set = kNone;
    };
    std::vector<Slot> index_;  ///< open addressing, at most half full
    std::size_t set_count_ = 0;
};

}  // namespace sluice
