// SPDX-License-Identifier: Apache-2.0
/// The step of a host in a window: its NIC ports, queue pairs, receivers and timers, in time
/// order. At one instant: arrivals by port, then timers, then transmit decisions by port.
#pragma once

#include "core/memory_space.h"
#include "core/packet/host_events.h"
#include "core/packet/receiver.h"
#include "core/packet/sender.h"
#include "core/packet/switch.h"

namespace sluice::step {

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
    is_in_shared_memory(world);
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

/// `flow`, whose packets were not executed, is complete at its source, `node`.
template <class Events>
SLUICE_HD inline void note_sent(World& world, NodeId node, FlowSlot flow, Tick now) {
    world.result[flow].finish = now;
    note_change(world, flow);
    Events::sent(world, node, flow, now);
}

/// An ACK or NACK at the flow's source. Late ones of finished flows are ignored.
template <class Events>
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void receive_ack(World& world, NodeId node,
                                                         const Packet& packet, Tick now) {
    is_in_shared_memory(world);
    const std::uint32_t index = world.sender_at[packet.flow];
    if (index == kNone) {
        return;
    }
    Host& host = world.host[node];
    const PortId port = host.senders[index].port;
    if (take_credits(world, host.senders[index], packet)) {
        update_ready(world, host.senders[index]);
        decide(world, host, port, now);
        return;
    }
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
        lose(world, world.egress[in], &Egress::drops_cable);
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
    is_in_shared_memory(world);
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
        case TimerKind::pull: give_credits(world, node, now); break;
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
SLUICE_HD void host_step(World& world, const Cell& cell, Tick end) {
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

// A host calls the one of nic.cpp.
#if !defined(__CUDACC__)
extern template void host_step<CallbackEvents>(World&, const Cell&, Tick);
#endif

}  // namespace sluice::step
