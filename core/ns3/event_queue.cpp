// SPDX-License-Identifier: Apache-2.0
#include "core/ns3/event_queue.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "core/bits.h"

namespace sluice::ns3 {

namespace {

/// Beyond 65,536 ns the ring no longer fits a cache, and such cables are few.
constexpr std::int64_t kLeastSlots = 1024;
constexpr std::int64_t kMostSlots = 65'536;

}  // namespace

EventQueue::EventQueue(Tick reach) {
    std::int64_t slots = kLeastSlots;
    while (slots < kMostSlots && slots <= reach / kNanosecond) {
        slots *= 2;
    }
    slots_.resize(static_cast<std::size_t>(slots));
    occupied_.assign(static_cast<std::size_t>(slots / 64), 0);
    slot_count_ = slots;
    mask_ = slots - 1;
}

EventQueue::~EventQueue() {
    for (Slot& slot : slots_) {
        std::free(slot.events);
    }
}

Tick EventQueue::next() const {
    const std::int64_t far = far_.empty() ? -1 : far_.front().ns;
    const std::size_t words = occupied_.size();
    const auto start = static_cast<std::size_t>(now_ & mask_);
    for (std::size_t k = 0; k <= words; ++k) {
        const std::size_t word = ((start >> 6) + k) & (words - 1);
        std::uint64_t bits = occupied_[word];
        if (k == 0) {
            bits &= ~std::uint64_t{0} << (start & 63);
        } else if (k == words) {
            bits &= ~(~std::uint64_t{0} << (start & 63));
        }
        if (bits != 0) {
            const auto slot = static_cast<std::int64_t>(word << 6 | std::size_t{first_bit(bits)});
            const std::int64_t ns = now_ + ((slot - now_) & mask_);
            return (far >= 0 && far < ns ? far : ns) * kNanosecond;
        }
    }
    return far >= 0 ? far * kNanosecond : kNever;
}

void EventQueue::open(std::int64_t ns) {
    now_ = ns;
    const auto later = [](const Far& a, const Far& b) { return a.later_than(b); };
    while (!far_.empty() && far_.front().ns == ns) {
        put(ns, far_.front().order << kCodeBits | far_.front().code);
        std::pop_heap(far_.begin(), far_.end(), later);
        far_.pop_back();
    }
}

void EventQueue::push_far(const Far& far) {
    far_.push_back(far);
    std::push_heap(far_.begin(), far_.end(),
                   [](const Far& a, const Far& b) { return a.later_than(b); });
}

void EventQueue::grow(Slot& slot) {
    const std::uint32_t larger = slot.capacity == 0 ? 8 : slot.capacity * 2;
    void* const block = std::realloc(slot.events, larger * sizeof(std::uint64_t));
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    slot.events = static_cast<std::uint64_t*>(block);
    slot.capacity = larger;
}

std::size_t EventQueue::memory_bytes() const {
    std::size_t bytes =
        slots_.capacity() * sizeof(Slot) + occupied_.capacity() * 8 + far_.capacity() * sizeof(Far);
    for (const Slot& slot : slots_) {
        bytes += slot.capacity * sizeof(std::uint64_t);
    }
    return bytes;
}

}  // namespace sluice::ns3
