// SPDX-License-Identifier: Apache-2.0
/// Conservative windows: what a node sends in [t, t + lookahead) arrives no sooner than
/// t + lookahead, so inside a window every node is independent and there is no global event queue.
#pragma once

#include "core/step/state.h"

namespace sluice::step {

/// The earliest instant at which anything happens in the lane; kNever if nothing is left.
inline Tick next_instant(const World& world) {
    const std::uint32_t blocks = (world.node_count + 63) / 64;
    Tick at = kNever;
    for (std::uint32_t b = 0; b < blocks; ++b) {
        at = world.block_wake[b] < at ? world.block_wake[b] : at;
    }
    return at;
}

/// Runs one window that starts at `begin` (= next_instant) and ends at `end`,
/// begin < end <= begin + lookahead: calls step_node(node, begin, end) for every node that has
/// something to do in it. Nodes' order does not matter.
template <class StepNode>
inline void run_window(World& world, Tick begin, Tick end, StepNode&& step_node) {
    const std::uint32_t blocks = (world.node_count + 63) / 64;
    for (std::uint32_t b = 0; b < blocks; ++b) {
        if (world.block_wake[b] >= end) {
            continue;
        }
        const NodeId first = b * 64;
        const NodeId last = first + 64 < world.node_count ? first + 64 : world.node_count;
        for (NodeId node = first; node < last; ++node) {
            if (world.wake[node] < end) {
                step_node(node, begin, end);
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
