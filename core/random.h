// SPDX-License-Identifier: Apache-2.0
/// Counter-based random numbers: draw n of stream s under seed k is a pure function of (k, s, n),
/// so results depend on no call order, thread schedule or engine (docs/architecture.md, determinism). Integers and
/// one exact conversion only: the same bits on host and device.
/// Streams name what draws (a port, a flow, a host); give different uses different stream numbers
/// with random_stream().
/// Method: the 64-bit finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA'14), applied to the seed,
/// the stream and the counter in turn. The counter is mixed before it meets the key, so two
/// streams are never shifted copies of each other.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace sluice {

/// A bijection of 64-bit words in which every input bit flips about half of the output bits.
SLUICE_HD constexpr std::uint64_t mix_bits(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// The stream of entity `index` for use `purpose` (any constant that no other use has).
SLUICE_HD constexpr std::uint64_t random_stream(std::uint64_t purpose, std::uint64_t index) {
    return mix_bits(purpose) + index;
}

/// What is common to all draws of a stream; callers that draw often may keep it.
SLUICE_HD constexpr std::uint64_t random_key(std::uint64_t seed, std::uint64_t stream) {
    return mix_bits(mix_bits(seed) ^ stream);
}

SLUICE_HD constexpr std::uint64_t random_bits_of_key(std::uint64_t key, std::uint64_t n) {
    return mix_bits(key ^ mix_bits(n));
}

/// 64 random bits.
SLUICE_HD constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream,
                                              std::uint64_t n) {
    return random_bits_of_key(random_key(seed, stream), n);
}

/// The top 53 bits as a double in [0, 1): exact, no rounding.
SLUICE_HD constexpr double to_unit_interval(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * (1.0 / 9007199254740992.0);
}

/// Uniform in [0, 1) with 53 bits.
SLUICE_HD constexpr double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t n) {
    return to_unit_interval(random_bits(seed, stream, n));
}

/// Uniform in [0, bound), bound >= 1; uneven by less than bound / 2^32.
SLUICE_HD constexpr std::uint32_t uniform_below(std::uint64_t seed, std::uint64_t stream,
                                                std::uint64_t n, std::uint32_t bound) {
    return static_cast<std::uint32_t>(((random_bits(seed, stream, n) >> 32) * bound) >> 32);
}

}  // namespace sluice
