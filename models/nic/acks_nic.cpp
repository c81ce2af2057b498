// SPDX-License-Identifier: Apache-2.0
#include "models/nic/acks_nic.h"

namespace sluice {

/// What of the ACKs on the link to `port` that arrive before `end` would be told.
void AcksNic::look(PortId port, Tick end) {
    const step::World& world = this->world();
    step::Wire& link = world.link[port];
    for (std::uint32_t i = link.head; i != link.tail; ++i) {
        const step::Packet& packet = link.at(i);
        const Tick arrival = packet.time + link.base;
        if (arrival >= end) return;
        if (packet.packet_kind() != step::PacketKind::ack ||
            world.sender_at[packet.flow] == kNone) {
            continue;
        }
        const std::uint32_t distance =
            step::repeats_selectively(world) ? step::distance_in(packet.stamp) : 0;
        if (packet.sequence + distance == 0) continue;
        const step::Sender& sender = step::sender_of(world, packet.flow);
        // What was skipped of a flow has made it shorter, in sequence numbers (core/world/skip.h).
        const std::int64_t packets =
            (world.spec[packet.flow].size + world.payload - 1) / world.payload;
        const auto skipped = static_cast<std::uint32_t>(packets) - sender.packets;
        const std::uint32_t answered =
            distance > 0 ? packet.sequence + distance : packet.sequence - 1;
        due_.push_back({port, i - link.head, world.id[packet.flow], answered + skipped,
                        arrival - step::departure_of(world, sender, packet, arrival)});
    }
}

void AcksNic::step(const step::Cell& cell, Tick begin, Tick end) {
    const step::World& world = this->world();
    const PortId first = world.first_port[id()];
    const std::uint32_t ports = world.first_port[id() + 1] - first;
    due_.clear();
    waiting_.resize(ports);
    drops_.resize(ports);
    for (std::uint32_t i = 0; i < ports; ++i) {
        const step::Wire& link = world.link[first + i];
        waiting_[i] = link.tail - link.head;
        drops_[i] = step::drops_of(world.egress[first + i]);
        if (link.arrival < end) look(first + i, end);
    }
    Nic::step(cell, begin, end);
    for (const Due& ack : due_) {
        const step::Wire& link = world.link[ack.port];
        const std::uint32_t taken = waiting_[ack.port - first] - (link.tail - link.head);
        // A cable that loses packets has taken one, and nobody says which.
        const bool lost = step::drops_of(world.egress[ack.port]) != drops_[ack.port - first];
        if (ack.place < taken && !lost) sink_(ack.flow, ack.sequence, ack.rtt);
    }
}

}  // namespace sluice
