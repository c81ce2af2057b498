// SPDX-License-Identifier: Apache-2.0
#include "core/world/int_layout.h"

#include <cstdlib>

#include "core/packet/int_slots.h"

namespace sluice::step {

namespace {

/// Packets name their slots by 16 bits, and a flow has half as many as these tell apart: a packet whose slot has
/// another one finds another name in it, not its own.
constexpr std::int64_t kMostIntSlots = 0x8000;

/// A tag, then records of seven switches.
constexpr std::uint32_t kWidest = 8;

}  // namespace

IntLayout::~IntLayout() {
    free_blocks();
    for (NodeId node = 0; node < world_.node_count; ++node) {
        free_vector(world_.host[node].free_ints);
    }
}

/// At least the packets that a window of so many bytes lets into the network, so that a slot is not
/// handed on before its ACK is back: one worker would ask for it while another gives it away. Where
/// these are too many, for one in 2, 4, ... of them.
void IntLayout::provide(std::int64_t in_flight) {
    std::uint32_t slots = world_.int_block == 0 ? 16 : world_.int_block;
    const std::int64_t packets = in_flight / world_.payload + 8;
    // The one that has a slot may be the last of its row, and the first of that which has it next.
    while ((kMostIntSlots - 1) << world_.int_shift < packets - 1) {
        ++world_.int_shift;
    }
    while (slots < kMostIntSlots && (std::int64_t{slots} - 1) << world_.int_shift < packets - 1) {
        slots *= 2;
    }
    world_.int_block = slots;
}

void IntLayout::set_switches(int longest) {
    world_.int_stride = longest <= 1 ? 2 : longest <= 3 ? 4 : kWidest;
}

void IntLayout::widen(std::size_t slots) {
    if (!in_use() || world_.int_stride == kWidest) {
        return;
    }
    free_blocks();
    for (std::size_t slot = 0; slot < slots; ++slot) {
        IntBlock& ints = world_.route[slot].ints;
        if (ints.empty()) {
            continue;
        }
        const IntBlock wide = new_int_block(world_.memory, ints.size_class(), kWidest);
        const std::size_t words = std::size_t{world_.int_stride} << wide.size_class();
        for (std::size_t word = 0; word < words; ++word) {
            wide.words()[word / world_.int_stride * kWidest + word % world_.int_stride] =
                ints.words()[word];
        }
        std::free(ints.words());
        ints = wide;
    }
    world_.int_stride = kWidest;
}

void IntLayout::copy(const IntLayout& other) {
    if (world_.int_stride != other.world_.int_stride) {
        free_blocks();
        world_.int_stride = other.world_.int_stride;
    }
    world_.int_block = other.world_.int_block;
    world_.int_shift = other.world_.int_shift;
}

/// Those that no flow has.
void IntLayout::free_blocks() {
    for (NodeId node = 0; node < world_.node_count; ++node) {
        Host& host = world_.host[node];
        for (std::uint32_t size = 0; size < host.free_ints.count; ++size) {
            for (IntBlock block = host.free_ints[size]; !block.empty();) {
                const IntBlock next{block.words()[0]};
                std::free(block.words());
                block = next;
            }
        }
        host.free_ints.count = 0;
    }
}

}  // namespace sluice::step
