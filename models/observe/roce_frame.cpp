// SPDX-License-Identifier: Apache-2.0
#include "models/observe/roce_frame.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/observe/big_endian.h"

namespace sluice {
namespace {

constexpr std::size_t kEthernet = 14;
constexpr std::size_t kIp = 20;
constexpr std::size_t kUdp = 8;
constexpr std::size_t kShortest = 60;  // without FCS
constexpr std::uint16_t kRoceUdpPort = 4791;

// Opcodes of a reliable connection.
constexpr std::uint8_t kWriteFirst = 0x06;
constexpr std::uint8_t kWriteMiddle = 0x07;
constexpr std::uint8_t kWriteLast = 0x08;
constexpr std::uint8_t kWriteOnly = 0x0a;
constexpr std::uint8_t kAcknowledge = 0x11;
// Syndromes of an ACK without flow control, and of a NACK for a gap.
constexpr std::uint8_t kAckSyndrome = 0x1f;
constexpr std::uint8_t kSequenceError = 0x60;

void put_mac(std::string& frame, NodeId node) {
    put_big_endian(frame, 0x020000, 3);
    put_big_endian(frame, node, 3);
}

std::uint16_t internet_checksum(const std::string& frame, std::size_t from, std::size_t bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = from; i < from + bytes; i += 2) {
        sum += static_cast<std::uint32_t>(static_cast<unsigned char>(frame[i]) << 8 |
                                          static_cast<unsigned char>(frame[i + 1]));
    }
    while (sum >> 16 != 0) {
        sum = (sum & 0xffffU) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

std::array<std::uint32_t, 256> crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) {
            rest = (rest & 1U) != 0 ? rest >> 1 ^ 0xedb88320U : rest >> 1;
        }
        table[byte] = rest;
    }
    return table;
}

/// The invariant CRC of what follows the Ethernet header: what switches change counts as ones.
std::uint32_t invariant_crc(const std::string& frame) {
    static const std::array<std::uint32_t, 256> kTable = crc_table();
    std::string bytes(8, '\xff');  // in place of a local route header
    bytes.append(frame, kEthernet, std::string::npos);
    const std::size_t ip = 8;
    const std::size_t bth = ip + kIp + kUdp;
    for (const std::size_t masked :
         {ip + 1, ip + 8, ip + 10, ip + 11, ip + kIp + 6, ip + kIp + 7, bth + 4}) {
        bytes[masked] = '\xff';
    }
    std::uint32_t crc = 0xffffffffU;
    for (const char byte : bytes) {
        crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xffU] ^ crc >> 8;
    }
    return ~crc;
}

/// What comes behind the base transport header.
struct Payload {
    std::uint8_t opcode = 0;
    std::uint32_t psn = 0;
    std::string extended;  ///< RETH or AETH
    std::size_t payload = 0;
};

Payload data_transport(const step::World& world, const step::Packet& packet, std::uint64_t pair) {
    const FlowSpec& spec = world.spec[packet.flow];
    const std::int64_t packets = (spec.size + world.payload - 1) / world.payload;
    const bool first = packet.sequence == 0;
    const bool last = packet.sequence + std::int64_t{1} == packets;
    Payload transport;
    transport.psn = packet.sequence;
    transport.payload =
        static_cast<std::size_t>(std::max<std::int64_t>(packet.bytes - world.data_overhead, 0));
    transport.opcode = first && last ? kWriteOnly
                       : first       ? kWriteFirst
                       : last        ? kWriteLast
                                     : kWriteMiddle;
    if (first) {
        put_big_endian(transport.extended, 0, 8);     // virtual address
        put_big_endian(transport.extended, pair, 4);  // remote key
        put_big_endian(transport.extended, static_cast<std::uint64_t>(spec.size), 4);
    }
    return transport;
}

Payload answer_transport(const step::Packet& packet) {
    const bool gap = packet.packet_kind() == step::PacketKind::nack;
    Payload transport;
    transport.opcode = kAcknowledge;
    transport.psn = gap ? packet.sequence : packet.sequence - 1;
    put_big_endian(transport.extended, gap ? kSequenceError : kAckSyndrome, 1);
    put_big_endian(transport.extended, packet.sequence, 3);
    return transport;
}

