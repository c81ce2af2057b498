// SPDX-License-Identifier: Apache-2.0
/// How long ASTRA-sim says that a node takes: as recorded, or by the roofline.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/units.h"
#include "workloads/chakra/astra_config.h"
#include "workloads/chakra/trace.h"

namespace sluice::chakra {

/// What a rank has one of, and runs one operation at a time on.
enum Resource : std::uint16_t { kCpu, kGpuCompute, kGpuComm, kResources };

/// Whole nanoseconds, cut as ASTRA-sim does.
inline Tick nanoseconds(double value) {
    constexpr double kMost = 4e15;
    return static_cast<Tick>(std::min(value, kMost)) * kNanosecond;
}

/// The roofline's attainable operations per second.
inline double attainable(const Work& work, const AstraSystem& system) {
    const double intensity = static_cast<double>(work.operations) / static_cast<double>(work.bytes);
    return std::min(system.local_mem_bw * 1e9 * intensity, system.peak_perf * 1e12);
}

/// A recorded duration; what took no time takes a nanosecond.
inline Tick replayed_time(std::uint64_t duration_us) {
    return duration_us == 0 ? kNanosecond : nanoseconds(static_cast<double>(duration_us) * 1000);
}

/// Of a computation; `work` may be null. `scale`: of durations.
inline Tick compute_time(const AstraSystem& system, bool on_cpu, std::uint64_t duration_us,
                         const Work* work, double scale) {
    Tick time = replayed_time(duration_us);
    if (system.roofline && !system.replay_only && !on_cpu) {
        time = work == nullptr || work->bytes == 0 || work->operations == 0
                   ? 0
                   : nanoseconds(static_cast<double>(work->operations) / attainable(*work, system) *
                                 1e9);
    }
    if (scale == 1) return time;
    return nanoseconds(static_cast<double>(time) / kNanosecond * scale);
}

/// Of a communication.
inline std::int64_t scaled_bytes(std::uint64_t bytes, double scale) {
    if (scale == 1) return static_cast<std::int64_t>(bytes);
    return static_cast<std::int64_t>(std::min(static_cast<double>(bytes) * scale, 1e15));
}

}  // namespace sluice::chakra
