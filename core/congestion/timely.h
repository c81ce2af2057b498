// SPDX-License-Identifier: Apache-2.0
/// TIMELY (Mittal et al., SIGCOMM 2015) as in the HPCC ns-3: the rate follows the round-trip time
/// and its smoothed slope, once per round trip.
///
///   diff = (1 - ewma) diff + ewma (rtt - last rtt),   gradient = diff / min_rtt
///   rtt < t_low, or rtt <= t_high and gradient <= 0:  rate + AI (HAI after hyper_after increases)
///   rtt > t_high:                                     rate x (1 - beta (1 - t_high / rtt))
///   otherwise:                                        rate x max(0, 1 - beta gradient)
///
/// Round-trip times are whole nanoseconds, truncated. The first ACK only records.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion::timely {

SLUICE_HD inline void start(State& state) {
    state.timely = TimelyState{};
    state.timely.current_rate = state.line_rate;
}

SLUICE_HD inline void update_rate(State& state, const Parameters& parameters, std::int64_t rtt_ns) {
    TimelyState& timely = state.timely;
    const TimelyParameters& p = parameters.timely;
    const std::int64_t t_high_ns = p.t_high / kNanosecond;
    const std::int64_t min_rtt_ns = p.min_rtt / kNanosecond;
    const auto change = static_cast<double>(rtt_ns - timely.last_rtt_ns);
    const double diff = (1 - p.ewma) * timely.rtt_diff + p.ewma * change;
    const double gradient = diff / static_cast<double>(min_rtt_ns);
    timely.rtt_diff = diff;

    double factor = 0;
    bool increase = false;
    if (rtt_ns < p.t_low / kNanosecond) {
        increase = true;
    } else if (rtt_ns > t_high_ns) {
        factor = 1 - p.beta * (1 - static_cast<double>(t_high_ns) / static_cast<double>(rtt_ns));
    } else if (gradient <= 0) {
        increase = true;
    } else {
        factor = 1 - p.beta * gradient;  // below 0: truncated_rate() makes it 0
    }
    if (increase) {
        const std::int64_t step = timely.stage < p.hyper_after ? p.additive_rate : p.hyper_rate;
        state.rate = smaller(timely.current_rate + step, state.line_rate);
        timely.stage = timely.stage < p.hyper_after ? timely.stage + 1 : timely.stage;
    } else {
        state.rate = larger(parameters.min_rate,
                            truncated_rate(static_cast<double>(timely.current_rate) * factor));
        timely.stage = 0;
    }
    timely.current_rate = state.rate;
}

SLUICE_HD inline void on_ack(State& state, const Parameters& parameters, const Ack& ack) {
    TimelyState& timely = state.timely;
    if (ack.acked <= timely.last_update) {
        return;
    }
    const std::int64_t rtt_ns = (ack.now - ack.sent) / kNanosecond;
    if (timely.last_update != 0) {
        update_rate(state, parameters, rtt_ns);
    }
    if (ack.next > timely.last_update) {
        timely.last_update = ack.next;
        timely.last_rtt_ns = rtt_ns;
    }
}

}  // namespace sluice::congestion::timely
