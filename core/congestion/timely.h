// SPDX-License-Identifier: Apache-2.0
/// TIMELY (Mittal et al., SIGCOMM 2015) as in the HPCC ns-3: the rate follows the round-trip time
/// and its smoothed slope, once per round trip.
///
///   diff = (1 - ewma) diff + ewma (rtt - last rtt),   gradient = diff / min_rtt
///   rtt < t_low, or rtt <= t_high and gradient <= 0:  rate + AI (HAI after hyper_after increases)
///   rtt > t_high:                                     rate x (1 - beta (1 - t_high / rtt))
///   otherwise:                                        rate x max(0, 1 - beta gradient)
///
/// Round-trip times are whole nanoseconds, truncated. The first ACK only records. Of sprayed packets, whose paths have delays
/// of their own, rtt is the mean over the ACKs of the round trip: two single ones differ by their paths, which is no slope.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/congestion/windows.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion::timely {

struct Parameters {
    Tick t_low = 50 * kMicrosecond;
    Tick t_high = 500 * kMicrosecond;
    Tick min_rtt = 20 * kMicrosecond;
    double ewma = 0.875;
    double beta = 0.8;
    std::int64_t additive_rate = 100'000'000;
    std::int64_t hyper_rate = 500'000'000;
    int hyper_after = 5;  ///< increases before the hyper step
};

struct State {
    std::int64_t current_rate = 0;
    std::int64_t last_update = 0;
    std::int64_t last_rtt_ns = 0;
    double rtt_diff = 0;
    std::int32_t stage = 0;
    std::int32_t acks = 0;        ///< of the round trip so far, of a sprayed flow
    std::int64_t rtt_sum_ns = 0;  ///< theirs
};
#define SLUICE_FIELDS_OF_TIMELY(FIRST, NEXT) \
    FIRST(current_rate, content)             \
    NEXT(last_update, content)               \
    NEXT(last_rtt_ns, content)               \
    NEXT(rtt_diff, content)                  \
    NEXT(stage, content)                     \
    NEXT(acks, content)                      \
    NEXT(rtt_sum_ns, content)
SLUICE_DESCRIBE(State, SLUICE_FIELDS_OF_TIMELY)

SLUICE_HD inline void update_rate(FlowControl& flow, State& timely, const CommonParameters& common,
                                  const Parameters& p, std::int64_t rtt_ns) {
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
        flow.rate = smaller(timely.current_rate + step, flow.line_rate);
        timely.stage = timely.stage < p.hyper_after ? timely.stage + 1 : timely.stage;
    } else {
        flow.rate = larger(common.min_rate,
                           truncated_rate(static_cast<double>(timely.current_rate) * factor));
        timely.stage = 0;
    }
    timely.current_rate = flow.rate;
}

struct Hooks : LawHooks {
    static constexpr Traits traits() {
        Traits traits;
        traits.extra_header = 8;  // the time stamp
        traits.follows_delay = true;
        traits.window = false;
        return traits;
    }

    template <class P, class Visit>
    static void describe(P& p, Visit& visit) {
        visit.time("t_low", p.t_low, kNanosecond, kSecond);
        visit.time("t_high", p.t_high, kNanosecond, kSecond);
        visit.time("min_rtt", p.min_rtt, kNanosecond, kSecond);
        visit.number("ewma", p.ewma, 0.0, 1.0);
        visit.number("beta", p.beta, 0.0, 1.0);
        visit.rate("additive_rate", p.additive_rate);
        visit.rate("hyper_rate", p.hyper_rate);
        visit.integer("hyper_after", p.hyper_after, 0, 1'000'000);
    }

    static void scale_to(Parameters& p, std::int64_t line_rate) {
        p.additive_rate = in_proportion(p.additive_rate, line_rate);
        p.hyper_rate = in_proportion(p.hyper_rate, line_rate);
    }

    static Conflict conflict(const Parameters& p) {
        return p.t_low > p.t_high ? Conflict{"t_low", "must not be above t_high"} : Conflict{};
    }

    SLUICE_HD static void start(FlowControl& flow, State& timely, const Parameters&) {
        timely = State{};
        timely.current_rate = flow.line_rate;
    }

    SLUICE_HD static bool on_ack(FlowControl& flow, State& timely, const CommonParameters& common,
                                 const Parameters& p, const IntRates&, const Ack& ack) {
        std::int64_t rtt_ns = (ack.now - ack.sent) / kNanosecond;
        if (ack.sprayed) {
            ++timely.acks;
            timely.rtt_sum_ns += rtt_ns;
        }
        if (ack.acked <= timely.last_update) {
            return false;
        }
        if (ack.sprayed) {
            rtt_ns = timely.rtt_sum_ns / timely.acks;
            timely.acks = 0;
            timely.rtt_sum_ns = 0;
        }
        if (timely.last_update != 0) {
            update_rate(flow, timely, common, p, rtt_ns);
        }
        if (ack.next > timely.last_update) {
            timely.last_update = ack.next;
            timely.last_rtt_ns = rtt_ns;
        }
        return false;
    }

    /// Round trips like the last one, if they leave the rate where it is: the slope dies away, and the
    /// stage rises. Where they would not, the phase is a swing, whose queue stands still, and so does
    /// the law.
    SLUICE_HD static void advance(FlowControl& flow, State& timely, const CommonParameters& common,
                                  const Parameters& p, Tick, const Observed& seen) {
        if (timely.last_update == 0) {
            return;  // not one ACK yet
        }
        FlowControl control = flow;
        State next = timely;
        update_rate(control, next, common, p, timely.last_rtt_ns);
        if (control.rate != flow.rate) {
            return;
        }
        const Windows trips = windows_ended(timely.last_update, seen, common.payload);
        for (std::int64_t left = trips.ended; left > 0; --left) {
            const bool settled = next.rtt_diff == timely.rtt_diff && next.stage == timely.stage;
            timely = next;
            if (settled) {
                break;
            }
            update_rate(control, next, common, p, timely.last_rtt_ns);
        }
        timely.last_update = trips.mark;
    }

    SLUICE_HD static void rescale(FlowControl& flow, State& timely, const CommonParameters& common,
                                  const Parameters&, double factor) {
        flow.rate = rescaled(flow.rate, factor, common.min_rate, flow.line_rate);
        timely.current_rate = flow.rate;
    }

    SLUICE_HD static void rewind(State& timely, std::int64_t acked, std::int64_t bytes) {
        timely.last_update = rewound(timely.last_update, acked, bytes);
    }

    /// A share regained in hyper steps, one per round trip of t_low / 2 or the base RTT.
    static Tick swing_period(const Parameters& p, const Crowd& crowd) {
        const double share = static_cast<double>(crowd.line_rate) / crowd.flows;
        const double steps = share / static_cast<double>(larger(p.hyper_rate, 1));
        const Tick trip = larger(crowd.base_rtt, p.t_low / 2);
        return static_cast<Tick>((steps < 1.0 ? 1.0 : steps) * static_cast<double>(trip));
    }
};

}  // namespace sluice::congestion::timely
