// SPDX-License-Identifier: Apache-2.0
/// Trains: one simulated unit that stands for several full data packets of one flow, back to back
/// (docs/models/trains.md). World::train is the most packets of one; 1 means that there are none, and every
/// packet is simulated by itself.
///
/// A train cuts through: it comes to a switch so long before its last bit that its packets leave back to back by
/// the switch's fastest port, none before it is there. A host has it when its last bit is there. Its ACK is as
/// long as the ACKs of its packets and comes when the last one would. Buffers, queues and thresholds count its
/// bytes from its arrival on.
///
/// What is not exact: the packets of two trains that meet at a port do not alternate; a law reacts once per
/// train; a mark or a loss concerns the whole of it. So trains are short beside the window, and packets that
/// begin or end a message go by themselves: train_length().
#pragma once

#include "core/packet/state.h"

namespace sluice::step {

/// A train is at most this part of its flow's window, of what the message has sent, and of what is left of it.
inline constexpr std::uint32_t kTrainsPerWindow = 8;
inline constexpr std::uint32_t kTrainsSent = 16;

/// Bytes on the wire of a full data packet.
SLUICE_HD inline std::uint32_t full_frame(const World& world) {
    return static_cast<std::uint32_t>(world.payload + world.data_overhead);
}

/// Full packets that a data packet of `bytes` on the wire stands for, at least 1.
SLUICE_HD inline std::uint32_t packets_of_train(const World& world, std::uint32_t bytes) {
    return world.train > 1 && bytes > full_frame(world) ? bytes / full_frame(world) : 1;
}

/// Packets that the queue pair's next departure stands for.
SLUICE_HD inline std::uint32_t train_length(const World& world, const Sender& sender) {
    if (world.train <= 1 || sender.next < sender.high) {
        return 1;
    }
    const std::uint32_t left = sender.packets - sender.next;
    std::uint32_t length = (sender.next < left ? sender.next : left) / kTrainsSent;
    const std::int64_t window = sender.window > 0 ? sender.window : world.max_window;
    const auto share = static_cast<std::uint32_t>(window / world.payload) / kTrainsPerWindow;
    length = length < share ? length : share;
    length = length < world.train ? length : world.train;
    return length > 1 ? length : 1;
}

/// Packets whose ACKs `packet` stands for, at least 1.
SLUICE_HD inline std::uint32_t packets_of_ack(const World& world, const Packet& packet) {
    const auto ack = static_cast<std::uint32_t>(world.config->format.ack);
    return world.train > 1 && packet.bytes > ack ? packet.bytes / ack : 1;
}

/// `packet` leaves by `egress`: counts the packets that it stands for. Returns how much earlier than its last bit it
/// reaches the peer. At a switch a train arrives so early that its packets go on back to back, but not before its first
/// packet is there. The ACK of a train arrives as the last of its ACKs would, which the others do
/// not delay. Not inlined: packets without trains should not carry its code.
SLUICE_COLD SLUICE_HD inline Tick begin_train(const World& world, Egress& egress,
                                              const Packet& packet) {
    const bool data = packet.packet_kind() == PacketKind::data;
    if (!data && packet.packet_kind() != PacketKind::ack) {
        return 0;
    }
    const std::uint32_t more =
        (data ? packets_of_train(world, packet.bytes) : packets_of_ack(world, packet)) - 1;
    egress.train_packets += more;
    const std::uint32_t first =
        data ? full_frame(world) : static_cast<std::uint32_t>(world.config->format.ack);
    const Tick lead = Tick{data ? egress.train_lead : egress.serialization[first]} * more;
    const Tick behind_first =
        more == 0 ? 0
                  : Tick{egress.serialization[packet.bytes]} - Tick{egress.serialization[first]};
    return lead < behind_first ? lead : behind_first;
}

}  // namespace sluice::step
