// SPDX-License-Identifier: Apache-2.0
/// What the packets that leave by a port, or have come by it, take of a switch's shared buffer.
#pragma once

#include "core/packet/buffer.h"

namespace sluice::step {

/// The port at whose switch what `port` sends or holds is counted: with PFC where it entered, without
/// it where it waits.
inline PortId counted_at(const World& world, PortId port) {
    return world.pfc ? world.egress[port].peer : port;
}

/// Bytes of the shared pool; counted_at() is a switch's.
inline std::int64_t held_in_buffer(const World& world, PortId port) {
    const PortId counted = counted_at(world, port);
    const Buffer& buffer = world.buffer[cell_of(world, counted)];
    std::int64_t bytes = 0;
    for (std::uint32_t queue = 1; queue < kClasses; ++queue) {
        bytes += world.pfc ? shared_use(buffer, world.ingress[counted], queue)
                           : std::int64_t{world.egress[port].class_bytes[queue]};
    }
    return bytes;
}

/// Classes of `port` that the switch at its far end holds.
inline std::uint32_t held_by_peer(const World& world, PortId port) {
    return held_classes(world.ingress[world.egress[port].peer]);
}

}  // namespace sluice::step
