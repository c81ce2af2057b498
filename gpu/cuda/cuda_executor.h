// SPDX-License-Identifier: Apache-2.0
/// A GPU that executes lanes. No CUDA header here: where the build has no CUDA, make_cuda_executor() says so.
#pragma once

#include <memory>
#include <string>

#include "gpu/lane/lane_executor.h"

namespace sluice::gpu {

struct CudaOptions {
    int device = 0;
    std::uint32_t threads = 128;       ///< a block, a multiple of 32
    std::uint32_t blocks_of_gang = 1;  ///< that share a lane
    std::uint32_t lanes = 1;           ///< that run() has at a time, at most; others wait
};

/// ConfigError if there is no such GPU, or the build has no CUDA.
std::unique_ptr<LaneExecutor> make_cuda_executor(const CudaOptions& options);

/// GPUs that this build can use; why there are none in `why`.
int cuda_device_count(std::string& why);

}  // namespace sluice::gpu
