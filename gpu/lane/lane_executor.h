// SPDX-License-Identifier: Apache-2.0
/// Who executes lanes, and in whose memory they lie: threads of the host (gpu/blocks/), or a GPU (gpu/cuda/).
#pragma once

#include <cstdint>

#include "gpu/lane/device_memory.h"
#include "gpu/program/lane_order.h"

namespace sluice::gpu {

class LaneExecutor {
  public:
    virtual ~LaneExecutor() = default;
    /// Lanes for run() must lie in it.
    virtual DeviceMemory& memory() = 0;
    /// Executes the lane as it is ordered, and says why it stopped; Lane::world has its counters then. Any thread may
    /// call it for a lane of its own. DeviceError: the device executes no lane any more.
    virtual LaneReport run(Lane& lane, const LaneOrder& order) = 0;
    /// run() is not called again. Executors that share a device are all closed before one is destroyed.
    virtual void close() {}
};

}  // namespace sluice::gpu
