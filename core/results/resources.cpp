// SPDX-License-Identifier: Apache-2.0
#include "core/results/resources.h"

#include <sys/resource.h>

#include <chrono>
#include <ctime>
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

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

ResourceUsage resource_usage() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    ResourceUsage result;
    result.user_s = seconds(usage.ru_utime);
    result.system_s = seconds(usage.ru_stime);
    result.wall_s = seconds_now();
    result.peak_rss_bytes = high_water_mark();
    if (result.peak_rss_bytes < 0) {
        result.peak_rss_bytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // Linux: KiB
    }
    return result;
}

ResourceUsage thread_usage() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    ResourceUsage result;
    result.user_s = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    result.wall_s = seconds_now();
    return result;
}

}  // namespace sluice
