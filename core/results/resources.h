// SPDX-License-Identifier: Apache-2.0
/// What the process has used so far, as the system counts it.
#pragma once

#include <cstdint>

namespace sluice {

struct ResourceUsage {
    double user_s = 0;  ///< user CPU time of all threads
    double system_s = 0;
    double wall_s = 0;  ///< a monotonic clock's reading; only differences mean anything
    std::int64_t peak_rss_bytes = 0;  ///< largest resident set so far
};

ResourceUsage resource_usage();
/// Of the calling thread alone: its CPU time, the system's in it, as user_s, to the nanosecond; nothing of memory.
ResourceUsage thread_usage();

}  // namespace sluice
