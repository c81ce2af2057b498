// SPDX-License-Identifier: Apache-2.0
/// The step of a host in a window: its NIC ports, queue pairs, receivers and timers, in time
/// order. At one instant: arrivals by port, then timers, then transmit decisions by port.
#pragma once

#include "core/packet/answers.h"
#include "core/packet/host_events.h"
#include "core/packet/sender.h"
#include "core/packet/switch.h"

namespace sluice::step {

/// May this NIC port send ACKs now (as far as PFC goes)?
SLUICE_HD inline bool ack_ready(const World& world, const Egress& egress) {
    return (egress.nonempty & 1U) != 0 &&
           (egress.paused >> world.config->queues.ack_pause_class & 1U) == 0;
}

SLUICE_HD inline bool sender_paused(const Host& host, const Egress& egress, std::uint32_t sender) {
    return egress.paused != 0 && (egress.paused >> host.senders[sender].traffic_class & 1U) != 0;
}

/// Sets the next decision of a port of `host`.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void decide(World& world, const Host& host, PortId port,
                                                    Tick now) {
    const Egress& egress = world.egress[port];
    if (!egress.up) {
        world.link[port].decision = kNever;
        return;
    }
    Tick at = kNever;
    if (ack_ready(world, egress)) {
        at = now;
    } else {
        const HostPort& nic = world.host_port[port];
        for (std::uint32_t i = 0; i < nic.ready.count; ++i) {
            if (nic.ready[i] < at && !sender_paused(host, egress, nic.sender[i])) {
                at = nic.ready[i];
            }
        }
    }
    if (at != kNever) {
        const Tick soonest = egress.free_at > now ? egress.free_at : now;
        at = at < soonest ? soonest : at;
    }
    world.link[port].decision = at;
}

/// The same after `flow` has joined the port's others: at a port that can send nothing, one more that is
/// paused and has a connection of its own changes nothing. Flows that keep coming to a paused host would be
/// looked at all over each time.
SLUICE_HD inline void decide_joined(World& world, const Host& host, PortId port, FlowSlot flow,
                                    Tick now) {
    const bool alone = world.spec[flow].connection == kNone;
    if (!alone || world.link[port].decision != kNever ||
        !sender_paused(host, world.egress[port], world.sender_at[flow])) {
        decide(world, host, port, now);
    }
}

/// Position of the next queue pair in the round that may send, or kNone.
SLUICE_HD inline std::uint32_t next_in_round(const Host& host, const Egress& egress,
                                             const HostPort& nic, Tick now) {
    const std::uint32_t count = nic.ready.count;
    for (std::uint32_t k = 1; k <= count; ++k) {
        std::uint32_t i = nic.last + k;
        i = i >= count ? i - count : i;
        if (nic.ready[i] <= now && !sender_paused(host, egress, nic.sender[i])) {
            return i;
        }
    }
    return kNone;
}

/// A transmit decision of a NIC port.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void host_transmit(World& world, NodeId node, PortId port,
                                                           Tick now) {
    Egress& egress = world.egress[port];
    HostPort& nic = world.host_port[port];
    bool ack = ack_ready(world, egress);
    std::uint32_t next = kNone;
    if (!ack || (!world.config->queues.ack_strict_at_host && nic.last_was_ack)) {
        next = next_in_round(world.host[node], egress, nic, now);
        ack = next == kNone;
    }
    if (ack && ack_ready(world, egress)) {
        const Packet& packet = dequeue(egress, 0);
        nic.last_was_ack = true;
        put_on_wire(world, port, egress, packet, packet.int_hops, 0, now);
    } else if (next != kNone) {
        nic.last = next;
        nic.last_was_ack = false;
        send_data(world, node, nic.sender[next], now);
    }
    ++counts_of(world).events;
    decide(world, world.host[node], port, now);
}

