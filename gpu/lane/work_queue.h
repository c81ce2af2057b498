// SPDX-License-Identifier: Apache-2.0
/// The queue through which the host hands lanes to a kernel that runs all the while. Plain data, in memory
/// that both see.
#pragma once

#include <cstdint>

#include "gpu/program/lane_order.h"

namespace sluice::gpu {

/// A lane that is to be executed. Its orders are counted: the host says by `placed` that the latest is there, the gang
/// that has taken it by `done` that it is carried out. Each word is written by one side only, as a device need
/// not be able to change one of the host's in one step.
struct WorkItem {
    Lane* lane = nullptr;
    LaneOrder order;
    std::uint32_t placed = 0;

    LaneReport report;
    std::uint32_t done = 0;
};

struct WorkQueue {
    std::uint32_t count = 0;   ///< of `item`
    std::uint32_t closed = 0;  ///< no more will come
    WorkItem* item = nullptr;
    std::uint32_t* claimed =
        nullptr;  ///< by item: orders that gangs have taken, 0 at first; the device's own
};

}  // namespace sluice::gpu
