// SPDX-License-Identifier: Apache-2.0
/// What a worker counts while it steps cells, and where.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace sluice::step {

/// What one worker has counted; sums over all workers are the world's (WorldStore::counters).
struct Counts {
    std::uint64_t events = 0;
    std::uint64_t drops = 0;
    std::uint64_t retransmitted = 0;  ///< payload bytes, of flows that are complete
    std::uint64_t resent_late = 0;    ///< of them, after a time-out
    std::uint64_t checksum = 0;
    std::int64_t active_senders = 0;  ///< created less freed
};

/// Threads of a block of a GPU, at most.
inline constexpr std::uint32_t kMostThreadsOfBlock = 512;

/// Where a step counts. A worker has a world of its own, but for the threads of a GPU's block, which share one:
/// each has counts of its own beside it.
template <class World>
SLUICE_HD inline Counts& counts_of([[maybe_unused]] World& world) {
#if defined(__CUDA_ARCH__)
    __shared__ alignas(16) unsigned char counts[kMostThreadsOfBlock * sizeof(Counts)];
    return reinterpret_cast<Counts*>(counts)[threadIdx.x];
#else
    return world;
#endif
}

/// What `from` has counted is `to`'s, too; `add(word, more)` adds.
template <class Add>
SLUICE_HD inline void add_counts(Counts& to, const Counts& from, Add&& add) {
    add(to.events, from.events);
    add(to.drops, from.drops);
    add(to.retransmitted, from.retransmitted);
    add(to.resent_late, from.resent_late);
    add(to.checksum, from.checksum);
    add(to.active_senders, from.active_senders);
}

}  // namespace sluice::step
