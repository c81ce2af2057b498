// SPDX-License-Identifier: Apache-2.0
/// How much memory jobs take in a lane. What a rank remembers of its operations has bounds known from the
/// graph, so that nothing of it grows while the lane runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/job/job_application.h"

namespace sluice::gpu {

constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// What a rank may have to remember at once.
struct RankBounds {
    std::uint32_t ready = 0;             ///< operations
    std::uint32_t running = 0;           ///< operations whose speed changes
    std::vector<std::uint32_t> waiting;  ///< operations, by resource
};

RankBounds rank_bounds(const JobApplication& application, RankId rank);

/// Of all jobs together, each column rounded up to 64 bytes.
std::size_t bytes_of_jobs(const std::vector<const JobApplication*>& jobs);

}  // namespace sluice::gpu
