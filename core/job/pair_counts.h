// SPDX-License-Identifier: Apache-2.0
/// How many messages there have been with each peer, modulo the number of source ports: which of
/// them the next one has. Two bytes for each peer there could be at most, less where there are few.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace sluice {

class PairCounts {
  public:
    /// The count so far; then one more. `peers`: how many there could be.
    std::uint16_t next(std::uint32_t peer, std::uint32_t peers) {
        if (!dense_.empty()) return step(dense_[peer]);
        if (2 * (used_ + 1) > slots_.size()) grow(peers);
        if (!dense_.empty()) return step(dense_[peer]);
        Slot& slot = place_of(peer);
        if (slot.peer == kNone) {
            slot.peer = peer;
            ++used_;
        }
        return step(slot.count);
    }

  private:
    struct Slot {
        std::uint32_t peer = kNone;
        std::uint16_t count = 0;
    };
    /// Ports 10000 to 65535.
    static constexpr std::uint32_t kPorts = 55'536;

    static std::uint16_t step(std::uint16_t& count) {
        const std::uint16_t now = count;
        count = static_cast<std::uint16_t>((count + 1U) % kPorts);
        return now;
    }
    Slot& place_of(std::uint32_t peer) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = (peer * 0x9e3779b1U >> 8) & mask;
        while (slots_[at].peer != kNone && slots_[at].peer != peer) at = (at + 1) & mask;
        return slots_[at];
    }
    void grow(std::uint32_t peers) {
        std::vector<Slot> old(slots_.empty() ? 4 : 2 * slots_.size());
        old.swap(slots_);
        if (slots_.size() * sizeof(Slot) > peers * sizeof(std::uint16_t)) {
            dense_.assign(peers, 0);
            slots_ = {};
            for (const Slot& slot : old) {
                if (slot.peer != kNone) dense_[slot.peer] = slot.count;
            }
            return;
        }
        for (const Slot& slot : old) {
            if (slot.peer != kNone) place_of(slot.peer) = slot;
        }
    }

    std::vector<Slot> slots_;  ///< a power of two of them, open addressing
    std::uint32_t used_ = 0;
    std::vector<std::uint16_t> dense_;  ///< by peer, once that is smaller
};

}  // namespace sluice
