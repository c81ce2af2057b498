// SPDX-License-Identifier: Apache-2.0
/// ns-3's order of simultaneous events, for Arithmetic::ns3 only. With whole nanoseconds many
/// events fall on one instant, and ns-3 executes them in the order in which they were scheduled.
/// That order decides whose packet is queued first, and single completion times with it. It is
/// reproduced here without a global event counter: an event is ordered by the time at which it was
/// scheduled, then by the order of the event that scheduled it, and so on back. A key keeps the
/// ages of that chain, run-length coded since packets in a train have equal ones:
///
///     rank 16 | run 8 | rank 16 | run 8 | rank 16     rank = 65535 - age in ns (older is first)
///
/// A run of n equal ages is coded n if an older age precedes it, else 255 - n: comparing the coded
/// numbers is then comparing the chains. Where two chains cannot be told apart (an age or a run
/// too long for its field, a chain longer than the key), the project's own order decides: port,
/// then position in the link. Either way the order follows from the packets alone, so every driver
/// finds the same. Law TIMELY carries its time stamp in the same field of a packet and keeps the
/// project's own order throughout.
#pragma once

#include "core/step/state.h"

namespace sluice::step {

/// Key of an event that no other event of the network scheduled: the start of `flow`.
SLUICE_HD inline std::uint64_t initial_key(FlowId flow) {
    return 0xffff010000000000ULL | (flow & 0xffffU);
}

/// The event that `cause`, executing at `now`, schedules.
SLUICE_HD inline EventOrder scheduled_by(const EventOrder& cause, Tick now) {
    const Tick age = (now - cause.scheduled) / kNanosecond;
    const std::uint64_t rank = 0xffffU - static_cast<std::uint64_t>(age < 0xffff ? age : 0xffff);
    const std::uint64_t first = cause.key >> 48;
    if (rank != first) {
        const std::uint64_t code = first < rank ? 1U : 254U;
        return EventOrder{now, rank << 48 | code << 40 | cause.key >> 24};
    }
    const std::uint64_t code = cause.key >> 40 & 0xffU;
    const std::uint64_t longer = code < 127 ? code + 1 : code > 128 ? code - 1 : code;
    return EventOrder{now, (cause.key & ~(0xffULL << 40)) | longer << 40};
}

/// Reception of `packet`, which came in by port `in`: scheduled when its transmission began.
SLUICE_HD inline EventOrder arrival_order(const World& world, PortId in, const Packet& packet) {
    const Egress& sender = world.egress[world.egress[in].peer];
    const Tick arrival = packet.time + world.link[in].base;
    return EventOrder{arrival - sender.delay - sender.serialization[packet.bytes],
                      static_cast<std::uint64_t>(packet.stamp)};
}

/// Whose doing it is that `port` transmits at `now`: the end of its previous transmission, or
/// (`idle`) the event that found it idle.
SLUICE_HD inline EventOrder transmit_cause(const Egress& egress, const EventOrder& idle, Tick now) {
    return egress.free_at == now ? egress.last_transmission : idle;
}

/// Puts simultaneous arrivals (already sorted by time, port and position) into ns-3's order.
/// Packets of one port are simultaneous only where a frame takes no time; they stay in place, for
/// the later one was scheduled by the end of the other's transmission.
SLUICE_HD inline void order_ties(World& world, NodeId node, std::uint64_t* keys,
                                 std::uint32_t count) {
    const PortId first = world.first_port[node];
    const auto order = [&](std::uint64_t key) {
        const PortId in = first + (static_cast<std::uint32_t>(key >> 16) & 0xffffU);
        Wire& link = world.link[in];
        return arrival_order(world, in,
                             link.at(link.head + (static_cast<std::uint32_t>(key) & 0xffffU)));
    };
    for (std::uint32_t k = 1; k < count; ++k) {
        const std::uint64_t moving = keys[k];
        std::uint32_t place = k;
        while (place > 0 && keys[place - 1] >> 32 == moving >> 32 &&
               order(moving).before(order(keys[place - 1]))) {
            keys[place] = keys[place - 1];
            --place;
        }
        keys[place] = moving;
    }
}

/// True if the next packet of port `a` arrives with that of port `b`, and before it in ns-3's order.
SLUICE_HD inline bool ns3_first(const World& world, PortId a, PortId b) {
    return world.ns3_order && world.arrival[a] == world.arrival[b] && world.arrival[a] != kNever &&
           arrival_order(world, a, world.link[a].front())
               .before(arrival_order(world, b, world.link[b].front()));
}

/// The earliest instant at which pacing lets a queue pair of this NIC port send; ns-3 looks at
/// every one that has bytes left, window open or not.
SLUICE_HD inline Tick earliest_avail(const World& world, const HostPort& nic) {
    Tick at = kNever;
    for (std::uint32_t i = 0; i < nic.sender.count; ++i) {
        const Sender& sender = world.senders[nic.sender[i]];
        if (sender.next < sender.packets && sender.next_avail < at) {
            at = sender.next_avail;
        }
    }
    return at;
}

/// A NIC is transmitting: when that ends with nothing to send, ns-3 schedules one wake-up at the
/// earliest instant at which a queue pair may send. Called at the start, and again when a law
/// re-times a queue pair meanwhile.
SLUICE_HD inline void plan_wake_up(const World& world, const Egress& egress, HostPort& nic) {
    const Tick at = earliest_avail(world, nic);
    nic.wake_up = at > egress.free_at ? at : kNever;
    nic.wake_up_order = scheduled_by(egress.last_transmission, egress.free_at);
}

/// A wake-up before `now` found nothing to send and scheduled itself again.
SLUICE_HD inline void pass_wake_ups(const World& world, HostPort& nic, Tick now) {
    while (nic.wake_up < now) {
        const Tick at = earliest_avail(world, nic);
        nic.wake_up_order = scheduled_by(nic.wake_up_order, nic.wake_up);
        nic.wake_up = at > nic.wake_up ? at : kNever;
    }
}

/// When pacing next lets this NIC port send, given that `ready` is the earliest instant at which a
/// queue pair with an open window may: `ready` if a wake-up falls on it. ns-3 wakes for the
/// earliest queue pair whatever its window, and not again if that one still may not send; the
/// others then wait for the next ACK.
SLUICE_HD inline Tick paced_decision(const World& world, const HostPort& nic, Tick ready) {
    Tick wake_up = nic.wake_up;
    while (wake_up < ready) {
        const Tick at = earliest_avail(world, nic);
        wake_up = at > wake_up ? at : kNever;
    }
    return wake_up == ready ? ready : kNever;
}

/// A law has re-timed a queue pair to `at`: ns-3 moves a pending wake-up forward, never back.
SLUICE_HD inline void retime_wake_up(const World& world, PortId port, Tick at, Tick now) {
    const Egress& egress = world.egress[port];
    HostPort& nic = world.host_port[port];
    if (now <= egress.free_at) {
        plan_wake_up(world, egress, nic);
    } else if (nic.wake_up != kNever && at < nic.wake_up) {
        nic.wake_up = at > now ? at : now;
        nic.wake_up_order = scheduled_by(world.cause, now);
    }
}

/// Whose doing a NIC's transmission at `now` is: the end of the previous one, a reception at this
/// very instant, or the wake-up.
SLUICE_HD inline EventOrder nic_cause(const World& world, const Egress& egress, HostPort& nic,
                                      Tick now) {
    if (egress.free_at == now) {
        return egress.last_transmission;
    }
    pass_wake_ups(world, nic, now);
    if (nic.roused == now && (nic.wake_up != now || nic.roused_by.before(nic.wake_up_order))) {
        return nic.roused_by;
    }
    return nic.wake_up_order;
}

/// True if the NIC's wake-up at `now` comes before the reception at the same instant, so that it
/// sends before the received packet can change anything.
SLUICE_HD inline bool wake_up_first(const World& world, PortId port, Tick now) {
    HostPort& nic = world.host_port[port];
    if (world.decision[port] != now || world.egress[port].free_at == now) {
        return false;
    }
    pass_wake_ups(world, nic, now);
    Wire& link = world.link[port];
    return nic.wake_up == now && nic.wake_up_order.before(arrival_order(world, port, link.front()));
}

}  // namespace sluice::step
