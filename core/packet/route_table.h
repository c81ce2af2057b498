// SPDX-License-Identifier: Apache-2.0
/// Which of its next hops a packet takes; and next hops as flat arrays, for who has no Routing at hand (a device).
/// What the ways to choose are for: docs/models/spraying.md.
#pragma once

#include <cstdint>

#include "core/flow/ecmp_hash.h"
#include "core/memory_space.h"
#include "core/packet/egress.h"
#include "core/packet/state.h"
#include "core/random.h"

namespace sluice::step {

/// What the ECMP hash sees of a packet: an ACK is of the flow turned round.
SLUICE_HD inline FlowKey key_of(const World& world, const Packet& packet) {
    const FlowSpec& spec = world.spec[packet.flow];
    return packet.packet_kind() == PacketKind::data ? data_key(spec) : ack_key(spec);
}

/// Which of `ways` next hops of `node` a packet takes if those of its flow take them in turn. Packets that come to the
/// second of several switches with as many ways each are every `ways`-th of the flow: there the place in the turn is by
/// rounds of the first one. An ACK has the place of the packet that it answers.
SLUICE_HD inline std::uint32_t way_in_turn(const World& world, NodeId node, const Packet& packet,
                                           std::uint32_t ways) {
    std::uint32_t turn = packet.sequence;
    if (packet.packet_kind() == PacketKind::ack && world.scoreboard != nullptr) {
        turn += distance_in(packet.stamp);
    }
    for (std::uint32_t hop = 1; hop < packet.hop; ++hop) {
        turn /= ways;
    }
    const std::uint64_t first =
        mix_bits(world.config->seed ^ world.id[packet.flow] << 20 ^ node) & 0xffffffff;
    return static_cast<std::uint32_t>((first + turn) % ways);
}

/// One of `ways` next hops of `node` by seed, flow and packet.
SLUICE_HD inline std::uint32_t drawn_way(const World& world, NodeId node, const Packet& packet,
                                         std::uint32_t ways) {
    constexpr std::uint64_t kSprayDraws = 0x7370726179;
    const std::uint64_t stream = random_stream(kSprayDraws, world.id[packet.flow]);
    const std::uint64_t data = packet.packet_kind() == PacketKind::data ? 1 : 0;
    const std::uint64_t draw = (static_cast<std::uint64_t>(node) << 32 |
                                static_cast<std::uint64_t>(packet.transmission) << 1 | data) ^
                               static_cast<std::uint64_t>(packet.sequence) << 48;
    return uniform_below(world.config->seed, stream, draw, ways);
}

/// How much a packet of a switch's queue `queue` finds in its way at `port`: ports that are paused come last.
SLUICE_HD inline std::uint64_t load_of(const World& world, PortId port, std::uint32_t queue) {
    const Egress& egress = world.egress[port];
    const std::uint64_t paused = egress.paused >> queue & 1U;
    return paused << 32 | egress.queued_bytes / world.config->spray.band;
}

/// The least loaded of `ports[0..count-1]`, by bands of what waits there; one of those that are equal by a draw.
SLUICE_HD inline PortId least_loaded(const World& world, NodeId node, const Packet& packet,
                                     Global<const PortId> ports, std::uint32_t count) {
    const std::uint32_t queue = switch_queue(world, packet);
    std::uint64_t least = load_of(world, ports[0], queue);
    std::uint32_t equal = 1;
    for (std::uint32_t i = 1; i < count; ++i) {
        const std::uint64_t load = load_of(world, ports[i], queue);
        equal = load < least ? 1 : load == least ? equal + 1 : equal;
        least = load < least ? load : least;
    }
    std::uint32_t left = drawn_way(world, node, packet, equal);
    std::uint32_t i = 0;
    while (load_of(world, ports[i], queue) != least || left-- != 0) {
        ++i;
    }
    return ports[i];
}

/// Entries of a switch's flowlet table.
inline constexpr std::uint32_t kFlowlets = 4096;

/// The port of the flowlet of a packet that has just come by its link, which it may begin.
SLUICE_HD inline PortId flowlet_port(const World& world, NodeId node, const Packet& packet,
                                     Global<const PortId> ports, std::uint32_t count) {
    const std::uint64_t owner =
        world.id[packet.flow] << 1 | (packet.packet_kind() == PacketKind::data ? 0U : 1U);
    Flowlet& flowlet =
        world.flowlets[std::size_t{world.switch_number[node]} * kFlowlets +
                       (mix_bits(owner ^ world.config->seed << 32) & (kFlowlets - 1))];
    const Tick now = packet.time + world.link[world.first_port[node] + packet.ingress].base;
    bool leads = false;
    for (std::uint32_t i = 0; i < count; ++i) {
        leads = leads || ports[i] == flowlet.port;
    }
    if (!leads || flowlet.owner != owner || now - flowlet.last > world.config->spray.flowlet_gap) {
        flowlet.owner = owner;
        flowlet.port = least_loaded(world, node, packet, ports, count);
    }
    flowlet.last = now;
    return flowlet.port;
}

/// Which of `ports[0..count-1]`, next hops of `node`, a packet of a sprayed flow takes. Where the choice goes by what is at
/// the switch (Columns::in_order), this is called once, when the packet arrives.
SLUICE_HD inline PortId sprayed_port(const World& world, NodeId node, const Packet& packet,
                                     const PortId* ports, std::uint32_t count) {
    switch (world.config->load_balance) {
        case LoadBalance::round_robin: return ports[way_in_turn(world, node, packet, count)];
        case LoadBalance::adaptive: return least_loaded(world, node, packet, ports, count);
        case LoadBalance::flowlet: return flowlet_port(world, node, packet, ports, count);
        case LoadBalance::entropy:
            if (packet.packet_kind() == PacketKind::data) {
                const std::uint64_t hash = ecmp_hash(key_of(world, packet), node);
                const std::uint64_t salt = mix_bits(world.config->seed);
                return ports[mix_bits(salt ^ (hash << kEntropyBits | entropy_in(packet.stamp))) %
                             count];
            }
            break;
        case LoadBalance::ecmp:
        case LoadBalance::spray: break;
    }
    return ports[drawn_way(world, node, packet, count)];
}

/// What Routing answers for the flows of a world, as long as no link changes. Lists of ports are in `ports`: how many
/// there are, then the ports. Hosts that hang on the same switches share a row.
struct RouteTable {
    /// In `next`: a switch on which the destination may hang.
    static constexpr std::uint32_t kNear = kNone;

