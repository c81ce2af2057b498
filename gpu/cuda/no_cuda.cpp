// SPDX-License-Identifier: Apache-2.0
/// A build without CUDA.
#include "core/error.h"
#include "gpu/cuda/cuda_executor.h"

namespace sluice::gpu {

namespace {

constexpr const char* kOff =
    "this build has no CUDA: ./quickstart --cuda builds with it, and installs its compiler where "
    "there is none";

}  // namespace

std::unique_ptr<LaneExecutor> make_cuda_executor(const CudaOptions&) {
    throw ConfigError(std::string("--device cuda: ") + kOff);
}

CudaFigures cuda_figures(const CudaOptions&) {
    throw ConfigError(std::string("--device cuda: ") + kOff);
}

std::size_t cuda_lane_memory(int) { throw ConfigError(std::string("--device cuda: ") + kOff); }

int cuda_device_count(std::string& why) {
    why = kOff;
    return 0;
}

}  // namespace sluice::gpu
