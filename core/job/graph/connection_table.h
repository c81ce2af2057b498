// SPDX-License-Identifier: Apache-2.0
/// Connections by who they join: (sender, receiver, communicator), numbered in order of appearance.
/// A flat hash table, because graphs ask once per message.
#pragma once

#include <cstdint>
#include <vector>

#include "core/flow/flow.h"
#include "core/ids.h"

namespace sluice {

class ConnectionTable {
  public:
    ConnectionId find_or_add(std::uint32_t src, std::uint32_t dst, std::uint32_t communicator) {
        if (2 * std::size_t{count_} >= slots_.size()) grow();
        Slot& slot = place_of({src, dst, communicator, kNone});
        if (slot.id == kNone) slot = {src, dst, communicator, count_++};
        return slot.id;
    }
    ConnectionId count() const { return count_; }
    /// Gives the memory back; the numbers stay given out.
    void forget() { slots_ = {}; }

  private:
    struct Slot {
        std::uint32_t src = 0;
        std::uint32_t dst = 0;
        std::uint32_t communicator = 0;
        ConnectionId id = kNone;
    };

    /// The slot that has `key`, or the free one where it belongs.
    Slot& place_of(const Slot& key) {
        std::uint64_t hash = (std::uint64_t{key.src} << 32 | key.dst) * 0x9e3779b97f4a7c15U;
        hash = ((hash ^ hash >> 32) + key.communicator) * 0xd6e8feb86659fd93U;
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = static_cast<std::size_t>(hash >> 32) & mask;; at = (at + 1) & mask) {
            Slot& slot = slots_[at];
            const bool same =
                slot.src == key.src && slot.dst == key.dst && slot.communicator == key.communicator;
            if (slot.id == kNone || same) return slot;
        }
    }
    void grow() {
        std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.id != kNone) place_of(slot) = slot;
        }
    }

    std::vector<Slot> slots_;  ///< a power of two of them
    ConnectionId count_ = 0;
};

}  // namespace sluice
