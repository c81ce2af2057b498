// SPDX-License-Identifier: Apache-2.0
/// Integer sums that several threads add to at once, of which nobody sees more than the sum.
#pragma once

#include "core/packet/buffer.h"

namespace sluice::gpu {

/// Adds to a word; returns what it was.
SLUICE_HD inline std::uint32_t add_shared(std::uint32_t& word, std::uint32_t more) {
#if defined(__CUDA_ARCH__)
    return atomicAdd(&word, more);
#else
    return __atomic_fetch_add(&word, more, __ATOMIC_RELAXED);
#endif
}
SLUICE_HD inline void add_shared(std::int64_t& word, std::int64_t more) {
#if defined(__CUDA_ARCH__)
    atomicAdd(reinterpret_cast<unsigned long long*>(&word), static_cast<unsigned long long>(more));
#else
    __atomic_fetch_add(&word, more, __ATOMIC_RELAXED);
#endif
}
/// Sets a word that others set to the same.
SLUICE_HD inline void set_shared(std::uint32_t& word, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
    atomicExch(&word, value);
#else
    __atomic_store_n(&word, value, __ATOMIC_RELAXED);
#endif
}

/// Sets a word that is 0 or 1. True for the one thread that has found it 0.
SLUICE_HD inline bool claim_shared(std::uint32_t& word) {
#if defined(__CUDA_ARCH__)
    return *static_cast<volatile std::uint32_t*>(&word) == 0 && atomicExch(&word, 1U) == 0;
#else
    return __atomic_load_n(&word, __ATOMIC_RELAXED) == 0 &&
           __atomic_exchange_n(&word, 1U, __ATOMIC_RELAXED) == 0;
#endif
}

/// The accounting of a quiet window (core/packet/switch.h) by the ports of a switch at once. No headroom is
/// in use then, no decision looks at it, and what a class has of the shared pool is what its bytes are above
/// the reserve: each addition's part of that is known from the sum before it, so the parts add up to it in
/// any order.
struct ManyCount {
    SLUICE_HD static void charge(step::Buffer& buffer, step::Ingress& ingress, std::uint32_t queue,
                                 std::uint32_t bytes, bool pfc) {
        add(buffer, ingress, queue, bytes, pfc);
    }
    SLUICE_HD static void release(step::Buffer& buffer, step::Ingress& ingress, std::uint32_t queue,
                                  std::uint32_t bytes, bool pfc) {
        add(buffer, ingress, queue, 0U - bytes, pfc);
    }
    SLUICE_HD static void add_drop(step::Egress& egress, std::int64_t step::Egress::*cause) {
        add_shared(egress.*cause, 1);
    }

  private:
    SLUICE_HD static std::int64_t above(const step::Buffer& buffer, std::uint32_t bytes) {
        const std::int64_t shared = static_cast<std::int64_t>(bytes) - buffer.reserve;
        return shared > 0 ? shared : 0;
    }
    SLUICE_HD static void add(step::Buffer& buffer, step::Ingress& ingress, std::uint32_t queue,
                              std::uint32_t more, bool pfc) {
        std::int64_t shared = static_cast<std::int32_t>(more);
        if (pfc) {
            const std::uint32_t before = add_shared(ingress.bytes[queue], more);
            add_shared(ingress.total_bytes, more);
            shared = above(buffer, before + more) - above(buffer, before);
        }
        if (shared != 0) {
            add_shared(buffer.shared_used, shared);
        }
    }
};

}  // namespace sluice::gpu
