// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/roofline.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace sluice {

Roofline roofline(const Gpu& gpu) {
    return {gpu.peak_flops * gpu.efficiency, gpu.memory_bytes_per_second * gpu.memory_efficiency};
}

Tick roofline_time(const Roofline& roofline, const Work& work) {
    constexpr Tick kLongest = 24 * 3600 * kSecond;
    double seconds = work.flops > 0 ? work.flops / roofline.flops_per_second : 0;
    if (roofline.bytes_per_second > 0) {
        seconds = std::max(seconds, work.bytes / roofline.bytes_per_second);
    }
    const double ticks = std::ceil(seconds * static_cast<double>(kSecond));
    if (!(ticks <= static_cast<double>(kLongest))) {
        throw ConfigError(
            "an operation lasts longer than a day by its FLOPs and bytes: check the "
            "GPU's peak_flops, memory_bandwidth and efficiencies, and the model");
    }
    return static_cast<Tick>(ticks);
}

}  // namespace sluice
