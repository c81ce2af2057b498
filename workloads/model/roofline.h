// SPDX-License-Identifier: Apache-2.0
/// How long an operation takes on a GPU: bound by arithmetic or by memory (Williams, Waterman and
/// Patterson, CACM 2009), whichever is slower:
///     time = max(FLOPs / (peak x efficiency), bytes / (memory bandwidth x memory efficiency))
/// rounded up to whole picoseconds. Launch overhead, caches and fusion beyond what Work counts are
/// not modelled: they are part of the two efficiencies.
#pragma once

#include "core/units.h"
#include "workloads/model/gpu.h"
#include "workloads/model/model.h"

namespace sluice {

struct Roofline {
    double flops_per_second = 0;  ///< reached, not peak
    double bytes_per_second = 0;  ///< 0: memory does not bound
};

Roofline roofline(const Gpu& gpu);

/// Throws ConfigError if it lasts longer than a day.
Tick roofline_time(const Roofline& roofline, const Work& work);

}  // namespace sluice
