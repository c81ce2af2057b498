// SPDX-License-Identifier: Apache-2.0
#include "eval/warmup/warmup.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/error.h"

namespace sluice::eval {

double ramp_length(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    if (times.empty() || !(times.front() > 0)) {
        throw InternalError("ramp_length: completion times are positive");
    }
    double sum = 0;
    for (const double time : times) sum += time;
    const double wanted = kSettled * sum;
    // sum of min(S, t) is linear between two times: all that are longer grow with t.
    double before = 0;  // sum of those that are shorter
    for (std::size_t i = 0; i < times.size(); ++i) {
        const double longer = static_cast<double>(times.size() - i);
        if (before + longer * times[i] >= wanted) return (wanted - before) / longer;
        before += times[i];
    }
    return times.back();
}

Window find_window(const std::vector<double>& times, double arrivals) {
    if (!(arrivals > 0)) throw InternalError("find_window: flows begin at no time");
    const double ramp = ramp_length(times);
    Window window{ramp, arrivals - ramp, std::min(1.0, 2 * ramp / arrivals), false};
    window.mostly_ramps = window.ramp_share > 0.5;
    if (window.ramp_share == 1) {
        window.begin = 0;
        window.end = arrivals;
    }
    return window;
}

std::string describe(const Window& window) {
    if (!window.mostly_ramps) return "";
    return fmt::format(
        "{:.0f}% of a trial is warm-up and cool-down: its flows meet a network that is emptier "
        "than a longer trial's; lengthen the trial",
        100 * window.ramp_share);
}

}  // namespace sluice::eval
