// SPDX-License-Identifier: Apache-2.0
#include "core/results/resources.h"

#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <string>

namespace sluice {
namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Largest resident set of this program, in bytes; -1 where the system does not tell. getrusage's
/// figure outlives exec: it includes the program that started this one, at the time of its fork.
std::int64_t high_water_mark() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.compare(0, 6, "VmHWM:") == 0) {
            return std::stoll(line.substr(6)) * 1024;
        }
    }
    return -1;
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
    result.peak_rss_bytes = high_water_mark();
    if (result.peak_rss_bytes < 0) {
        result.peak_rss_bytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // Linux: KiB
    }
    return result;
}

}  // namespace sluice
