// SPDX-License-Identifier: Apache-2.0
/// What arrives at a switch in a window: read from its links, routed, and listed by egress port under
/// keys that sort by time (core/packet/order.h).
#pragma once

#include <cstdlib>

#include "core/memory_space.h"
#include "core/packet/egress.h"
#include "core/packet/order.h"
#include "core/packet/route_table.h"

namespace sluice::step {

/// Working memory of whoever steps switches; reused from switch to switch.
struct SwitchScratch {
    PlainVector<std::uint64_t> keys;  ///< per egress port: `stride` keys
    // Of every port 0 between steps; list_arrival() reads those of ports outside the cell, too.
    PlainVector<std::uint32_t> count;   ///< keys per egress port
    PlainVector<std::uint32_t> bytes;   ///< arrived per ingress port
    PlainVector<std::uint32_t> head;    ///< new head per ingress link
    PlainVector<std::uint64_t> merge;   ///< for sorting
    PlainVector<std::uint64_t> sorted;  ///< all arrivals, in windows that are not quiet
    PlainVector<std::uint64_t> due;     ///< ports with something in the window: a bit of each
    PlainVector<std::uint16_t> ports;   ///< the same, listed
    std::uint32_t stride = 0;
};

/// Frees what a scratch has taken; host only, like all freeing.
inline void free_scratch(SwitchScratch& scratch) {
    for (PlainVector<std::uint64_t>* keys :
         {&scratch.keys, &scratch.merge, &scratch.sorted, &scratch.due}) {
        std::free(keys->data);
    }
    std::free(scratch.ports.data);
    for (PlainVector<std::uint32_t>* counts : {&scratch.count, &scratch.bytes, &scratch.head}) {
        std::free(counts->data);
    }
    scratch = SwitchScratch{};
}

/// Egress port of a packet at `node`: its flow's path entry, or, where that is none (a sprayed flow has a choice, a link
/// is down, it is far from its source), the routing table's. `now`: false before the instant of its arrival, when a choice
/// that goes by what is there then (Columns::in_order) is not made yet; the port by which it came stands for it.
SLUICE_HD inline PortId egress_of(const World& world, NodeId node, const Packet& packet,
                                  bool now = true) {
    const PortId first = world.first_port[node];
    const std::uint32_t ports = world.first_port[node + 1] - first;
    if (packet.hop < kPathHops) {
        const std::uint32_t back = packet.packet_kind() == PacketKind::data ? 0 : kPathHops;
        const PortId port = world.route[packet.flow].port[packet.hop + back];
        if (port - first < ports && (!world.any_link_down || world.egress[port].up)) {
            return port;
        }
    }
    if (world.in_order && !now) {
        return first + packet.ingress;
    }
    if (world.table != nullptr) {
        return route_by_table(world, node, packet);
    }
#if defined(__CUDA_ARCH__)
    return kNone;
#else
    return world.callbacks.route == nullptr
               ? kNone
               : world.callbacks.route(world.callbacks.context, node, packet);
#endif
}

/// Appends a key to an egress port's list.
SLUICE_HD inline void list_arrival(World& world, SwitchScratch& scratch, std::uint32_t ports,
                                   std::uint32_t out, std::uint64_t key) {
    if (scratch.count[out] == scratch.stride) {
        const std::uint32_t wider = scratch.stride * 2;
        if (!scratch.keys.reserve(world.memory, ports * wider)) {
            return;
        }
        scratch.keys.count = scratch.keys.capacity;
        for (std::uint32_t p = ports; p-- > 0;) {  // back to front: the blocks move up
            for (std::uint32_t k = scratch.count[p]; k-- > 0;) {
                scratch.keys[p * wider + k] = scratch.keys[p * scratch.stride + k];
            }
        }
        scratch.stride = wider;
    }
    scratch.keys[out * scratch.stride + scratch.count[out]++] = key;
}

/// Makes room in scratch for a switch of `ports` ports. Between windows nothing is counted in it.
SLUICE_HD inline void prepare_scratch(World& world, SwitchScratch& scratch, std::uint32_t ports) {
    if (scratch.stride == 0) {
        scratch.stride = 64;
    }
    if (scratch.keys.capacity < ports * scratch.stride) {
        scratch.keys.count = scratch.keys.capacity;
        scratch.keys.reserve(world.memory, ports * scratch.stride);
    }
    scratch.keys.count = scratch.keys.capacity;
    scratch.head.reserve(world.memory, ports);
    scratch.due.reserve(world.memory, (ports + 63) / 64);
    scratch.ports.reserve(world.memory, ports);
    for (PlainVector<std::uint32_t>* counted : {&scratch.count, &scratch.bytes}) {
        if (counted->capacity < ports) {
            counted->reserve(world.memory, ports);
            for (std::uint32_t p = 0; p < counted->capacity; ++p) {
                (*counted)[p] = 0;
            }
        }
    }
}

/// True if the cable's error process takes this packet.
SLUICE_HD inline bool lost_on_link(const World& world, PortId port, Ingress& ingress) {
    return ingress.loss > 0 && uniform(world.config->seed, random_stream(kLossDraws, port),
                                       ingress.loss_draws++) < ingress.loss;
}

/// Fetches the INT slot that this packet will be stamped in when it leaves the switch (ACKs too:
/// telling them apart costs more than the fetch).
SLUICE_HD inline void prefetch_int(const World& world, const Packet& packet) {
    if (world.int_block != 0) {
        const FlowRoute& route = world.route[packet.flow];
        if (!route.ints.empty()) {
            SLUICE_PREFETCH(int_slot(world, route, packet.transmission));
        }
    }
}

/// The local indices of a cell's ports: all of the node's, or some.
struct AllPorts {
    std::uint32_t count = 0;
    SLUICE_HD std::uint32_t operator[](std::uint32_t k) const { return k; }
};
struct SomePorts {
    std::uint32_t count = 0;
    Global<const std::uint16_t> ports = nullptr;
    SLUICE_HD std::uint32_t operator[](std::uint32_t k) const { return ports[k]; }
};

SLUICE_HD inline bool is_member(const World&, const Cell&, const AllPorts&, PortId) { return true; }
SLUICE_HD inline bool is_member(const World& world, const Cell& cell, const SomePorts&,
                                PortId port) {
    return cell_of(world, port) == cell.id;
}

/// Asks for the first packet of each link of a cell that has something in the window.
template <class Ports>
SLUICE_HD inline void prefetch_arrivals(const World& world, PortId first, const Ports& mine,
                                        Tick end) {
    for (std::uint32_t k = 0; k < mine.count; ++k) {
        if (world.link[first + mine[k]].arrival < end) {
            SLUICE_PREFETCH(&world.link[first + mine[k]].front());
        }
    }
}

/// What came by one port in a window.
struct PortArrivals {
    std::uint32_t bytes = 0;  ///< PFC frames aside, which are never buffered
    std::uint32_t head = 0;   ///< of the link, when they are gone
};

/// Reads what arrives at a cell by its port `i` in the window, routes it, and gives `list` the local egress
/// port and the key of each packet that is not lost.
template <class Counting, class Ports, class List>
SLUICE_HD inline PortArrivals route_arrivals(World& world, const Cell& cell, const Ports& mine,
                                             std::uint32_t i, Tick begin, Tick end, List& list) {
    const NodeId node = cell.node;
    const PortId first = world.first_port[node];
    Wire& link = world.link[first + i];
    const Tick local_begin = begin - link.base;
    const Tick local_end = end - link.base;
    Ingress& ingress = world.ingress[first + i];
    PortArrivals arrivals;
    std::uint32_t position = link.head;
    for (; position != link.tail; ++position) {
        Packet& packet = link.at(position);
        if (packet.time >= local_end) {
            break;
        }
        SLUICE_PREFETCH(&link.at(position + 6));
        packet.ingress = static_cast<std::uint16_t>(i);
        PortId out = first + i;
        if (packet.packet_kind() < PacketKind::pause) {
            out = egress_of(world, node, packet, false);
            const bool lost = lost_on_link(world, first + i, ingress);
            if (lost || out == kNone) {
                ++counts_of(world).drops;
                Counting::add_drop(world.egress[out == kNone ? first + i : out],
                                   lost ? &Egress::drops_cable : &Egress::drops_no_way);
                continue;
            }
            if (!is_member(world, cell, mine, out)) {
                world.misrouted = true;
                continue;
            }
            arrivals.bytes += packet.bytes;
            prefetch_int(world, packet);
        }
        list.add(world, out - first,
                 arrival_key(packet.time - local_begin, i, position - link.head));
    }
    counts_of(world).events += position - link.head;
    arrivals.head = position;
    return arrivals;
}

}  // namespace sluice::step
