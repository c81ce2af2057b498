// SPDX-License-Identifier: Apache-2.0
/// What a law does by itself where nothing is marked: its timers raise its rate (DCQCN after its last mark).
#pragma once

#include <algorithm>

#include "core/congestion/congestion.h"
#include "core/units.h"

namespace sluice::congestion {

struct Course {
    bool changes = false;  ///< the rate is another one at the end
    double mean = 0;       ///< rate, bits/s
};

/// From `from` on for `dt` ticks, of a law that is as it stands then. A law that advance() leaves at its rate has no course
/// of its own: it swings, or waits for packets.
inline Course course(State law, const Parameters& parameters, Tick from, Tick dt) {
    const std::int64_t rate = law.rate;
    Course made{false, static_cast<double>(rate)};
    const Tick end = from + dt;
    if (dt <= 0 || next_timer(law, parameters) >= end) {
        return made;
    }
    State slept = law;
    Observed seen;
    seen.until = end;
    shift(slept, parameters, dt);
    advance(slept, parameters, dt, seen);
    double sent = 0;
    for (Tick at = from; at < end;) {
        const Tick next = std::clamp(next_timer(law, parameters), at, end);
        sent += static_cast<double>(law.rate) * static_cast<double>(next - at);
        at = next;
        if (at < end) {
            on_timer(law, parameters, at);
        }
    }
    if (slept.rate == law.rate && law.rate != rate) {
        made = {true, sent / static_cast<double>(dt)};
    }
    return made;
}

}  // namespace sluice::congestion
