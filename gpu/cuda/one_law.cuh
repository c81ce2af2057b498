// SPDX-License-Identifier: Apache-2.0
/// In a file compiled for a device that defines SLUICE_ONE_LAW, before everything else: flows have that law. The
/// switch over all of them is not compiled, nor are the others. The host's half of the file stays as it is.
#pragma once

#include "core/congestion/laws.h"

#if defined(__CUDA_ARCH__)
namespace sluice::congestion {

/// Preferred to those for any State.
template <class F>
SLUICE_HD inline auto visit_law(State& state, const Parameters& parameters, F&& f) {
    return f(SLUICE_ONE_LAW::Hooks{}, state.SLUICE_ONE_LAW, parameters.SLUICE_ONE_LAW);
}
template <class F>
SLUICE_HD inline auto visit_law(const State& state, const Parameters& parameters, F&& f) {
    return f(SLUICE_ONE_LAW::Hooks{}, state.SLUICE_ONE_LAW, parameters.SLUICE_ONE_LAW);
}

}  // namespace sluice::congestion
#endif
