// SPDX-License-Identifier: Apache-2.0
/// Figures over time, in steps of equal length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/units.h"

namespace sluice::report {

/// Of a figure over the whole run.
inline constexpr std::size_t kRunSteps = 240;

/// The step that holds `time`, at most `count`. `step` > 0.
inline std::size_t step_of(double time, double step, std::size_t count) {
    return static_cast<std::size_t>(std::clamp(time / step, 0.0, static_cast<double>(count)));
}

/// Adds to each step the share of it that lies in [from, to), times `weight`. What lies beyond the last step is left out.
inline void spread(std::vector<double>& steps, double step, double from, double to, double weight) {
    if (!(step > 0)) return;
    for (std::size_t i = step_of(from, step, steps.size());
         i < steps.size() && static_cast<double>(i) * step < to; ++i) {
        const double begin = std::max(from, static_cast<double>(i) * step);
        const double end = std::min(to, static_cast<double>(i + 1) * step);
        if (end > begin) steps[i] += weight * (end - begin) / step;
    }
}

}  // namespace sluice::report
