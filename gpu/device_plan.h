// SPDX-License-Identifier: Apache-2.0
/// What a batch's lanes need of devices' memory, from building a sample of them, before anything is launched.
#pragma once

#include <cstddef>
#include <string>

#include "experiment/batch/batch_file.h"

namespace sluice::gpu {

/// Experiments that are built to plan with, at most.
inline constexpr std::size_t kPlannedLanes = 16;

struct LanePlan {
    std::size_t tried = 0;
    std::size_t fit = 0;    ///< a device would execute
    std::size_t first = 0;  ///< bytes of these at their start, summed
    std::size_t grown =
        0;  ///< the same after their first windows, where the network is not too large for that
    std::size_t most = 0;  ///< of one
    std::size_t refused = 0;
    std::string reason;  ///< of the first that is refused
};

LanePlan plan_lanes(const Batch& batch, bool allow_oom);

}  // namespace sluice::gpu
