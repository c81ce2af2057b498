// SPDX-License-Identifier: Apache-2.0
#include "core/routing/port_sets.h"

#include <algorithm>

#include "core/error.h"

namespace sluice {
namespace {

std::uint64_t hash_ports(const std::vector<PortId>& ports) {
    std::uint64_t hash = ports.size();
    for (const PortId port : ports) {
        hash = (hash ^ port) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    }
    return hash;
}

}  // namespace

PortSets::SetId PortSets::intern(const std::vector<PortId>& ports) {
    if (2 * (set_count_ + 1) > index_.size()) {
        grow_index();
    }
    const std::uint64_t hash = hash_ports(ports);
    const std::size_t mask = index_.size() - 1;
    std::size_t slot = hash & mask;
    for (; index_[slot].set != kNone; slot = (slot + 1) & mask) {
        const Slot& found = index_[slot];
        if (found.hash == hash && size(found.set) == ports.size() &&
            std::equal(ports.begin(), ports.end(), this->ports(found.set))) {
            return found.set;
        }
    }
    const SetId set = append(ports);
    index_[slot] = {hash, set};
    ++set_count_;
    return set;
}

PortSets::SetId PortSets::append(const std::vector<PortId>& ports) {
    const std::size_t needed = ports.size() + 1;
    if (chunk_used_ + needed > chunk_size_) {
        if (chunk_count_ == chunks_.size()) {
            throw InternalError("routing: more than 16 GiB of next-hop sets");
        }
        // Chunks double up to their full size, so that a small network stays small. A set never
        // crosses chunks, and one that is longer than a chunk has a chunk of its own.
        constexpr unsigned kFirstBits = 10;
        const std::size_t usual = std::size_t{1}
                                  << std::min<std::size_t>(kFirstBits + chunk_count_, kChunkBits);
        chunk_size_ = std::max(usual, needed);
        chunks_[chunk_count_] = std::make_unique<std::uint32_t[]>(chunk_size_);
        ++chunk_count_;
        chunk_used_ = 0;
        words_ += chunk_size_;
    }
    const std::size_t chunk = chunk_count_ - 1;
    std::uint32_t* words = chunks_[chunk].get() + chunk_used_;
    words[0] = static_cast<std::uint32_t>(ports.size());
    std::copy(ports.begin(), ports.end(), words + 1);
    const auto set = static_cast<SetId>((chunk << kChunkBits) + chunk_used_);
    // An over-long chunk is full by now, so a position always fits its bits.
    chunk_used_ += needed;
    return set;
}

void PortSets::grow_index() {
    std::vector<Slot> larger(std::max<std::size_t>(64, index_.size() * 2));
    const std::size_t mask = larger.size() - 1;
    for (const Slot& old : index_) {
        if (old.set == kNone) {
            continue;
        }
        std::size_t slot = old.hash & mask;
        while (larger[slot].set != kNone) {
            slot = (slot + 1) & mask;
        }
        larger[slot] = old;
    }
    index_ = std::move(larger);
}

std::size_t PortSets::memory_bytes() const {
    return words_ * sizeof(std::uint32_t) + index_.capacity() * sizeof(Slot) + sizeof(*this);
}

}  // namespace sluice
