// SPDX-License-Identifier: Apache-2.0
/// The queue through which the host hands lanes to a kernel that runs all the while. Plain data, in memory
/// that both see.
#pragma once

#include <cstdint>

#include "gpu/program/lane.h"

namespace sluice::gpu {

/// A lane that is to be executed. Whoever writes `state` says by it that the rest is as it is to be: the host
/// free and placed, the gang that has it taken and done.
struct WorkItem {
    Lane* lane = nullptr;
    std::uint64_t windows = 0;
    Outcome outcome = Outcome::running;
    std::uint32_t state = 0;  ///< of WorkState
};
enum WorkState : std::uint32_t { kFree, kPlaced, kTaken, kDone };

struct WorkQueue {
    std::uint32_t count = 0;   ///< of `item`
    std::uint32_t closed = 0;  ///< no more will come
    WorkItem* item = nullptr;
};

}  // namespace sluice::gpu
