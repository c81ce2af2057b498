// SPDX-License-Identifier: Apache-2.0
/// Arrivals of a window in their defined order. A key packs (time - window start, ingress port,
/// position in the ingress link) into 64 bits, so that one integer comparison is the whole order.
#pragma once

#include "core/memory_space.h"
#include "core/packet/plain.h"

namespace sluice::step {

inline constexpr std::uint32_t kMaxWindowPackets = 0xffff;  ///< per port, from the key's layout

SLUICE_HD inline std::uint64_t arrival_key(Tick since_start, std::uint32_t port,
                                           std::uint32_t position) {
    return static_cast<std::uint64_t>(since_start) << 32 | static_cast<std::uint64_t>(port) << 16 |
           position;
}
SLUICE_HD inline Tick key_time(std::uint64_t key, Tick start) {
    return start + static_cast<Tick>(key >> 32);
}
SLUICE_HD inline std::uint32_t key_port(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 16) & 0xffffU;
}
SLUICE_HD inline std::uint32_t key_position(std::uint64_t key) {
    return static_cast<std::uint32_t>(key) & 0xffffU;
}

/// Sorts keys that consist of few ascending runs (one per ingress port): merges neighbouring runs
/// until one is left, in n log(runs). `scratch` holds n keys.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void sort_runs(std::uint64_t* keys, std::uint32_t n,
                                                       std::uint64_t* scratch) {
    if (n < 2) {
        return;
    }
    std::uint64_t* from = in_global_memory(keys);
    std::uint64_t* to = in_global_memory(scratch);
    for (;;) {
        std::uint32_t begin = 0;
        while (begin < n) {
            std::uint32_t middle = begin + 1;
            while (middle < n && from[middle - 1] < from[middle]) {
                ++middle;
            }
            if (begin == 0 && middle == n) {  // one run left: done
                if (from != keys) {
                    for (std::uint32_t i = 0; i < n; ++i) {
                        keys[i] = from[i];
                    }
                }
                return;
            }
            std::uint32_t end = middle;
            if (middle < n) {
                ++end;
                while (end < n && from[end - 1] < from[end]) {
                    ++end;
                }
            }
            std::uint32_t left = begin;
            std::uint32_t right = middle;
            std::uint32_t out = begin;
            // Which of two runs comes next is unpredictable: select without a branch.
            while (left < middle && right < end) {
                const std::uint64_t a = from[left];
                const std::uint64_t b = from[right];
                const std::uint32_t take_right = b < a ? 1U : 0U;
                const std::uint64_t mask = std::uint64_t{0} - take_right;
                to[out++] = a ^ ((a ^ b) & mask);
                left += 1U - take_right;
                right += take_right;
            }
            while (left < middle) {
                to[out++] = from[left++];
            }
            while (right < end) {
                to[out++] = from[right++];
            }
            begin = end;
        }
        std::uint64_t* swap = from;
        from = to;
        to = swap;
    }
}

}  // namespace sluice::step
