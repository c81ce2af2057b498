// SPDX-License-Identifier: Apache-2.0
/// The hash by which a switch picks among equal-cost next hops, and what it sees of a flow. Plain
/// code for every engine. Addresses and hash are the HPCC ns-3 simulator's.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "core/ids.h"

namespace sluice {

/// FlowSpec::nic_port of flows that choose none.
inline constexpr std::uint8_t kAnyPort = 255;

/// What the ECMP hash sees of a flow. Addresses are HPCC ns-3's: 0x0b000001 + (id << 8).
struct FlowKey {
    NodeId src = 0;
    NodeId dst = 0;
    std::uint16_t sport = 0;
    std::uint16_t dport = 0;
    std::uint8_t nic_port =
        kAnyPort;  ///< FlowSpec::nic_port: hosts go by it, switches do not see it
};

namespace detail {

SLUICE_HD constexpr std::uint32_t rotate_left(std::uint32_t x, unsigned bits) {
    return x << bits | x >> (32 - bits);
}

SLUICE_HD constexpr std::uint32_t ecmp_mix(std::uint32_t hash, std::uint32_t word) {
    word = rotate_left(word * 0xcc9e2d51U, 15) * 0x1b873593U;
    return rotate_left(hash ^ word, 13) * 5 + 0xe6546b64U;
}

}  // namespace detail

/// Seed of the hash by which a host picks among its NICs, the same at every host: the HPCC ns-3's
/// (ns3::Hash32).
inline constexpr std::uint32_t kNicSeed = 0x8BADF00D;

/// MurmurHash3 (32 bit) of the 12 bytes (source address, destination address,
/// sport | dport << 16) as little-endian words, seeded with the switch's id (a host: kNicSeed).
SLUICE_HD constexpr std::uint32_t ecmp_hash(const FlowKey& key, std::uint32_t seed) {
    std::uint32_t hash = seed;
    hash = detail::ecmp_mix(hash, 0x0b000001U + (key.src << 8));
    hash = detail::ecmp_mix(hash, 0x0b000001U + (key.dst << 8));
    hash = detail::ecmp_mix(
        hash, static_cast<std::uint32_t>(key.sport) | static_cast<std::uint32_t>(key.dport) << 16);
    hash ^= 12U;  // bytes hashed
    hash = (hash ^ hash >> 16) * 0x85ebca6bU;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
    return hash ^ hash >> 16;
}

}  // namespace sluice
