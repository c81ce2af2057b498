// SPDX-License-Identifier: Apache-2.0
/// A block of memory that containers of a fixed whole take theirs from, by as many threads as there are, and
/// never give back: what a world on a device has in place of malloc().
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace sluice {

struct Arena {
    unsigned char* base = nullptr;  ///< aligned to 64
    std::uint64_t size = 0;         ///< bytes
    std::uint64_t used = 0;         ///< bytes
};

/// `bytes`, aligned to 64; null where the arena has no room. Where it lies depends on who asks first:
/// addresses are in no result.
SLUICE_HD inline void* take(Arena& arena, std::uint64_t bytes) {
    bytes = (bytes + 63) / 64 * 64;
#if defined(__CUDA_ARCH__)
    auto* const used = reinterpret_cast<unsigned long long*>(&arena.used);
    unsigned long long before = atomicAdd(used, 0ULL);
    for (;;) {
        if (before + bytes > arena.size) {
            return nullptr;
        }
        const unsigned long long seen = atomicCAS(used, before, before + bytes);
        if (seen == before) {
            return arena.base + before;
        }
        before = seen;
    }
#else
    std::uint64_t before = __atomic_load_n(&arena.used, __ATOMIC_RELAXED);
    do {
        if (before + bytes > arena.size) {
            return nullptr;
        }
    } while (!__atomic_compare_exchange_n(&arena.used, &before, before + bytes, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return arena.base + before;
#endif
}

}  // namespace sluice
