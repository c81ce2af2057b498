// SPDX-License-Identifier: Apache-2.0
/// A packet as it moves through links and queues: 32 bytes, by value, no pointers.
#pragma once

#include <cstdint>

#include "core/units.h"

namespace sluice::step {

enum class PacketKind : std::uint8_t { data, ack, nack, pause, resume };

inline constexpr int kClasses = 8;  ///< traffic classes (queues) of a port; 0 is strict

/// Who writes what: the sender's NIC everything but `time`, `ingress`, `hop`, `int_hops`, `ce`;
/// the transmitter of a hop `time` and `hop`; a switch `ingress` on arrival, `ce` and `int_hops`
/// at dequeue. Of a packet that has no INT slot the NIC says `int_hops` (int_slots.h).
struct alignas(32) Packet {
    /// On a link: instant at which the last bit reaches the far end, counted from the link's base.
    Tick time = 0;
    /// Data: departure from the sender's NIC, in the flow's local time; ACK: that of the packet it
    /// answers.
    Tick stamp = 0;
    std::uint32_t flow = 0;  ///< its slot
    /// data: packet index in its flow; ACK, NACK: next expected index; pause, resume: the class
    std::uint32_t sequence = 0;
    std::uint16_t bytes = 0;  ///< size on the wire
    std::uint16_t transmission =
        0;                      ///< the sender's count of them >> int_shift: names the INT slot
    std::uint16_t ingress = 0;  ///< local index of the port by which it entered this switch
    std::uint16_t kind : 3;
    std::uint16_t traffic_class : 3;
    std::uint16_t hop : 4;       ///< transmissions so far; stays at 15
    std::uint16_t int_hops : 4;  ///< INT records written; an ACK repeats its data packet's
    std::uint16_t ce : 1;        ///< congestion experienced
    std::uint16_t echo : 1;      ///< ACK: congestion echo; data: an ACK is asked for

    SLUICE_HD Packet() : kind(0), traffic_class(0), hop(0), int_hops(0), ce(0), echo(0) {}
    SLUICE_HD PacketKind packet_kind() const { return static_cast<PacketKind>(kind); }
};
static_assert(sizeof(Packet) == 32, "a packet is half a cache line");

// The stamp of an ACK under selective repeat, from the lowest bit: the low bits of its data packet's departure, that packet's
// entropy value (LoadBalance::entropy), and how far it lies from the first missing one. Under receiver credits a data packet
// says in that place which it wants (credits.h). A round trip is shorter than 2^42 ps
// (4.4 s), so the rest of the departure follows from the present.
inline constexpr int kStampBits = 42;
inline constexpr int kEntropyBits = 8;
inline constexpr int kDistanceAt = kStampBits + kEntropyBits;
inline constexpr std::uint64_t kStampMask = (std::uint64_t{1} << kStampBits) - 1;
inline constexpr std::uint32_t kDistanceMask = (1U << (64 - kDistanceAt)) - 1;

/// `distance` is below 2^14.
SLUICE_HD inline Tick stamp_with(Tick stamp, std::uint32_t distance) {
    return static_cast<Tick>(
        (static_cast<std::uint64_t>(stamp) & ((std::uint64_t{1} << kDistanceAt) - 1)) |
        static_cast<std::uint64_t>(distance) << kDistanceAt);
}
SLUICE_HD inline std::uint32_t distance_in(Tick stamp) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(stamp) >> kDistanceAt);
}

/// Of a data packet.
SLUICE_HD inline Tick stamp_of(Tick departure, std::uint32_t entropy) {
    return static_cast<Tick>((static_cast<std::uint64_t>(departure) & kStampMask) |
                             static_cast<std::uint64_t>(entropy) << kStampBits);
}
SLUICE_HD inline std::uint32_t entropy_in(Tick stamp) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(stamp) >> kStampBits) &
           ((1U << kEntropyBits) - 1);
}

/// The contribution to the order-independent hop checksum of `packet` of flow `id` (0: of none), sent by
/// `port`, whose last bit reaches the far end at `arrival`.
SLUICE_HD inline std::uint64_t hop_digest(const Packet& packet, std::uint64_t id,
                                          std::uint32_t port, Tick arrival) {
    std::uint64_t x = static_cast<std::uint64_t>(arrival) * 0x9e3779b97f4a7c15ULL;
    x ^= (id << 32 ^ id >> 32 ^ packet.sequence) + 0x7f4a7c15ULL;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 29;
    x += (static_cast<std::uint64_t>(port) << 8 | static_cast<std::uint64_t>(packet.kind) << 2 |
          static_cast<std::uint64_t>(packet.ce) << 1 | packet.echo) *
         0x94d049bb133111ebULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 31);
}

}  // namespace sluice::step
