// SPDX-License-Identifier: Apache-2.0
/// The receiving side of a flow: what it keeps, what it answers, and when the last byte is there (docs/models/nic.md).
#pragma once

#include "core/memory_space.h"
#include "core/packet/ack_load/answers.h"
#include "core/packet/credits.h"
#include "core/packet/egress.h"
#include "core/packet/host_events.h"
#include "core/packet/nic_port.h"
#include "core/packet/selective_repeat.h"
#include "core/packet/trimming.h"

namespace sluice::step {

/// The answer to a data packet: an ACK or a NACK.
SLUICE_HD inline Packet make_answer(const World& world, const Packet& data, PacketKind kind,
                                    std::uint32_t expected, bool echo) {
    Packet packet;
    packet.stamp = data.stamp;
    packet.flow = data.flow;
    packet.sequence = expected;
    packet.bytes = static_cast<std::uint16_t>(world.config->format.ack);
    if (world.train > 1 && kind == PacketKind::ack) {
        packet.bytes =
            static_cast<std::uint16_t>(packet.bytes * packets_of_train(world, data.bytes));
    }
    packet.transmission = data.transmission;
    packet.kind = static_cast<std::uint16_t>(kind);
    packet.traffic_class = data.traffic_class;
    packet.int_hops = data.int_hops;
    packet.echo = echo ? 1 : 0;
    return packet;
}

/// Answers that wait at a paused port, where time-outs make up for what is not answered. Senders that repeat
/// themselves would have them grow as long as the pause lasts.
inline constexpr std::uint32_t kMostHeldAnswers = 16'384;

SLUICE_HD inline bool no_more_answers(const World& world, const Egress& egress) {
    return world.config->nic.retransmit_timeout > 0 && !ack_ready(world, egress) &&
           egress.queue[0].size() >= kMostHeldAnswers;
}

/// Queues the answer to a data packet.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void answer(World& world, NodeId node, const Packet& data,
                                                    PacketKind kind, std::uint32_t expected,
                                                    bool echo, Tick now) {
    is_in_shared_memory(world);
    const Packet packet = make_answer(world, data, kind, expected, echo);
    if (world.answers != nullptr) {
        send_answer(world, packet, now);
        return;
    }
    const PortId port = egress_of(world, node, packet);
    if (port == kNone) {
        lose(world, world.egress[world.first_port[node]], &Egress::drops_no_way);
        return;
    }
    if (no_more_answers(world, world.egress[port])) {
        lose(world, world.egress[port], &Egress::drops_no_room);
        return;
    }
    enqueue(world, world.egress[port], packet, 0);
    decide(world, world.host[node], port, now);
}

/// A packet is missing at `receiver`. True if a NACK is due: one per interval and missing packet. Under
/// go-back-0 the receiver starts its chunk over.
SLUICE_HD inline bool note_gap(const NicConfig& nic, Receiver& receiver, Tick now) {
    if (now < receiver.nack_timer && receiver.last_nack == receiver.expected) {
        return false;
    }
    receiver.nack_timer = now + nic.nack_interval;
    receiver.last_nack = receiver.expected;
    const auto chunk = static_cast<std::uint32_t>(nic.ack_chunk);
    if (nic.back_to_zero && chunk > 0) {
        receiver.expected = receiver.expected / chunk * chunk;
        receiver.acked = receiver.acked < receiver.expected ? receiver.acked : receiver.expected;
    }
    return true;
}

/// The last in-order byte of `flow` has come to its destination, `node`, as a packet or as was predicted.
template <class Events>
SLUICE_HD inline void note_received(World& world, NodeId node, FlowSlot flow, Tick now) {
    Receiver& receiver = world.receiver[flow];
    receiver.expected = receiver.packets;
    world.result[flow].received = now;
    Events::received(world, node, flow, now);
}

/// An ACK for `packet`, after which `receiver` waits for Receiver::expected, is due; `packet` was in order.
SLUICE_HD inline bool ack_is_due(const NicConfig& nic, const Receiver& receiver,
                                 const Packet& packet) {
    const auto chunk = static_cast<std::uint32_t>(nic.ack_chunk);
    const bool chunk_end = nic.ack_every > 1 && chunk > 0 && receiver.expected % chunk == 0;
    return receiver.expected - receiver.acked >= static_cast<std::uint32_t>(nic.ack_every) ||
           packet.echo != 0 || chunk_end || receiver.expected == receiver.packets ||
           (nic.ack_early && (packet.ce != 0 || packet.sequence == 0));
}

