// SPDX-License-Identifier: Apache-2.0
/// The kernel for lanes of one law: gpu/CMakeLists.txt makes a file of two lines for each law of
/// core/congestion/laws.h, which defines SLUICE_ONE_LAW and includes this.
#include "gpu/cuda/one_law.cuh"

#include "gpu/cuda/kernel.cuh"
#include "gpu/cuda/kernels.h"

#define SLUICE_JOINED(a, b) a##b
#define SLUICE_KERNEL_OF(law) SLUICE_JOINED(kernel_of_, law)

namespace sluice::gpu {

const void* SLUICE_KERNEL_OF(SLUICE_ONE_LAW)() { return reinterpret_cast<const void*>(run_lanes); }

}  // namespace sluice::gpu
