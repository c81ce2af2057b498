// SPDX-License-Identifier: Apache-2.0
/// The kernel, compiled for flows of each law alone (law_kernel.cuh). That for all laws is in cuda_executor.cu.
#pragma once

#include "core/congestion/laws.h"

namespace sluice::gpu {

#define SLUICE_LAW(name) const void* kernel_of_##name();
SLUICE_LAWS(SLUICE_LAW)
#undef SLUICE_LAW

inline const void* kernel_of(congestion::Law law) {
    switch (law) {
#define SLUICE_LAW(name) \
    case congestion::Law::name: return kernel_of_##name();
        SLUICE_LAWS(SLUICE_LAW)
#undef SLUICE_LAW
    }
    return nullptr;
}

}  // namespace sluice::gpu
