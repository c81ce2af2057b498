// SPDX-License-Identifier: Apache-2.0
/// The transmit side of a port, shared by switches and NICs: putting a packet on the wire, queues
/// with strict priority and a scheduler, ECN marking and INT stamping at dequeue.
#pragma once

#include "core/congestion/int_record.h"
#include "core/memory_space.h"
#include "core/packet/int_slots.h"
#include "core/packet/policies/policies.h"
#include "core/packet/state.h"
#include "core/packet/trains.h"

namespace sluice::step {

/// Random stream of a port (core/random.h).
inline constexpr std::uint64_t kLossDraws = 0x6c6f7373;

/// Queue that a packet joins in a switch.
SLUICE_HD inline std::uint32_t switch_queue(const World& world, const Packet& packet) {
    return packet.packet_kind() != PacketKind::data && world.ack_strict_in_switch
               ? 0
               : packet.traffic_class;
}

/// The flow of a packet, as the hop checksum counts it.
SLUICE_HD inline FlowId digest_id(const World& world, const Packet& packet) {
    return packet.packet_kind() < PacketKind::pause ? world.id[packet.flow] : 0;
}

/// Starts the transmission of `packet` by `port` at `now`. Returns when its last bit reaches the peer,
/// after serialization and propagation.
SLUICE_HD inline Tick begin_transmission(Egress& egress, const Packet& packet, Tick now) {
    const Tick end = now + egress.serialization[packet.bytes];
    egress.free_at = end;
    egress.tx_bytes += packet.bytes;
    ++egress.tx_packets;
    return end + egress.delay;
}

/// After begin_transmission() of `packet`: the transmitter is busy with what crosses the port, too.
SLUICE_HD inline void let_cross(const CrossStream& stream, Egress& egress, const Packet& packet) {
    egress.free_at += static_cast<Tick>(
        std::uint64_t{egress.serialization[packet.bytes]} * stream.stretch >> kStretchShift);
}

/// Finishes `sent`, a copy of `packet` where it waits for its `arrival`: one copy, and no narrow store
/// that a wide load would wait for. `int_hops` and `ce` replace the packet's own.
SLUICE_HD inline void finish_on_link(World& world, PortId port, const Egress& egress,
                                     const Packet& packet, std::uint32_t int_hops, std::uint32_t ce,
                                     Tick arrival, Packet& sent) {
    sent.time = arrival - world.link[egress.out].base;
    sent.hop = packet.hop == 15 ? 15 : packet.hop + 1;
    sent.int_hops = int_hops & 15U;
    sent.ce = ce & 1U;
    if (world.digest_hops) {
        counts_of(world).checksum += hop_digest(sent, digest_id(world, sent), port, arrival);
    }
}

/// Puts `packet`, sent by `port` from `now` on, into its link and returns when its last bit reaches
/// the peer.
SLUICE_HD inline Tick push_on_link(World& world, PortId port, Egress& egress, const Packet& packet,
                                   std::uint32_t int_hops, std::uint32_t ce, Tick now) {
    Tick arrival = begin_transmission(egress, packet, now);
    if (!world.lone_packets) {
        arrival += world.train > 1 ? owe_train(world, egress, packet, now) : 0;
        if (world.cross != nullptr) {
            let_cross(world.cross[port], egress, packet);
        }
    }
    Packet* const slot = world.link[egress.out].push(world.memory, packet);
    if (slot != nullptr) {
        finish_on_link(world, port, egress, packet, int_hops, ce, arrival, *slot);
    }
    return arrival;
}

/// The first packet of a window is in an outbox.
SLUICE_COLD SLUICE_HD inline void list_outbox(World& world, PortId outbox) {
    world.outboxes.push(world.memory, outbox);
}

/// Starts transmission of `packet` on `port` at `now`, and wakes the peer for it, or lists the outbox.
SLUICE_HD inline void put_on_wire(World& world, PortId port, Egress& egress, const Packet& packet,
                                  std::uint32_t int_hops, std::uint32_t ce, Tick now) {
    const PortId out = egress.out;
    const bool first = world.link[out].empty();
    const Tick arrival = push_on_link(world, port, egress, packet, int_hops, ce, now);
    if (first) {
        world.link[out].arrival = arrival;
        if (out < world.first_outbox) {
            wake_cell(world, egress.peer_cell, arrival);
        } else if (world.lane == nullptr) {
            list_outbox(world, out);
        }
    }
}

/// Appends to a class queue. Does not decide anything: the caller sets world.decision.
SLUICE_HD inline void enqueue(World& world, Egress& egress, const Packet& packet,
                              std::uint32_t queue) {
    egress.queue[queue].push(world.memory, packet);
    egress.class_bytes[queue] += packet.bytes;
    egress.queued_bytes += packet.bytes;
    egress.nonempty = static_cast<std::uint8_t>(egress.nonempty | 1U << queue);
    if (egress.queued_bytes > egress.max_queued_bytes) {
        egress.max_queued_bytes = egress.queued_bytes;
    }
}

/// Takes the first packet of a class queue out. Its slot stays as it is until the next packet is
/// queued there.
SLUICE_HD inline const Packet& dequeue(Egress& egress, std::uint32_t queue) {
    Ring& ring = egress.queue[queue];
    const Packet& packet = ring.front();
    ring.pop_and_rewind();
    egress.class_bytes[queue] -= packet.bytes;
    egress.queued_bytes -= packet.bytes;
    if (ring.empty()) {
        egress.nonempty = static_cast<std::uint8_t>(egress.nonempty & ~(1U << queue));
    }
    return packet;
}

/// Classes that have packets and may send.
SLUICE_HD inline std::uint32_t eligible(const Egress& egress) {
    return egress.nonempty & ~static_cast<std::uint32_t>(egress.paused);
}

/// Strict priority of class 0, then what the scheduler says. `mask` is not zero.
template <class Policies>
SLUICE_HD inline std::uint32_t pick_class(const World& world, Egress& egress, std::uint32_t mask) {
    if ((mask & 1U) != 0) {
        return 0;
    }
    if ((mask & (mask - 1)) == 0) {
        std::uint32_t only = 1;
        while ((mask >> only & 1U) == 0) {
            ++only;
        }
        egress.last_class = static_cast<std::uint8_t>(only);
        egress.deficit[only] = 0;  // no competitor: an unused deficit must not pile up
        return only;
    }
    return Policies::pick(world, egress, mask);
}

/// What a switch writes into a packet that leaves its queue: the mark and its INT record.
struct Written {
    std::uint32_t int_hops = 0;
    std::uint32_t ce = 0;
};

/// Marks the packets of a train behind its first one, which is marked if `ce` is 1: as the first one, or by draws of
/// their own. Returns 1 if one is marked. Not inlined, as owe_train().
template <class Policies>
SLUICE_COLD SLUICE_HD inline std::uint32_t mark_train(const World& world, PortId port,
                                                      Egress& egress, const Packet& packet,
                                                      std::uint32_t queue, std::uint32_t ce) {
    const std::uint32_t more =
        packet.packet_kind() == PacketKind::data ? packets_of_train(world, packet.bytes) - 1 : 0;
    std::uint32_t marked = world.trains_marked_whole ? more * ce : 0;
    for (std::uint32_t i = 0; i < more && !world.trains_marked_whole; ++i) {
        marked += Policies::marks(world, port, egress, egress.class_bytes[queue]) ? 1 : 0;
    }
    egress.ecn_marks += marked;
    return marked > 0 ? 1 : 0;
}

template <class Policies = ScenarioPolicies>
SLUICE_HD inline Written mark_and_stamp(World& world, PortId port, Egress& egress,
                                        const Packet& packet, std::uint32_t queue, Tick now) {
    std::uint32_t ce = packet.ce;
    std::uint32_t int_hops = packet.int_hops;
    if (queue != 0 && Policies::marks(world, port, egress, egress.class_bytes[queue])) {
        ce = 1;
        ++egress.ecn_marks;
    }
    if (world.train > 1 && queue != 0) {
        ce |= mark_train<Policies>(world, port, egress, packet, queue, ce);
    }
    if (world.int_block != 0 && packet.packet_kind() == PacketKind::data) {
        const FlowRoute& route = world.route[packet.flow];
        if (!route.ints.empty() && int_hops + 1 < world.int_stride) {
            congestion::IntRecord* const slot = int_slot(world, route, packet.transmission);
            if (slot_tag(slot) == int_tag(packet.flow, packet.transmission)) {
                // A skip takes no time in what INT tells: differences of records stay rates.
                const Tick local = now - world.link[egress.out].base;
                const std::int64_t sent =
                    egress.tx_bytes - (world.train > 1 ? owed_bytes(world, egress, now) : 0) +
                    (world.cross == nullptr ? 0 : crossed(world.cross[port], local));
                slot[1 + int_hops] = congestion::pack_int(local, sent, egress.queued_bytes,
                                                          egress.rate_index, world.int_units);
            }
        }
        // One hop too many is counted, so that the law sees that the records are incomplete.
        int_hops += int_hops < world.int_stride ? 1 : 0;
    }
    return {int_hops, ce};
}

/// What a switch does to a packet that leaves its queue: mark, stamp, send.
template <class Policies>
SLUICE_HOT SLUICE_HD inline void switch_emit(World& world, PortId port, Egress& egress,
                                             const Packet& packet, std::uint32_t queue, Tick now) {
    is_in_shared_memory(world);
    is_in_global_memory(egress);
    const Written written = mark_and_stamp<Policies>(world, port, egress, packet, queue, now);
    put_on_wire(world, port, egress, packet, written.int_hops, written.ce, now);
}

/// PFC: the peer pauses or resumes a class of this port's transmitter.
SLUICE_HD inline void set_paused(Egress& egress, std::uint32_t traffic_class, bool pause,
                                 Tick now) {
    const std::uint8_t before = egress.paused;
    const auto bit = static_cast<std::uint8_t>(1U << traffic_class);
    egress.paused = static_cast<std::uint8_t>(pause ? before | bit : before & ~bit);
    if (before == 0 && egress.paused != 0) {
        egress.paused_since = now;
    } else if (before != 0 && egress.paused == 0) {
        egress.paused_ticks += now - egress.paused_since;
    }
}

/// The next instant at which a switch port decides what to send, given the time is `now`.
SLUICE_HD inline Tick next_decision(const Egress& egress, Tick now) {
    if (eligible(egress) == 0) {
        return kNever;
    }
    return egress.free_at > now ? egress.free_at : now;
}

}  // namespace sluice::step
