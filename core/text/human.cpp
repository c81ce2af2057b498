// SPDX-License-Identifier: Apache-2.0
#include "core/text/human.h"

#include <cmath>
#include <cstddef>
#include <iterator>

#include <fmt/core.h>

namespace sluice {

std::string human_seconds(double seconds) {
    if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
    if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
    if (seconds < 59.95) return fmt::format("{:.3g} s", seconds);
    // Rounded first: there is no 60th second of a minute.
    const double whole = std::round(seconds);
    if (whole < 3600) {
        return fmt::format("{:.0f} min {:.0f} s", std::floor(whole / 60), std::fmod(whole, 60));
    }
    const double minutes = std::round(seconds / 60);
    return fmt::format("{:.0f} h {:.0f} min", std::floor(minutes / 60), std::fmod(minutes, 60));
}

std::string human_time(Tick time) { return human_seconds(to_seconds(time)); }

std::string counted(std::size_t number, const char* one, const char* many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

std::string human_count(double number) {
    static const char* const kPrefixes[] = {"", " k", " M", " G", " T", " P", " E"};
    std::size_t i = 0;
    while (number >= 999.5 && i + 1 < std::size(kPrefixes)) {
        number /= 1000;
        ++i;
    }
    return fmt::format("{:.3g}{}", number, kPrefixes[i]);
}

}  // namespace sluice