    struct HostWay {
        PortId data =
            kNone;  ///< by which a flow's source sends, kNone: its destination is out of reach
        PortId acks = kNone;  ///< by which its destination answers
    };

    std::uint32_t columns = 0;
    Global<const std::uint32_t> column =
        nullptr;  ///< by node: a switch's place in a row, a host's kNone
    Global<const std::uint32_t> row = nullptr;  ///< by node: a destination's
    const std::uint32_t* next =
        nullptr;  ///< by row and column: place of the list of next hops, or kNear
    const std::uint32_t* far =
        nullptr;  ///< by node: a destination's, of ports that lead to it, ascending
    Global<const PortId> ports = nullptr;
    Global<const HostWay> way = nullptr;  ///< by slot
};

/// The ports among `ports[0]` ascending ones that are `node`'s, `count` of them.
SLUICE_HD inline const PortId* ports_of(const World& world, NodeId node, const PortId* ports,
                                        std::uint32_t& count) {
    const PortId* first = ports + 1;
    const PortId* last = first + *ports;
    while (first != last && *first < world.first_port[node]) {
        ++first;
    }
    const PortId* const begin = first;
    while (first != last && *first < world.first_port[node + 1]) {
        ++first;
    }
    count = static_cast<std::uint32_t>(first - begin);
    return begin;
}

/// Egress port of a packet at `node` by Columns::table; kNone if its destination is out of reach.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline PortId route_by_table(const World& world, NodeId node,
                                                              const Packet& packet) {
    is_in_shared_memory(world);
    const RouteTable& table = *world.table;
    if (table.column[node] == kNone) {
        const RouteTable::HostWay& way = table.way[packet.flow];
        return packet.packet_kind() == PacketKind::data ? way.data : way.acks;
    }
    const FlowKey key = key_of(world, packet);
    const std::uint32_t list =
        table.next[std::size_t{table.row[key.dst]} * table.columns + table.column[node]];
    Global<const PortId> ports = nullptr;
    std::uint32_t count = 0;
    if (list == RouteTable::kNear) {
        ports = ports_of(world, node, table.ports + table.far[key.dst], count);
    } else {
        count = table.ports[list];
        ports = table.ports + list + 1;
    }
    if (count <= 1) {
        return count == 0 ? kNone : *ports;
    }
    return is_sprayed(world, packet.flow) ? sprayed_port(world, node, packet, ports, count)
                                          : ports[ecmp_hash(key, node) % count];
}

}  // namespace sluice::step
