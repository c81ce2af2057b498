// SPDX-License-Identifier: Apache-2.0
/// The step of a switch in a window [begin, end): route every arrival, then move packets from
/// ingress links through queues to egress links, in (time, port, sequence) order.
///
/// Ports of a switch meet only in the shared buffer. In most windows no decision can depend on it:
/// nothing is paused by this switch, and even if all arrivals of the window were buffered at once,
/// no ingress would reach its threshold. Such a window is *quiet*: each egress port is worked off
/// alone (arrivals sorted per port, departures committed lazily before each arrival), which gives
/// exactly what the interleaved order gives, for the accounting is a sum. Other windows run in
/// full (time, port) order. Equality of the two is a property test. Where packets choose their port by what is in the
/// queues (Columns::in_order), every window runs so, and they choose at their own instants.
#pragma once

#include "core/bits.h"
#include "core/memory_space.h"
#include "core/packet/arrivals.h"
#include "core/packet/buffer.h"
#include "core/packet/trimming.h"

namespace sluice::step {

/// Queues a PFC frame for the peer of `port`.
SLUICE_HD inline void enqueue_pfc(World& world, PortId port, std::uint32_t traffic_class,
                                  bool pause) {
    Packet frame;
    frame.kind = static_cast<std::uint16_t>(pause ? PacketKind::pause : PacketKind::resume);
    frame.sequence = traffic_class;
    frame.bytes = static_cast<std::uint16_t>(world.config->format.pause);
    Egress& egress = world.egress[port];
    enqueue(world, egress, frame, 0);
    egress.pauses_sent += pause ? 1 : 0;
}

SLUICE_HD inline void send_pfc(World& world, PortId port, std::uint32_t traffic_class, bool pause,
                               Tick now) {
    enqueue_pfc(world, port, traffic_class, pause);
    if (world.cross != nullptr && world.cross[port].asleep) {
        world.disturbed.push(world.memory, Disturbance{now, port});
        return;
    }
    if (world.link[port].decision == kNever) {
        world.link[port].decision = next_decision(world.egress[port], now);
    }
}

/// What a PFC frame from the peer of `port` changes there.
SLUICE_HD inline void obey_pfc(World& world, PortId port, const Packet& packet, Tick now) {
    const bool pause = packet.packet_kind() == PacketKind::pause;
    set_paused(world.egress[port], packet.sequence & (kClasses - 1), pause, now);
    if (world.list_pauses) {
        world.pauses.push(world.memory, PfcFrame{now, port, pause});
    }
}

/// A PFC frame from the peer of `port`.
SLUICE_HD inline void receive_pfc(World& world, PortId port, const Packet& packet, Tick now) {
    obey_pfc(world, port, packet, now);
    world.link[port].decision = next_decision(world.egress[port], now);
}

/// One arrival with every decision taken at its instant.
template <class Policies>
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void switch_arrive(World& world, const Cell& cell,
                                                           PortId in, PortId out,
                                                           const Packet& packet, Tick now) {
    is_in_shared_memory(world);
    if (packet.packet_kind() >= PacketKind::pause) {
        receive_pfc(world, in, packet, now);
        return;
    }
    Buffer& buffer = world.buffer[cell.id];
    Ingress& ingress = world.ingress[in];
    Egress& egress = world.egress[out];
    const std::uint32_t queue = switch_queue(world, packet);
    if (queue != 0) {
        const bool admitted =
            world.pfc
                ? admit_lossless<Policies>(world, buffer, ingress, queue, packet.bytes)
                : !(egress.class_bytes[queue] + packet.bytes > egress.trim_above &&
                    packet.packet_kind() == PacketKind::data) &&
                      admit_lossy<Policies>(world, buffer, egress.class_bytes[queue], packet.bytes);
        if (!admitted) {
            trim_or_lose<Policies>(world, buffer, egress, out, packet, now);
            return;
        }
        if (world.pfc && should_pause<Policies>(world, buffer, ingress, queue)) {
            begin_pause(buffer, ingress, queue);
            send_pfc(world, in, queue, true, now);
        }
    } else if (egress.class_bytes[0] + packet.bytes > world.header_room &&
               packet.packet_kind() == PacketKind::data) {
        lose(world, egress, &Egress::drops_no_room);
        return;
    }
    enqueue(world, egress, packet, queue);
    if (world.link[out].decision == kNever) {
        world.link[out].decision = next_decision(egress, now);
    }
}

/// One departure. `kExact` also takes the PFC decision that follows it. Returns the port's next
/// decision; the caller stores it.
template <class Policies, bool kExact, class Counting = OneCounts>
SLUICE_DEVICE_NOINLINE SLUICE_HD inline Tick switch_transmit(World& world, const Cell& cell,
                                                             PortId port, Tick now) {
    is_in_shared_memory(world);
    Egress& egress = world.egress[port];
    const std::uint32_t queue = pick_class<Policies>(world, egress, eligible(egress));
    const Packet& packet = dequeue(egress, queue);
    const PortId in = world.first_port[cell.node] + packet.ingress;
    if (queue != 0) {
        Counting::release(world.buffer[cell.id], world.ingress[in], queue, packet.bytes, world.pfc);
    }
    switch_emit<Policies>(world, port, egress, packet, queue, now);
    if (kExact && queue != 0 && world.pfc &&
        should_resume<Policies>(world, world.buffer[cell.id], world.ingress[in], queue)) {
        end_pause(world.buffer[cell.id], world.ingress[in], queue);
        send_pfc(world, in, queue, false, now);
    }
    ++counts_of(world).events;
    return eligible(egress) != 0 ? egress.free_at : kNever;
}

/// What arrives at a switch in a window, as its scratch has it.
struct ScratchArrivals {
    const SwitchScratch& scratch;
    /// By the local port `in`.
    SLUICE_HD std::uint32_t bytes(std::uint32_t in) const { return scratch.bytes[in]; }
    /// False: nothing that came leaves by `out`.
    SLUICE_HD bool may_leave_by(std::uint32_t out) const { return scratch.count[out] != 0; }
};

/// True if no decision of this window can depend on the shared buffer (see the file's head). `arriving`: bytes
/// of all `arrivals`.
template <class Policies, class Ports, class Arrivals>
SLUICE_HD inline bool quiet_window(const World& world, const Cell& cell, const Ports& mine,
                                   std::int64_t arriving, const Arrivals& arrivals) {
    const Buffer& buffer = world.buffer[cell.id];
    if (!Policies::kQuietWindows || buffer.held_classes != 0 || world.in_order) {
        return false;
    }
    const std::int64_t left = buffer.shared_size - buffer.shared_used - arriving;
    if (left < 0) {
        return false;
    }
    const PortId first = world.first_port[cell.node];
    for (std::uint32_t k = 0; k < mine.count; ++k) {
        const std::uint32_t p = mine[k];
        if (world.pfc && arrivals.bytes(p) != 0) {
            const Ingress& ingress = world.ingress[first + p];
            const std::int64_t above =
                static_cast<std::int64_t>(ingress.total_bytes) + arrivals.bytes(p) - buffer.reserve;
            if (!ingress_is_free<Policies>(world, ingress, above, left)) {
                return false;
            }
        }
        if (!world.pfc && arrivals.may_leave_by(p) &&
            !egress_is_free<Policies>(world, world.egress[first + p].queued_bytes + arriving,
                                      left)) {
            return false;
        }
    }
    return true;
}

/// Works off one egress port of a quiet window.
template <class Policies, class Counting = OneCounts>
SLUICE_HD inline void run_port(World& world, const Cell& cell, PortId port,
                               const std::uint64_t* keys, std::uint32_t count, Tick begin,
                               Tick end) {
    const PortId first = world.first_port[cell.node];
    Egress& egress = world.egress[port];
    Tick decision = world.link[port].decision;
    for (std::uint32_t k = 0; k < count; ++k) {
        const Tick now = key_time(keys[k], begin);
        while (decision < now) {
            decision = switch_transmit<Policies, false, Counting>(world, cell, port, decision);
        }
        const PortId in = first + key_port(keys[k]);
        Wire& link = world.link[in];
        const Packet& packet = link.at(link.head + key_position(keys[k]));
        if (packet.packet_kind() >= PacketKind::pause) {
            receive_pfc(world, port, packet, now);
            decision = world.link[port].decision;
            continue;
        }
        const std::uint32_t queue = switch_queue(world, packet);
        if (egress.nonempty == 0 && egress.free_at <= now && (egress.paused >> queue & 1U) == 0 &&
            (k + 1 == count || keys[k + 1] >> 32 != keys[k] >> 32)) {
            // An empty queue is passed by: the decision falls at this very instant.
            if (queue != 0) {
                egress.last_class = static_cast<std::uint8_t>(queue);
                egress.deficit[queue] = 0;
            }
            if (packet.bytes > egress.max_queued_bytes) {
                egress.max_queued_bytes = packet.bytes;
            }
            switch_emit<Policies>(world, port, egress, packet, queue, now);
            ++counts_of(world).events;
            continue;
        }
        if (queue != 0) {
            Counting::charge(world.buffer[cell.id], world.ingress[in], queue, packet.bytes,
                             world.pfc);
        }
        enqueue(world, egress, packet, queue);
        if (decision == kNever) {
            decision = next_decision(egress, now);
        }
    }
    while (decision < end) {
        decision = switch_transmit<Policies, false, Counting>(world, cell, port, decision);
    }
    world.link[port].decision = decision;
}

/// Works off a window in full (time, port, sequence) order. `keys`: of its arrivals, in ascending order.
template <class Policies, class Ports>
SLUICE_HD inline void run_interleaved(World& world, const std::uint64_t* keys, std::uint32_t total,
                                      const Cell& cell, const Ports& mine, Tick begin, Tick end) {
    const NodeId node = cell.node;
    const PortId first = world.first_port[node];
    std::uint32_t next = 0;
    for (;;) {
        const Tick arrival = next < total ? key_time(keys[next], begin) : kNever;
        PortId port = first + mine[0];
        for (std::uint32_t k = 1; k < mine.count; ++k) {
            port = world.link[first + mine[k]].decision < world.link[port].decision
                       ? first + mine[k]
                       : port;
        }
        const Tick departure = world.link[port].decision;
        if (arrival <= departure && arrival != kNever) {
            const PortId in = first + key_port(keys[next]);
            Wire& link = world.link[in];
            const Packet& packet = link.at(link.head + key_position(keys[next]));
            const PortId out =
                packet.packet_kind() >= PacketKind::pause ? in : egress_of(world, node, packet);
            if (out == kNone) {
                lose(world, world.egress[in], &Egress::drops_no_way);
            } else {
                switch_arrive<Policies>(world, cell, in, out, packet, arrival);
            }
            ++next;
        } else if (departure < end) {
            world.link[port].decision =
                switch_transmit<Policies, true>(world, cell, port, departure);
        } else {
            return;
        }
    }
}

/// All arrivals of a window in ascending order, in scratch.sorted. Returns how many.
inline std::uint32_t sort_arrivals(World& world, SwitchScratch& scratch, const SomePorts& mine) {
    std::uint32_t total = 0;
    for (std::uint32_t k = 0; k < mine.count; ++k) {
        total += scratch.count[mine[k]];
    }
    scratch.sorted.reserve(world.memory, total);
    scratch.merge.reserve(world.memory, total);
    total = 0;
    for (std::uint32_t i = 0; i < mine.count; ++i) {
        const std::uint32_t p = mine[i];
        for (std::uint32_t k = 0; k < scratch.count[p]; ++k) {
            scratch.sorted[total++] = scratch.keys[p * scratch.stride + k];
        }
    }
    sort_runs(scratch.sorted.data, total, scratch.merge.data);
    return total;
}

/// Lists arrivals in scratch by egress port, and marks that port as due.
struct ScratchList {
    SwitchScratch& scratch;
    std::uint32_t ports;
    SLUICE_HD void add(World& world, std::uint32_t out, std::uint64_t key) {
        scratch.due[out >> 6] |= std::uint64_t{1} << (out & 63);
        list_arrival(world, scratch, ports, out, key);
    }
};

/// Marks in scratch.due the ports at which packets arrive in the window or leave. Returns when the others have
/// something to do.
template <class Ports>
inline Tick mark_due(const World& world, SwitchScratch& scratch, PortId first, const Ports& mine,
                     Tick end) {
    for (std::uint32_t word = 0; word <= mine[mine.count - 1] >> 6; ++word) {
        scratch.due[word] = 0;
    }
    Tick wake = kNever;
    for (std::uint32_t k = 0; k < mine.count; ++k) {
        const Wire& link = world.link[first + mine[k]];
        const Tick at = link.arrival < link.decision ? link.arrival : link.decision;
        if (at < end) {
            scratch.due[mine[k] >> 6] |= std::uint64_t{1} << (mine[k] & 63);
        } else {
            wake = at < wake ? at : wake;
        }
    }
    return wake;
}

/// The marked ports of a cell whose last one is `last`, ascending; good until the next call.
inline SomePorts list_due(SwitchScratch& scratch, std::uint32_t last) {
    std::uint32_t count = 0;
    for (std::uint32_t word = 0; word <= last >> 6; ++word) {
        for (std::uint64_t bits = scratch.due[word]; bits != 0; bits &= bits - 1) {
            scratch.ports[count++] = static_cast<std::uint16_t>(word * 64 + first_bit(bits));
        }
    }
    return SomePorts{count, static_cast<const std::uint16_t*>(scratch.ports.data)};
}

/// Lists all that arrives by `due` in the window. Returns its bytes.
template <class Ports>
inline std::int64_t collect_arrivals(World& world, SwitchScratch& scratch, const Cell& cell,
                                     const Ports& mine, const SomePorts& due, Tick begin,
                                     Tick end) {
    const PortId first = world.first_port[cell.node];
    ScratchList list{scratch, world.first_port[cell.node + 1] - first};
    std::int64_t total = 0;
    prefetch_arrivals(world, first, due, end);
    for (std::uint32_t k = 0; k < due.count; ++k) {
        const std::uint32_t i = due[k];
        if (world.link[first + i].arrival < end) {
            const PortArrivals arrivals =
                route_arrivals<OneCounts>(world, cell, mine, i, begin, end, list);
            scratch.bytes[i] = arrivals.bytes;
            scratch.head[i] = arrivals.head;
            total += arrivals.bytes;
        }
    }
    return total;
}

/// The due ports of a quiet window, whose arrivals are listed.
template <class Policies>
inline void run_due(World& world, SwitchScratch& scratch, const Cell& cell, const SomePorts& due,
                    Tick begin, Tick end) {
    const PortId first = world.first_port[cell.node];
    for (std::uint32_t i = 0; i < due.count; ++i) {
        const std::uint32_t p = due[i];
        const std::uint32_t count = scratch.count[p];
        if (count == 0 && world.link[first + p].decision >= end) {
            continue;
        }
        std::uint64_t* keys = scratch.keys.data + std::size_t{p} * scratch.stride;
        if (count > 1) {
            scratch.merge.reserve(world.memory, count);
            sort_runs(keys, count, scratch.merge.data);
        }
        run_port<Policies>(world, cell, first + p, keys, count, begin, end);
    }
}

/// What has arrived by the due ports is gone from their links, and counted no more.
inline void leave_links(World& world, SwitchScratch& scratch, PortId first, const SomePorts& due,
                        Tick end) {
    for (std::uint32_t i = 0; i < due.count; ++i) {
        const std::uint32_t p = due[i];
        Wire& link = world.link[first + p];
        if (link.arrival < end) {
            link.head = scratch.head[p];
            link.arrival = next_arrival(link);
        }
        scratch.count[p] = 0;
        scratch.bytes[p] = 0;
    }
}

/// When one of these ports has something to do.
template <class Ports>
inline Tick next_instant(const World& world, PortId first, const Ports& ports) {
    Tick wake = kNever;
    for (std::uint32_t k = 0; k < ports.count; ++k) {
        const Wire& link = world.link[first + ports[k]];
        wake = link.arrival < wake ? link.arrival : wake;
        wake = link.decision < wake ? link.decision : wake;
    }
    return wake;
}

template <class Policies, class Ports>
inline void step_ports(World& world, SwitchScratch& scratch, const Cell& cell, const Ports& mine,
                       Tick begin, Tick end) {
    if (mine.count == 0) {
        world.wake[cell.id] = kNever;
        return;
    }
    // Most ports of a folded network have nothing to do.
    const PortId first = world.first_port[cell.node];
    const std::uint32_t last = mine[mine.count - 1];  // they ascend
    const Tick others = mark_due(world, scratch, first, mine, end);
    const std::int64_t arriving =
        collect_arrivals(world, scratch, cell, mine, list_due(scratch, last), begin, end);
    const SomePorts due =
        list_due(scratch, last);  // again: arrivals have marked those they leave by
    if (quiet_window<Policies>(world, cell, due, arriving, ScratchArrivals{scratch})) {
        run_due<Policies>(world, scratch, cell, due, begin, end);
        leave_links(world, scratch, first, due, end);
        const Tick own = next_instant(world, first, due);
        world.wake[cell.id] = own < others ? own : others;
    } else {
        // A resume leaves by the port by which the packet came that makes room, maybe in an earlier window: any port
        // may have something to do from now on.
        const std::uint32_t total = sort_arrivals(world, scratch, due);
        run_interleaved<Policies>(world, scratch.sorted.data, total, cell, mine, begin, end);
        leave_links(world, scratch, first, due, end);
        world.wake[cell.id] = next_instant(world, first, mine);
    }
}

/// The step. Sets the cell's wake to its next instant.
template <class Policies = ScenarioPolicies>
void switch_step(World& world, SwitchScratch& scratch, const Cell& cell, Tick begin, Tick end) {
    const std::uint32_t ports = world.first_port[cell.node + 1] - world.first_port[cell.node];
    prepare_scratch(world, scratch, ports);
    if (cell.ports == nullptr) {
        step_ports<Policies>(world, scratch, cell, AllPorts{ports}, begin, end);
    } else {
        step_ports<Policies>(world, scratch, cell, SomePorts{cell.port_count, cell.ports}, begin,
                             end);
    }
}

// A host calls the one of switch.cpp.
#if !defined(__CUDACC__)
extern template void switch_step<ScenarioPolicies>(World&, SwitchScratch&, const Cell&, Tick, Tick);
#endif

}  // namespace sluice::step
