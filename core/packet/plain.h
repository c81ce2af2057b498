// SPDX-License-Identifier: Apache-2.0
/// Growable plain-data containers that host and device code share. On the host they grow; on a
/// device, where nothing can be allocated on the packet path, running out of room sets a sticky
/// flag and the run fails (it never loses a packet silently).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#include "core/packet/packet.h"

namespace sluice::step {

/// Memory that a worker's containers took, bytes, and the overflow flag.
struct Memory {
    std::size_t ring_bytes = 0;
    std::size_t other_bytes = 0;
    bool overflow = false;
};

#if !defined(__CUDA_ARCH__)
/// Moves `used` bytes to a new 64-byte aligned block of `bytes`.
inline void* grow_block(void* old, std::size_t used, std::size_t bytes) {
    void* block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    if (used > 0) {
        std::memcpy(block, old, used);
    }
    std::free(old);
    return block;
}
#endif

/// A vector of trivially copyable elements; freed by whoever owns the world.
template <class T>
struct PlainVector {
    static_assert(std::is_trivially_copyable<T>::value, "plain data only");
    T* data = nullptr;
    std::uint32_t count = 0;
    std::uint32_t capacity = 0;

    SLUICE_HD T& operator[](std::uint32_t i) { return data[i]; }
    SLUICE_HD const T& operator[](std::uint32_t i) const { return data[i]; }
    SLUICE_HD bool reserve(Memory& memory, std::uint32_t wanted) {
        if (wanted <= capacity) {
            return true;
        }
#if defined(__CUDA_ARCH__)
        memory.overflow = true;
        return false;
#else
        std::uint32_t larger = capacity < 4 ? 4 : capacity * 2;
        larger = larger < wanted ? wanted : larger;
        data = static_cast<T*>(grow_block(data, count * sizeof(T), larger * sizeof(T)));
        memory.other_bytes += (larger - capacity) * sizeof(T);
        capacity = larger;
        return true;
#endif
    }
    SLUICE_HD void push(Memory& memory, const T& value) {
        if (reserve(memory, count + 1)) {
            data[count++] = value;
        }
    }
    /// Keeps the order of the others.
    SLUICE_HD void erase(std::uint32_t i) {
        --count;
        for (; i < count; ++i) {
            data[i] = data[i + 1];
        }
    }
};

/// A FIFO of packets: single producer, single consumer. Capacity is zero or a power of two.
struct Ring {
    Packet* slots = nullptr;
    std::uint32_t capacity = 0;
    std::uint32_t head = 0;  ///< free-running; the consumer's
    std::uint32_t tail = 0;  ///< free-running; the producer's

    SLUICE_HD bool empty() const { return head == tail; }
    SLUICE_HD std::uint32_t size() const { return tail - head; }
    SLUICE_HD Packet& at(std::uint32_t position) { return slots[position & (capacity - 1)]; }
    SLUICE_HD Packet& front() { return at(head); }
    /// Appends a copy and returns it for the writer to finish in place; null on a device without
    /// room.
    SLUICE_HD Packet* push(Memory& memory, const Packet& packet) {
        if (tail - head == capacity && !grow(memory)) {
            return nullptr;
        }
        Packet* const slot = &slots[tail & (capacity - 1)];
        *slot = packet;
        ++tail;
        SLUICE_PREFETCH(&slots[(tail + 2) & (capacity - 1)]);
        return slot;
    }
    SLUICE_HD void pop() { ++head; }
    /// Pops, and starts over at the first slot when nothing is left: a short queue stays within a
    /// few warm cache lines. Only where producer and consumer are one.
    SLUICE_HD void pop_and_rewind() {
        if (++head == tail) {
            head = 0;
            tail = 0;
        }
    }

  private:
    SLUICE_HD bool grow(Memory& memory) {
#if defined(__CUDA_ARCH__)
        memory.overflow = true;
        return false;
#else
        const std::uint32_t larger = capacity == 0 ? 16 : capacity * 2;
        auto* block = static_cast<Packet*>(grow_block(nullptr, 0, larger * sizeof(Packet)));
        const std::uint32_t used = tail - head;
        for (std::uint32_t i = 0; i < used; ++i) {
            block[i] = at(head + i);
        }
        std::free(slots);
        memory.ring_bytes += (larger - capacity) * sizeof(Packet);
        slots = block;
        capacity = larger;
        head = 0;
        tail = used;
        return true;
#endif
    }
};

}  // namespace sluice::step
