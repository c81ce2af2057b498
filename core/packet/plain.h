// SPDX-License-Identifier: Apache-2.0
/// Rings of packets, as plain data that host and device code share. They grow as PlainVector does; whoever
/// steps worlds in arenas asks for room first (gpu/program/lane_events.h).
#pragma once

#include <cstdint>

#include "core/memory_space.h"
#include "core/packet/packet.h"
#include "core/plain_vector.h"

namespace sluice::step {

/// A FIFO of packets: single producer, single consumer. Capacity is zero or a power of two.
struct Ring {
    Global<Packet> slots = nullptr;
    std::uint32_t capacity = 0;
    std::uint32_t head = 0;  ///< free-running; the consumer's
    std::uint32_t tail = 0;  ///< free-running; the producer's

    SLUICE_HD bool empty() const { return head == tail; }
    SLUICE_HD std::uint32_t size() const { return tail - head; }
    SLUICE_HD Packet& at(std::uint32_t position) { return slots[position & (capacity - 1)]; }
    SLUICE_HD Packet& front() { return at(head); }
    /// Appends a copy and returns it for the writer to finish in place; null in an arena without
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

    /// Room for `more` packets beside those that are in it. False: the arena has none.
    SLUICE_HD bool reserve(Memory& memory, std::uint32_t more) {
        bool there = true;
        while (there && capacity - (tail - head) < more) {
            there = grow(memory);
        }
        return there;
    }

  private:
    SLUICE_DEVICE_NOINLINE SLUICE_HD bool grow(Memory& memory) {
        is_in_shared_memory(memory);
        const std::uint32_t larger = capacity == 0 ? 16 : capacity * 2;
        auto* const block = static_cast<Packet*>(new_block(memory, larger * sizeof(Packet)));
        if (block == nullptr) {
            return false;
        }
        const std::uint32_t used = tail - head;
        for (std::uint32_t i = 0; i < used; ++i) {
            block[i] = at(head + i);
        }
        free_block(memory, slots);
        memory.ring_bytes += (larger - capacity) * sizeof(Packet);
        slots = block;
        capacity = larger;
        head = 0;
        tail = used;
        return true;
    }
};

}  // namespace sluice::step