/// The answer to a data packet: an ACK or a NACK.
SLUICE_HD inline Packet make_answer(const World& world, const Packet& data, PacketKind kind,
                                    std::uint32_t expected, bool echo) {
    Packet packet;
    packet.stamp = data.stamp;
    packet.flow = data.flow;
    packet.sequence = expected;
    packet.bytes = static_cast<std::uint16_t>(world.config->format.ack);
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
    const Packet packet = make_answer(world, data, kind, expected, echo);
    if (world.answers != nullptr) {
        send_answer(world, packet, now);
        return;
    }
    const PortId port = egress_of(world, node, packet);
    if (port == kNone) {
        ++counts_of(world).drops;
        return;
    }
    if (no_more_answers(world, world.egress[port])) {
        ++counts_of(world).drops;
        ++world.egress[port].drops;
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

/// The last in-order byte of `flow` has come to its destination, `node`.
template <class Events>
SLUICE_HD inline void note_received(World& world, NodeId node, FlowSlot flow, Tick now) {
    world.result[flow].received = now;
    Events::received(world, node, flow, now);
}

/// `flow`, whose packets were not executed, is complete at its source, `node`.
template <class Events>
SLUICE_HD inline void note_sent(World& world, NodeId node, FlowSlot flow, Tick now) {
    world.result[flow].finish = now;
    note_change(world, flow);
    Events::sent(world, node, flow, now);
}

/// An ACK for `packet`, after which `receiver` waits for Receiver::expected, is due; `packet` was in order.
SLUICE_HD inline bool ack_is_due(const NicConfig& nic, const Receiver& receiver,
                                 const Packet& packet) {
    const auto chunk = static_cast<std::uint32_t>(nic.ack_chunk);
    const bool chunk_end = nic.ack_every > 1 && chunk > 0 && receiver.expected % chunk == 0;
    return receiver.expected - receiver.acked >= static_cast<std::uint32_t>(nic.ack_every) ||
           packet.echo != 0 || chunk_end || receiver.expected == receiver.packets;
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

/// A data packet at its destination, under selective repeat.
template <class Events>
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void receive_any(World& world, NodeId node,
                                                         const Packet& packet, Tick now) {
    Receiver& receiver = world.receiver[packet.flow];
    const std::uint32_t before = receiver.expected;
    if (!reorder(world, packet, receiver)) {
        ++counts_of(world).drops;
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
        note_received<Events>(world, node, packet.flow, now);
    }
}

/// A data packet at its destination: in order, a gap, or a duplicate.
template <class Events>
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void receive_data(World& world, NodeId node,
                                                          const Packet& packet, Tick now) {
    if (repeats_selectively(world)) {
        receive_any<Events>(world, node, packet, now);
        return;
    }
    Receiver& receiver = world.receiver[packet.flow];
    const NicConfig& nic = world.config->nic;
    if (packet.sequence == receiver.expected) {
        ++receiver.expected;
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

/// An ACK or NACK at the flow's source. Late ones of finished flows are ignored.
template <class Events>
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void receive_ack(World& world, NodeId node,
                                                         const Packet& packet, Tick now) {
    const std::uint32_t index = world.sender_at[packet.flow];
    if (index == kNone) {
        return;
    }
    Host& host = world.host[node];
    const PortId port = host.senders[index].port;
    const PortId lead_port = host.senders[credit_heirs(host, index, 0)].port;
    std::uint32_t done = acknowledge(world, host, index, packet, now) ? index : kNone;
    // Messages behind it may have had their last ACKs already.
    while (done != kNone && is_complete(host.senders[done])) {
        const FlowSlot flow = host.senders[done].flow;
        const std::uint32_t heir = host.senders[done].heir;
        close_sender(world, host, done, now);
        Events::sent(world, node, flow, now);
        done = heir;
    }
    decide(world, host, port, now);
    if (lead_port != port) {
        decide(world, host, lead_port, now);
    }
}

/// One arrival at a host.
template <class Events = CallbackEvents>
SLUICE_HD inline void host_arrive(World& world, NodeId node, PortId in, const Packet& packet,
                                  Tick now) {
    ++counts_of(world).events;
    if (packet.packet_kind() >= PacketKind::pause) {
        obey_pfc(world, in, packet, now);
        decide(world, world.host[node], in, now);
    } else if (lost_on_link(world, in, world.ingress[in])) {
        ++counts_of(world).drops;
        ++world.egress[in].drops;
    } else if (packet.packet_kind() == PacketKind::data) {
        receive_data<Events>(world, node, packet, now);
    } else {
        receive_ack<Events>(world, node, packet, now);
    }
}

/// NIC port by which a flow leaves its source: its path, the table, or (cut off) the first port.
SLUICE_HD inline PortId departure_port(const World& world, NodeId node, FlowSlot flow) {
    Packet probe;
    probe.flow = flow;
    const PortId port = egress_of(world, node, probe);
    return port == kNone ? world.first_port[node] : port;
}

/// The slot of a flow whose start has come; kNone if none can be had in a shared window.
SLUICE_HD inline FlowSlot slot_of(World& world, NodeId node, const Timer& start) {
#if !defined(__CUDA_ARCH__)
    if (start.slot == kNone) {
        return world.callbacks.take_slot(world, node, start.id);
    }
#endif
    return start.slot;
}

/// The host is skipping, and a flow that starts there now must wait until it is not.
SLUICE_HD inline bool must_wake(World& world, NodeId node, FlowSlot flow, Tick now) {
    const PortId port = world.first_port[node];
    if (world.cross == nullptr || !world.cross[port].asleep || must_wait(world, flow)) {
        return false;
    }
    world.disturbed.push(world.memory, Disturbance{now, port});
    return true;
}

/// Runs a host's earliest timer. False: it is the start of a flow that must wait until the window's other
/// cells are done, for a slot, for the host to wake or for memory; nothing has happened.
template <class Events = CallbackEvents>
SLUICE_DEVICE_NOINLINE SLUICE_HD inline bool host_timer(World& world, NodeId node, Tick now) {
    Host& host = world.host[node];
    if (Timer& first = host.timers[0]; first.kind == TimerKind::flow_start) {
        first.slot = slot_of(world, node, first);
        if (first.slot == kNone || must_wake(world, node, first.slot, now) ||
            !Events::has_room_for_flow(world, node, first.slot)) {
            return false;
        }
    }
    const Timer timer = pop_timer(host);
    if (superseded(world, host, timer)) {
        return true;
    }
    ++counts_of(world).events;
    switch (timer.kind) {
        case TimerKind::answer:
            receive_ack<Events>(world, node, take_answer(world, timer.slot, now), now);
            break;
        case TimerKind::flow_start: {
            if (!take_turn(world, timer.slot)) {
                break;
            }
            const PortId port = departure_port(world, node, timer.slot);
            open_sender(world, timer.slot, port, now);
            decide_joined(world, host, port, timer.slot, now);
            break;
        }
        case TimerKind::application: Events::timer(world, node, timer.id, now); break;
        case TimerKind::sender:
            sender_timer(world, host, timer.slot, now);
            decide(world, host, host.senders[timer.slot].port, now);
            break;
        case TimerKind::last_byte: note_received<Events>(world, node, timer.slot, now); break;
        case TimerKind::last_ack: note_sent<Events>(world, node, timer.slot, now); break;
    }
    return true;
}

/// Removes timers of finished flows and superseded ones from the top of the heap, so that they
/// wake nobody. Returns true if there were any.
SLUICE_HD inline bool drop_stale_timers(const World& world, NodeId node) {
    Host& host = world.host[node];
    bool dropped = false;
    while (host.timers.count > 0 && superseded(world, host, host.timers[0])) {
        pop_timer(host);
        dropped = true;
    }
    return dropped;
}

/// A host that others follow: lets them meet what is due at `now` or, by a timer of theirs, before, and is
/// not a packet's. True if that was `now` and the host may go on; `own`: with its own first timer, which is
/// no sender's.
#if !defined(__CUDA_ARCH__)
SLUICE_COLD inline bool meet_followers(World& world, NodeId node, Tick now, bool own) {
    const Tick due = world.followed[node];
    const bool mine = own && due >= now;
    world.callbacks.meet(world, node, due < now ? due : now, mine);
    return mine;
}
#endif

/// Takes the first packet of a host's link.
SLUICE_HD inline Packet next_packet(World& world, PortId in) {
    Wire& link = world.link[in];
    const Packet packet = link.front();
    link.pop();
    SLUICE_PREFETCH(&link.at(link.head + 5));
    if (!link.empty() && link.front().packet_kind() == PacketKind::ack) {
        prefetch_int(world, link.front());
    }
    link.arrival = next_arrival(link);
    return packet;
}

/// A host's first timer, the start of a flow, waits until the window's other cells are done.
SLUICE_HD inline void wait_for_start(World& world, const Cell& cell, Tick now) {
    if (world.host[cell.node].timers[0].slot == kNone) {
        world.stalled.push(world.memory, cell.id);
    }
    world.wake[cell.id] = now;
}

/// The step. Sets the cell's wake to the host's next instant, which is in the window where it must wait.
template <class Events = CallbackEvents>
SLUICE_HD inline void host_step(World& world, const Cell& cell, Tick end) {
    const NodeId node = cell.node;
    const bool followed = world.followed != nullptr && world.followed[node] != kUnfollowed;
    const PortId first = world.first_port[node];
    const PortId last = world.first_port[node + 1];
    if (!Events::resume(world, node)) {
        return;
    }
    for (;;) {
        PortId in = first;
        PortId out = first;
        for (PortId p = first + 1; p < last; ++p) {
            in = world.link[p].arrival < world.link[in].arrival ? p : in;
            out = world.link[p].decision < world.link[out].decision ? p : out;
        }
        const Tick arrival = first < last ? world.link[in].arrival : kNever;
        const Tick decision = first < last ? world.link[out].decision : kNever;
        const Host& host = world.host[node];
        const Tick timer = host.timers.count > 0 ? host.timers[0].time : kNever;
        Tick now = arrival < timer ? arrival : timer;
        now = decision < now ? decision : now;
        const Tick due = followed ? world.followed[node] : kNever;
        if (now >= end && due >= end) {
            if (now == timer && drop_stale_timers(world, node)) {
                continue;
            }
            world.wake[cell.id] = due < now ? due : now;
            return;
        }
#if !defined(__CUDA_ARCH__)
        if (followed && (due < now || arrival != now)) {
            const bool own =
                timer == now && timer != kNever && host.timers.data[0].kind != TimerKind::sender;
            if ((due <= now || own) && !meet_followers(world, node, now, own)) {
                continue;
            }
        }
#endif
        if (!Events::has_room(world, node)) {
            world.wake[cell.id] = now;
            return;
        }
        if (arrival == now) {
            host_arrive<Events>(world, node, in, next_packet(world, in), now);
        } else if (timer == now) {
            if (!host_timer<Events>(world, node, now)) {
                return wait_for_start(world, cell, now);
            }
        } else {
            host_transmit(world, node, out, now);
        }
        if (Events::is_stuck(world, node)) {
            world.wake[cell.id] = now;
            return;
        }
    }
}

}  // namespace sluice::step