std::string pfc_frame(NodeId from, const step::Packet& packet) {
    std::string frame("\x01\x80\xc2\x00\x00\x01", 6);
    put_mac(frame, from);
    put_big_endian(frame, 0x8808, 2);
    put_big_endian(frame, 0x0101, 2);
    put_big_endian(frame, 1U << packet.sequence, 2);
    for (std::uint32_t priority = 0; priority < step::kClasses; ++priority) {
        const bool stops =
            priority == packet.sequence && packet.packet_kind() == step::PacketKind::pause;
        put_big_endian(frame, stops ? 0xffff : 0, 2);
    }
    frame.resize(kShortest);
    return frame;
}

void put_ip_and_udp(std::string& frame, const FlowSpec& spec, const step::Packet& packet,
                    std::size_t behind_udp) {
    const bool data = packet.packet_kind() == step::PacketKind::data;
    const std::uint32_t ecn = packet.ce != 0 ? 3 : 2;
    put_big_endian(frame, 0x45, 1);
    put_big_endian(frame, std::uint32_t{packet.traffic_class} << 5 | ecn, 1);
    put_big_endian(frame, kIp + kUdp + behind_udp, 2);
    put_big_endian(frame, 0x00004000, 4);  // no identification, not to be fragmented
    put_big_endian(frame, 65U - packet.hop, 1);
    put_big_endian(frame, 17, 1);
    put_big_endian(frame, 0, 2);
    put_big_endian(frame, 0x0a000001U + (data ? spec.src : spec.dst), 4);
    put_big_endian(frame, 0x0a000001U + (data ? spec.dst : spec.src), 4);
    const std::uint16_t sum = internet_checksum(frame, kEthernet, kIp);
    frame[kEthernet + 10] = static_cast<char>(sum >> 8);
    frame[kEthernet + 11] = static_cast<char>(sum & 0xff);
    put_big_endian(frame, data ? spec.sport : spec.dport, 2);
    put_big_endian(frame, kRoceUdpPort, 2);
    put_big_endian(frame, kUdp + behind_udp, 2);
    put_big_endian(frame, 0, 2);  // no checksum
}

}  // namespace

std::string roce_frame(const step::World& world, const Topology& topology, PortId port,
                       const step::Packet& packet) {
    const NodeId from = topology.node_of(port);
    if (packet.packet_kind() >= step::PacketKind::pause) {
        return pfc_frame(from, packet);
    }
    const FlowSpec& spec = world.spec[packet.flow];
    const std::uint64_t pair = 2 + world.id[packet.flow] % 0xfffffe;
    const bool data = packet.packet_kind() == step::PacketKind::data;
    const Payload transport = data ? data_transport(world, packet, pair) : answer_transport(packet);
    const std::size_t pad = (4 - transport.payload % 4) % 4;
    const std::size_t behind_udp = 12 + transport.extended.size() + transport.payload + pad + 4;
    std::string frame;
    put_mac(frame, topology.neighbor(port));
    put_mac(frame, from);
    put_big_endian(frame, 0x0800, 2);
    put_ip_and_udp(frame, spec, packet, behind_udp);
    put_big_endian(frame, transport.opcode, 1);
    put_big_endian(frame, 0x40U | pad << 4, 1);
    put_big_endian(frame, 0xffff, 2);  // partition key
    put_big_endian(frame, !data && packet.echo != 0 ? 0x40 : 0,
                   1);  // backward congestion notification
    put_big_endian(frame, pair, 3);
    put_big_endian(frame, data && packet.echo != 0 ? 0x80 : 0, 1);  // an ACK is asked for
    put_big_endian(frame, transport.psn, 3);
    frame += transport.extended;
    frame.append(transport.payload + pad, '\0');
    const std::uint32_t crc = invariant_crc(frame);
    for (int i = 0; i < 4; ++i) {
        frame.push_back(static_cast<char>(crc >> (8 * i) & 0xffU));
    }
    return frame;
}

}  // namespace sluice
