// SPDX-License-Identifier: Apache-2.0
#include "core/results/resources.h"

#include <sys/resource.h>

#include <chrono>

namespace sluice {
namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ResourceUsage resource_usage() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    ResourceUsage result;
    result.user_s = seconds(usage.ru_utime);
    result.system_s = seconds(usage.ru_stime);
    result.wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    result.peak_rss_bytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // Linux: KiB
    return result;
}

}  // namespace sluice
