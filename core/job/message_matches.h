// SPDX-License-Identifier: Apache-2.0
/// Which send meets which recv: the n-th of a (source, destination, tag) with the n-th, in the order in
/// which each rank's program has them. Keeps those that have not met; memory is bounded by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/job/operation_source.h"

namespace sluice {

class MessageMatches {
  public:
    struct End {
        StreamOp op = kNoStreamOp;
        std::uint16_t port = 0;  ///< of the pair's source ports, as far as this end knows it
        bool arrived = false;    ///< a send whose message is there already
    };

    /// Registers an end. Returns the other one, if that is there: then neither is kept.
    std::optional<End> meet(RankId src, RankId dst, std::int64_t tag, bool send, const End& end) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        Slot& slot = place_of(src, dst, tag);
        if (slot.first != kNone && slot.sends != send) {
            const End other = take_first(slot);
            return other;
        }
        const std::uint32_t entry = new_entry(end);
        if (slot.first == kNone) {
            if (!slot.taken) ++used_;
            slot = {src, dst, tag, entry, entry, send, true};
        } else {
            entries_[slot.last].next = entry;
            slot.last = entry;
        }
        ++waiting_;
        return std::nullopt;
    }
    /// The message of a send that has met no recv yet has arrived. False: there is no such send.
    bool arrive(RankId src, RankId dst, std::int64_t tag, StreamOp op) {
        if (slots_.empty()) return false;
        const Slot& slot = place_of(src, dst, tag);
        if (!slot.sends) return false;
        for (std::uint32_t at = slot.first; at != kNone; at = entries_[at].next) {
            if (entries_[at].end.op != op) continue;
            entries_[at].end.arrived = true;
            return true;
        }
        return false;
    }
    /// Ends that have not met.
    std::size_t waiting() const { return waiting_; }
    std::size_t memory_bytes() const {
        return slots_.capacity() * sizeof(Slot) + entries_.capacity() * sizeof(Entry);
    }

  private:
    struct Entry {
        End end;
        std::uint32_t next = kNone;
    };
    struct Slot {
        RankId src = 0;
        RankId dst = 0;
        std::int64_t tag = 0;
        std::uint32_t first = kNone;  ///< kNone: nobody waits
        std::uint32_t last = kNone;
        bool sends = false;
        bool taken = false;
    };

    End take_first(Slot& slot) {
        const std::uint32_t entry = slot.first;
        slot.first = entries_[entry].next;
        entries_[entry].next = free_;
        free_ = entry;
        --waiting_;
        return entries_[entry].end;
    }
    std::uint32_t new_entry(const End& end) {
        if (free_ == kNone) {
            free_ = static_cast<std::uint32_t>(entries_.size());
            entries_.emplace_back();
        }
        const std::uint32_t entry = free_;
        free_ = entries_[entry].next;
        entries_[entry] = {end, kNone};
        return entry;
    }
    /// The slot that has the key, or the free one where it belongs.
    Slot& place_of(RankId src, RankId dst, std::int64_t tag) {
        std::uint64_t hash = (std::uint64_t{src} << 32 | dst) * 0x9e3779b97f4a7c15U;
        hash = ((hash ^ hash >> 32) + static_cast<std::uint64_t>(tag)) * 0xd6e8feb86659fd93U;
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = static_cast<std::size_t>(hash >> 32) & mask;; at = (at + 1) & mask) {
            Slot& slot = slots_[at];
            const bool same = slot.src == src && slot.dst == dst && slot.tag == tag;
            if (!slot.taken || same) return slot;
        }
    }
    /// Keeps the keys that somebody waits for and forgets the others.
    void grow() {
        std::size_t kept = 0;
        for (const Slot& slot : slots_) kept += slot.first != kNone ? 1 : 0;
        std::size_t size = 1024;
        while (size < 4 * (kept + 1)) size *= 2;
        std::vector<Slot> old(size);
        old.swap(slots_);
        used_ = kept;
        for (const Slot& slot : old) {
            if (slot.first != kNone) place_of(slot.src, slot.dst, slot.tag) = slot;
        }
    }

    std::vector<Slot> slots_;  ///< a power of two of them, open addressing
    std::size_t used_ = 0;     ///< slots that are taken
    std::vector<Entry> entries_;
    std::uint32_t free_ = kNone;
    std::size_t waiting_ = 0;
};

}  // namespace sluice
