// SPDX-License-Identifier: Apache-2.0
/// Conservative windows: what a cell sends in [t, t + lookahead) arrives no sooner than
/// t + lookahead, so inside a window every cell is independent and there is no global event queue.
#pragma once

#include "core/packet/state.h"

namespace sluice::step {

/// The earliest instant at which anything happens; kNever if nothing is left.
inline Tick next_instant(const World& world) {
    const std::uint32_t blocks = (world.cell_count + 63) / 64;
    Tick at = kNever;
    for (std::uint32_t b = 0; b < blocks; ++b) {
        at = world.block_wake[b] < at ? world.block_wake[b] : at;
    }
    return at;
}

/// Nothing is under way and nothing will start: a link event would change nothing.
inline bool at_rest(const World& world) {
    return world.active_senders == 0 && next_instant(world) == kNever;
}

/// Fetches what the step of the node after this one begins with; nodes are stepped by id.
inline void prefetch_node(const World& world, NodeId node, NodeId last) {
    if (node >= last) {
        return;
    }
    const PortId port = world.first_port[node];
    SLUICE_PREFETCH(&world.egress[port]);
    SLUICE_PREFETCH(&world.link[port]);
    if (node + 1 < last) {
        SLUICE_PREFETCH(&world.link[world.first_port[node + 1]]);
    }
    const Wire& link = world.link[port];
    if (!link.empty()) {
        SLUICE_PREFETCH(&link.slots[link.head & (link.capacity - 1)]);
    }
}

/// Runs one window that starts at `begin` (= next_instant) and ends at `end`,
/// begin < end <= begin + lookahead, where no node is split: calls step_cell(cell, begin, end) for
/// every node that has something to do in it. Nodes' order does not matter.
template <class StepCell>
inline void run_window(World& world, Tick begin, Tick end, StepCell&& step_cell) {
    const std::uint32_t blocks = (world.node_count + 63) / 64;
    for (std::uint32_t b = 0; b < blocks; ++b) {
        if (world.block_wake[b] >= end) {
            continue;
        }
        const NodeId first = b * 64;
        const NodeId last = first + 64 < world.node_count ? first + 64 : world.node_count;
        for (NodeId node = first; node < last; ++node) {
            if (world.wake[node] < end) {
                prefetch_node(world, node + 1, last);
                step_cell(whole_node(node), begin, end);
            }
        }
        Tick wake = kNever;
        for (NodeId node = first; node < last; ++node) {
            wake = world.wake[node] < wake ? world.wake[node] : wake;
        }
        world.block_wake[b] = wake;
    }
}

}  // namespace sluice::step
