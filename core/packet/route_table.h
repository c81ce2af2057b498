// SPDX-License-Identifier: Apache-2.0
/// Which of its next hops a packet takes; and next hops as flat arrays, for who has no Routing at hand (a device).
#pragma once

#include <cstdint>

#include "core/flow/ecmp_hash.h"
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

/// Which of `ways` next hops of `node` a packet of a sprayed flow takes: in turn, or by seed, flow and packet.
SLUICE_HD inline std::uint32_t sprayed_way(const World& world, NodeId node, const Packet& packet,
                                           std::uint32_t ways) {
    if (world.spray_in_turn) {
        return way_in_turn(world, node, packet, ways);
    }
    constexpr std::uint64_t kSprayDraws = 0x7370726179;
    const std::uint64_t stream = random_stream(kSprayDraws, world.id[packet.flow]);
    const std::uint64_t data = packet.packet_kind() == PacketKind::data ? 1 : 0;
    const std::uint64_t draw = (static_cast<std::uint64_t>(node) << 32 |
                                static_cast<std::uint64_t>(packet.transmission) << 1 | data) ^
                               static_cast<std::uint64_t>(packet.sequence) << 48;
    return uniform_below(world.config->seed, stream, draw, ways);
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
    const std::uint32_t* column = nullptr;  ///< by node: a switch's place in a row, a host's kNone
    const std::uint32_t* row = nullptr;     ///< by node: a destination's
    const std::uint32_t* next =
        nullptr;  ///< by row and column: place of the list of next hops, or kNear
    const std::uint32_t* far =
        nullptr;  ///< by node: a destination's, of ports that lead to it, ascending
    const PortId* ports = nullptr;
    const HostWay* way = nullptr;  ///< by slot
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
    const RouteTable& table = *world.table;
    if (table.column[node] == kNone) {
        const RouteTable::HostWay& way = table.way[packet.flow];
        return packet.packet_kind() == PacketKind::data ? way.data : way.acks;
    }
    const FlowKey key = key_of(world, packet);
    const std::uint32_t list =
        table.next[std::size_t{table.row[key.dst]} * table.columns + table.column[node]];
    const PortId* ports = nullptr;
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
    return ports[is_sprayed(world, packet.flow) ? sprayed_way(world, node, packet, count)
                                                : ecmp_hash(key, node) % count];
}

}  // namespace sluice::step
