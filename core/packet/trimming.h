// SPDX-License-Identifier: Apache-2.0
/// Switches that cut a packet's payload instead of losing it (`[network.trim]`, docs/models/switch.md).
#pragma once

#include "core/packet/buffer.h"
#include "core/packet/egress.h"

namespace sluice::step {

/// A data packet without its payload.
SLUICE_HD inline bool is_trimmed(const World& world, const Packet& packet) {
    return packet.packet_kind() == PacketKind::data && packet.bytes <= world.data_overhead;
}

/// A packet for which `egress` has no room, or too much before it: its header goes on alone, or it is lost.
template <class Policies>
SLUICE_COLD SLUICE_HD inline void trim_or_lose(World& world, Buffer& buffer, Egress& egress,
                                               PortId out, const Packet& packet, Tick now) {
    const TrimConfig& trim = world.config->trim;
    if (trim.threshold == 0 || packet.packet_kind() != PacketKind::data ||
        is_trimmed(world, packet)) {
        lose(world, egress, &Egress::drops_no_room);
        return;
    }
    Packet header = packet;
    header.bytes = static_cast<std::uint16_t>(world.data_overhead);
    header.traffic_class = trim.priority & (kClasses - 1);
    header.ce = 1;
    const std::uint32_t waiting = egress.class_bytes[trim.priority];
    const bool fits = trim.priority == 0
                          ? waiting + header.bytes <= world.header_room
                          : admit_lossy<Policies>(world, buffer, waiting, header.bytes);
    if (!fits) {
        lose(world, egress, &Egress::drops_no_room);
        return;
    }
    ++egress.trimmed;
    enqueue(world, egress, header, trim.priority);
    if (world.link[out].decision == kNever) {
        world.link[out].decision = next_decision(egress, now);
    }
}

}  // namespace sluice::step
