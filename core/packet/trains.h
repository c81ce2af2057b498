// SPDX-License-Identifier: Apache-2.0
/// Trains: one simulated unit that stands for several full data packets of one flow, back to back
/// (docs/models/trains.md). World::train is the most packets of one; 1 means that there are none, and every
/// packet is simulated by itself.
///
/// Of a train its first packet is simulated; the others are work that its ports still owe. It is at the next node with
/// its first packet, and the port may begin with another packet then, as packets of two flows alternate: after each
/// one of what it owes is sent. It does not owe more than the rest of one train: what comes on top waits. So a port is
/// never faster than its line, and the last packet of a message, which goes by itself, comes after all of the trains
/// before it. The ACK of a train is its packets' first one, and owes the others. Buffers, queues and thresholds count a
/// train's bytes from its arrival on.
///
/// What is not exact: a law reacts when a train's first packet is acknowledged; queues grow and shrink by trains; a mark or a
/// loss concerns the whole of it. So trains are short beside the window, and packets that begin or end a message go by
/// themselves: train_length().
#pragma once

#include "core/packet/state.h"

namespace sluice::step {

/// A train is at most this part of its flow's window, of what the message has sent, and of what is left of it.
inline constexpr std::uint32_t kTrainsPerWindow = 16;
inline constexpr std::uint32_t kTrainsSent = 16;
/// Packets of a message before its first train.
inline constexpr std::uint32_t kBeforeTrains = 2 * kTrainsSent;

/// Bytes on the wire of a full data packet.
SLUICE_HD inline std::uint32_t full_frame(const World& world) {
    return static_cast<std::uint32_t>(world.payload + world.data_overhead);
}

/// Full packets that a data packet of `bytes` on the wire stands for, at least 1.
SLUICE_HD inline std::uint32_t packets_of_train(const World& world, std::uint32_t bytes) {
    return world.train > 1 && bytes > full_frame(world) ? bytes / full_frame(world) : 1;
}

/// Cuts a train of `length` packets down to what the flow's window has room for, as packets by themselves would leave.
/// Where the window changes with each ACK that would leave ever shorter trains. There it is cut only if more than half of
/// it does not fit.
SLUICE_HD inline std::uint32_t fit_window(const World& world, const Sender& sender,
                                          std::uint32_t length) {
    const std::int64_t flight = sender.next_bytes - sender.una_bytes + sender.behind;
    const std::int64_t room = (sender.window - flight + world.payload - 1) / world.payload;
    if (room >= length || (world.config->congestion.variable_window && 2 * room >= length)) {
        return length;
    }
    return room > 1 ? static_cast<std::uint32_t>(room) : 1;
}

/// No other queue pair of the sender's port may send at `now`: packets of several take turns, one by one.
SLUICE_HD inline bool has_port_alone(const World& world, const Sender& sender, Tick now) {
    const HostPort& nic = world.host_port[sender.port];
    for (std::uint32_t i = 0; i < nic.ready.count; ++i) {
        if (nic.ready[i] <= now && i != sender.position) {
            return false;
        }
    }
    return true;
}

/// Packets that the queue pair's next departure, at `now`, stands for.
SLUICE_HD inline std::uint32_t train_length(const World& world, const Sender& sender, Tick now) {
    if (world.train <= 1 || sender.next < sender.high) {
        return 1;
    }
    const std::uint32_t left = sender.packets - sender.next;
    std::uint32_t length = (sender.next < left ? sender.next : left) / kTrainsSent;
    const std::int64_t window = sender.window > 0 ? sender.window : world.max_window;
    const auto share = static_cast<std::uint32_t>(window / world.payload) / kTrainsPerWindow;
    length = length < share ? length : share;
    length = length < world.train ? length : world.train;
    return length > 1 && has_port_alone(world, sender, now) ? fit_window(world, sender, length) : 1;
}

/// Packets whose ACKs `packet` stands for, at least 1.
SLUICE_HD inline std::uint32_t packets_of_ack(const World& world, const Packet& packet) {
    const auto ack = static_cast<std::uint32_t>(world.config->format.ack);
    return world.train > 1 && packet.bytes > ack ? packet.bytes / ack : 1;
}

/// `packet` leaves by `egress` from `now` on, after begin_transmission(). Returns how much later than that says it
/// arrives: a train arrives with its first packet. Not inlined: packets without trains should not carry its code.
SLUICE_COLD SLUICE_HD inline Tick owe_train(const World& world, Egress& egress,
                                            const Packet& packet, Tick now) {
    const bool data = packet.packet_kind() == PacketKind::data;
    const bool ack = packet.packet_kind() == PacketKind::ack;
    const std::uint32_t packets = data  ? packets_of_train(world, packet.bytes)
                                  : ack ? packets_of_ack(world, packet)
                                        : 1;
    const Tick all = egress.serialization[packet.bytes];
    const Tick first = packets > 1 ? Tick{egress.serialization[packet.bytes / packets]} : all;
    const Tick frame = egress.serialization[full_frame(world)];
    const Tick owed = egress.owed_until > now ? egress.owed_until : now;
    // The last packet of a message that may have had trains comes after what is owed of them.
    const bool last = data && packet.echo != 0 && packet.sequence >= kBeforeTrains;
    const Tick begin = packets == 1 && last ? owed : now;
    // After a packet by itself one that is owed has its turn.
    const Tick left = owed - begin;
    const Tick turn = packets > 1 || left <= 0 ? 0 : left < frame ? left : frame;
    // What would make the port owe more than the rest of one train waits.
    const Tick soonest = owed + all - frame * (world.train - 1);
    const Tick next = begin + first + turn;
    egress.train_packets += packets - 1;
    egress.owed_until = owed + all;
    egress.free_at = next > soonest ? next : soonest;
    return begin - now + first - all;
}

/// Bytes of trains that a port has counted as sent, and still owes at `now`.
SLUICE_COLD SLUICE_HD inline std::int64_t owed_bytes(const World& world, const Egress& egress,
                                                     Tick now) {
    const std::uint32_t frame = full_frame(world);
    return egress.owed_until <= now
               ? 0
               : (egress.owed_until - now) * frame / egress.serialization[frame];
}

}  // namespace sluice::step
