// SPDX-License-Identifier: Apache-2.0
/// Switches that cut a packet's payload instead of losing it (`[network.trim]`, docs/models/switch.md).
#pragma once

#include "core/packet/buffer.h"
#include "core/packet/egress.h"
#include "core/random.h"

namespace sluice::step {

/// A data packet without its payload.
SLUICE_HD inline bool is_trimmed(const World& world, const Packet& packet) {
    return packet.packet_kind() == PacketKind::data && packet.bytes <= world.data_overhead;
}

/// Random stream of a port (core/random.h).
inline constexpr std::uint64_t kTrimDraws = 0x7472696d;

/// The draw of which packet a full queue cuts. After each draw a header goes on or is lost, so the sum of both numbers it.
SLUICE_HD inline bool draws_newest(const World& world, const Egress& egress, PortId out) {
    const auto draw = static_cast<std::uint64_t>(egress.trimmed + egress.drops_no_room);
    return uniform(world.config->seed, random_stream(kTrimDraws, out), draw) < 0.5;
}

/// `packet` takes the place of the newest one of its full queue, which is returned: the one to cut. Where that is a header, or
/// leaves too little room, `packet` itself is.
SLUICE_HD inline Packet take_newest_place(World& world, Buffer& buffer, Egress& egress,
                                          const Packet& packet) {
    const std::uint32_t queue = switch_queue(world, packet);
    Ring& ring = egress.queue[queue];
    if (ring.empty()) {
        return packet;
    }
    Packet& place = ring.at(ring.tail - 1);
    const Packet newest = place;
    if (newest.packet_kind() != PacketKind::data || is_trimmed(world, newest) ||
        newest.bytes < packet.bytes) {
        return packet;
    }
    const std::uint32_t freed = newest.bytes - packet.bytes;
    place = packet;
    egress.class_bytes[queue] -= freed;
    egress.queued_bytes -= freed;
    buffer.shared_used -= freed;
    return newest;
}

/// A packet for which `egress` has no room, or too much before it: a header goes on alone, its own or the one of a packet
/// whose place it takes (TrimVictim), or it is lost.
template <class Policies>
SLUICE_COLD SLUICE_HD inline void trim_or_lose(World& world, Buffer& buffer, Egress& egress,
                                               PortId out, const Packet& packet, Tick now) {
    const TrimConfig& trim = world.config->trim;
    if (trim.threshold == 0 || packet.packet_kind() != PacketKind::data ||
        is_trimmed(world, packet)) {
        lose(world, egress, &Egress::drops_no_room);
        return;
    }
    const bool swaps = trim.victim == TrimVictim::drawn && draws_newest(world, egress, out);
    Packet header = swaps ? take_newest_place(world, buffer, egress, packet) : packet;
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
