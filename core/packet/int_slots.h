// SPDX-License-Identifier: Apache-2.0
/// The slots of INT records that packets on their way have (core/packet/state.h).
#pragma once

#include <cstring>
#include <new>

#include "core/packet/state.h"

namespace sluice::step {

/// Whose an INT slot is. In one window a host may give it to a packet while a switch of another worker asks for
/// a late duplicate of the packet before: an atomic word, and either answer will do, for what the duplicate
/// writes is written over before anybody reads it.
SLUICE_HD inline std::uint64_t slot_tag(const congestion::IntRecord* slot) {
#if defined(__CUDA_ARCH__)
    return slot[0];
#else
    return __atomic_load_n(slot, __ATOMIC_RELAXED);
#endif
}
SLUICE_HD inline void set_slot_tag(congestion::IntRecord* slot, std::uint64_t tag) {
#if defined(__CUDA_ARCH__)
    slot[0] = tag;
#else
    __atomic_store_n(slot, tag, __ATOMIC_RELAXED);
#endif
}

/// The slot of a packet whose flow has slots.
SLUICE_HD inline congestion::IntRecord* int_slot(const World& world, const FlowRoute& route,
                                                 std::uint16_t transmission) {
    return route.ints.words() + std::size_t{transmission & route.ints.mask()} * world.int_stride;
}

/// Of the packets of each 2^`shift` in a row, which are a flow's `row`-th, the one that has a slot. At random: ACKs
/// for every so many packets would miss every one at regular places.
SLUICE_HD inline std::uint32_t place_of_slot(std::uint32_t row, std::uint32_t shift) {
    constexpr std::uint32_t kGoldenRatio = 0x9E3779B9U;
    return (row * kGoldenRatio >> 16) & ((1U << shift) - 1);
}

/// `int_hops` of a packet that has no slot: more than there are records, so none is written or read.
SLUICE_HD inline std::uint32_t hops_without_slot(const World& world) {
    return world.int_stride & 15U;
}

/// A new block of 2^`size_class` slots, freed by whoever owns the world; none in an arena without room.
SLUICE_HD inline IntBlock new_int_block(Memory& memory, std::uint32_t size_class,
                                        std::uint32_t stride) {
    const std::size_t bytes =
        (std::size_t{1} << size_class) * stride * sizeof(congestion::IntRecord);
    void* const block = new_block(memory, bytes);
    if (block == nullptr) {
        return IntBlock{};
    }
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(block);
#if !defined(__CUDA_ARCH__)
    if (address >> 48 != 0) {
        throw std::bad_alloc();
    }
#endif
    std::memset(block, 0, bytes);
    memory.other_bytes += bytes;
    return IntBlock{address << 16 | ((1U << size_class) - 1)};
}

/// Log2 of the INT slots of a flow of `packets` packets: as many as may be in flight, but no more than it
/// has packets.
SLUICE_HD inline std::uint32_t int_size_class(const World& world, std::uint32_t packets) {
    std::uint32_t size_class = 0;
    while ((1U << size_class) < world.int_block && (1U << size_class) < packets) {
        ++size_class;
    }
    return size_class;
}

/// Takes INT slots for a flow of `packets` packets, if its law uses them.
SLUICE_HD inline void take_int_slots(World& world, Host& host, FlowSlot flow,
                                     std::uint32_t packets) {
    if (world.int_block == 0) {
        return;
    }
    const std::uint32_t size_class = int_size_class(world, packets);
    IntBlock& taken = world.route[flow].ints;
    if (size_class < host.free_ints.count && !host.free_ints[size_class].empty()) {
        taken = host.free_ints[size_class];
        host.free_ints[size_class].bits = taken.words()[0];
        taken.words()[0] = 0;
        return;
    }
    taken = new_int_block(world.memory, size_class, world.int_stride);
}

/// Gives a flow's INT slots back, when none of its packets is left in the network.
SLUICE_HD inline void return_int_slots(World& world, Host& host, FlowSlot flow) {
    IntBlock& block = world.route[flow].ints;
    if (block.empty()) {
        return;
    }
    while (host.free_ints.count <= block.size_class()) {
        host.free_ints.push(world.memory, IntBlock{});
    }
    block.words()[0] = host.free_ints[block.size_class()].bits;
    host.free_ints[block.size_class()] = block;
    block = IntBlock{};
}

}  // namespace sluice::step