/// Keeps a packet that came out of order, or takes those that follow the one that came in it, and have come before.
/// False: it is beyond the window, where no sender of ours sends.
SLUICE_HD inline bool reorder(const World& world, const Packet& packet, Receiver& receiver) {
    WindowBits arrived = arrived_of(world, packet.flow);
    if (packet.sequence == receiver.expected) {
        ++receiver.expected;
        for (; arrived.has(receiver.expected); ++receiver.expected) {
            arrived.clear(receiver.expected);
        }
    } else if (packet.sequence > receiver.expected) {
        if (packet.sequence - receiver.expected >= world.reorder_window ||
            packet.sequence >= receiver.packets) {
            return false;
        }
        arrived.set(packet.sequence);
    }
    return true;
}

/// The header of a packet that a switch has trimmed: its sender is told which one is missing.
SLUICE_HD inline void receive_trimmed(World& world, NodeId node, const Packet& packet, Tick now) {
    const Receiver& receiver = world.receiver[packet.flow];
    const std::uint32_t expected = receiver.expected;
    const bool missing = packet.sequence >= expected && packet.sequence < receiver.packets &&
                         packet.sequence - expected < world.reorder_window &&
                         !arrived_of(world, packet.flow).has(packet.sequence);
    Packet answered = packet;
    answered.stamp = stamp_with(packet.stamp, missing ? packet.sequence - expected : 0);
    answer(world, node, answered, missing ? PacketKind::nack : PacketKind::ack, expected, true,
           now);
}

/// A data packet at its destination, under selective repeat.
template <class Events>
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void receive_any(World& world, NodeId node,
                                                         const Packet& packet, Tick now) {
    is_in_shared_memory(world);
    note_wanted(world, node, packet, now);
    if (is_trimmed(world, packet)) {
        receive_trimmed(world, node, packet, now);
        return;
    }
    Receiver& receiver = world.receiver[packet.flow];
    const std::uint32_t before = receiver.expected;
    if (!reorder(world, packet, receiver)) {
        lose(world, world.egress[world.first_port[node]], &Egress::drops_outdated);
        return;
    }
    const std::uint32_t expected = receiver.expected;
    receiver.echo = receiver.echo || packet.ce != 0;
    if (expected != before + 1 || ack_is_due(world.config->nic, receiver, packet)) {
        Packet answered = packet;
        answered.stamp =
            stamp_with(packet.stamp, packet.sequence > expected ? packet.sequence - expected : 0);
        answer(world, node, answered, PacketKind::ack, expected, receiver.echo, now);
        receiver.acked = expected;
        receiver.echo = false;
    }
    if (expected == receiver.packets && before != expected) {
        leave_round(world, node, packet.flow);
        note_received<Events>(world, node, packet.flow, now);
    }
}

/// A data packet at its destination: in order, a gap, or a duplicate.
template <class Events>
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void receive_data(World& world, NodeId node,
                                                          const Packet& packet, Tick now) {
    is_in_shared_memory(world);
    if (repeats_selectively(world)) {
        receive_any<Events>(world, node, packet, now);
        return;
    }
    Receiver& receiver = world.receiver[packet.flow];
    const NicConfig& nic = world.config->nic;
    const std::uint32_t length = packets_of_train(world, packet.bytes);
    if (receiver.expected - packet.sequence < length) {
        receiver.expected = packet.sequence + length;
        receiver.echo = receiver.echo || packet.ce != 0;
        const std::uint32_t expected = receiver.expected;
        const bool complete = expected == receiver.packets;
        if (ack_is_due(nic, receiver, packet)) {
            answer(world, node, packet, PacketKind::ack, expected, receiver.echo, now);
            receiver.acked = expected;
            receiver.echo = false;
        }
        if (complete) {
            note_received<Events>(world, node, packet.flow, now);
        }
    } else if (packet.sequence > receiver.expected) {
        if (note_gap(nic, receiver, now)) {
            answer(world, node, packet, PacketKind::nack, receiver.expected, packet.ce != 0, now);
        }
    } else if (nic.retransmit_timeout > 0) {
        // A duplicate means that the sender missed an ACK; without a time-out (ns-3) it never asks.
        answer(world, node, packet, PacketKind::ack, receiver.expected, packet.ce != 0, now);
    }
}

}  // namespace sluice::step
