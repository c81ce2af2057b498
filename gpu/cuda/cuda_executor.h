// SPDX-License-Identifier: Apache-2.0
/// A GPU that executes lanes. No CUDA header here: where the build has no CUDA, make_cuda_executor() says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "gpu/lane/lane_executor.h"

namespace sluice::gpu {

struct CudaOptions {
    int device = 0;
    std::uint32_t threads = 512;       ///< a block, a multiple of 32
    std::uint32_t blocks_of_gang = 1;  ///< that share a lane
    std::uint32_t lanes = 1;           ///< that run() has at a time, at most; others wait
    /// Executors among which the GPU's memory and processors are shared out, so that one GPU stands for several.
    /// All of them are made before one of them runs a lane.
    std::uint32_t shards = 1;
    std::size_t memory = 0;  ///< bytes for lanes; 0: what is free, less a tenth
};

/// ConfigError if there is no such GPU, it cannot do what is asked of it, or the build has no CUDA.
std::unique_ptr<LaneExecutor> make_cuda_executor(const CudaOptions& options);

/// GPUs that this build can use; why there are none in `why`.
int cuda_device_count(std::string& why);

/// What a GPU gives the kernel.
struct CudaFigures {
    std::string name;
    std::uint32_t processors = 0;
    std::uint32_t blocks = 0;  ///< of the options' threads, at once on all processors
    double occupancy = 0;      ///< of the warps that the processors can hold
    std::uint32_t registers = 0;
};
/// ConfigError as of make_cuda_executor().
CudaFigures cuda_figures(const CudaOptions& options);

/// Bytes of a GPU's memory that an executor would have for lanes now. ConfigError as of make_cuda_executor().
std::size_t cuda_lane_memory(int device);

}  // namespace sluice::gpu
