// SPDX-License-Identifier: Apache-2.0
/// HPCC (Li et al., SIGCOMM 2019): the sender estimates from INT how busy the busiest hop of its
/// path is, and sets its rate so that this hop is used to eta.
///
///   u_hop = tx rate / line rate + min(queue now, before) / (line rate x T)
///   u     = ((T - dt) u + dt max u_hop) / T,    dt = min(time between the records, T)
///   rate  = current x eta / u + AI   if u >= eta or max_stage additive steps were taken,
///           current + AI             otherwise, within [min_rate, line rate]
///
/// `current` moves once per round trip; the ACKs between (fast reaction) set the rate from the same
/// `current`. Order of floating-point operations, truncations and the first round trip, which only
/// records, are those of the HPCC ns-3. T and INT times are whole nanoseconds.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/int_record.h"
#include "core/congestion/types.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion::hpcc {

SLUICE_HD inline void start(State& state, const Parameters& parameters) {
    state.hpcc = HpccState{};
    state.hpcc.current_rate = state.line_rate;
    if (parameters.hpcc.multi_rate) {
        for (int i = 0; i < kMaxIntHops; ++i) {
            state.hpcc.hop_rate[i] = state.line_rate;
            state.hpcc.hop_u[i] = 1.0;
        }
    }
    state.retime = true;
}

/// T, whole nanoseconds, truncated.
SLUICE_HD inline std::int64_t base_rtt_ns(const State& state) {
    return larger(state.base_rtt / kNanosecond, 1);
}

/// The divisor of the queue term: the flow's window, or T x line rate where it has none.
SLUICE_HD inline double window_bytes(const State& state) {
    if (state.max_window > 0) {
        return static_cast<double>(state.max_window);
    }
    return static_cast<double>(state.line_rate) * static_cast<double>(base_rtt_ns(state)) / 8e9;
}

/// How busy one hop was between two of its records, `elapsed` ns apart. Two records of one instant
/// say nothing: 0.
SLUICE_HD inline double utilization(const State& state, const Parameters& parameters,
                                    const IntRates& rates, IntRecord now, IntRecord before,
                                    std::int64_t elapsed) {
    if (elapsed == 0) {
        return 0;
    }
    const int multiplier = parameters.hpcc.int_multiplier;
    const auto hop_rate = static_cast<double>(rates.bits_per_second[int_rate_index(now)]);
    const double seconds = static_cast<double>(elapsed) * 1e-9;
    const double sent_rate =
        static_cast<double>(int_bytes_delta(now, before, multiplier) * 8) / seconds;
    const double sent_share = sent_rate / hop_rate;
    const std::int64_t queue =
        smaller(int_queue_bytes(now, multiplier), int_queue_bytes(before, multiplier));
    if (queue == 0) {
        return sent_share;  // saves two divisions and changes no bit
    }
    return sent_share + static_cast<double>(queue) * static_cast<double>(state.line_rate) /
                            hop_rate / window_bytes(state);
}

/// An EWMA step of weight elapsed / T.
SLUICE_HD inline double averaged(double old, double sample, std::int64_t elapsed,
                                 std::int64_t base_rtt) {
    const std::int64_t weight = smaller(elapsed, base_rtt);
    return (old * static_cast<double>(base_rtt - weight) + sample * static_cast<double>(weight)) /
           static_cast<double>(base_rtt);
}

struct Step {
    std::int64_t rate;
    std::int32_t stage;
};

SLUICE_HD inline Step next_step(const State& state, const Parameters& parameters,
                                std::int64_t current, double u, std::int32_t stage) {
    const double excess = u / parameters.hpcc.target_utilization;
    Step step;
    if (excess >= 1 || stage >= parameters.hpcc.max_stage) {
        step.rate =
            truncated_rate(static_cast<double>(current) / excess) + parameters.hpcc.additive_rate;
        step.stage = 0;
    } else {
        step.rate = current + parameters.hpcc.additive_rate;
        step.stage = stage + 1;
    }
    step.rate = smaller(larger(step.rate, parameters.min_rate), state.line_rate);
    return step;
}

/// One rate for the path, from its busiest hop. False if no hop was heard of.
SLUICE_HD inline bool react_to_path(State& state, const Parameters& parameters,
                                    const IntRates& rates, const Ack& ack, bool full) {
    HpccState& hpcc = state.hpcc;
    double busiest = 0;
    std::int64_t busiest_elapsed = 0;
    bool heard = false;
    for (int i = 0; i < ack.hop_count; ++i) {
        const IntRecord record = ack.hops[i];
        if (parameters.hpcc.sample_feedback && !full && (record >> kIntQueueShift) == 0) {
            continue;
        }
        heard = true;
        const std::int64_t elapsed = int_time_delta(record, hpcc.hop[i]);
        const double u = utilization(state, parameters, rates, record, hpcc.hop[i], elapsed);
        if (u > busiest) {
            busiest = u;
            busiest_elapsed = elapsed;
        }
        hpcc.hop[i] = record;
    }
    if (!heard) {
        return false;
    }
    hpcc.u = averaged(hpcc.u, busiest, busiest_elapsed, base_rtt_ns(state));
    const Step step = next_step(state, parameters, hpcc.current_rate, hpcc.u, hpcc.stage);
    state.rate = step.rate;
    if (full) {
        hpcc.current_rate = step.rate;
        hpcc.stage = step.stage;
    }
    return true;
}

/// One rate per hop; the flow sends at the least of them. False if no hop was heard of.
SLUICE_HD inline bool react_per_hop(State& state, const Parameters& parameters,
                                    const IntRates& rates, const Ack& ack, bool full) {
    HpccState& hpcc = state.hpcc;
    const std::int64_t base_rtt = base_rtt_ns(state);
    std::int64_t least = state.line_rate;
    bool heard = false;
    for (int i = 0; i < ack.hop_count; ++i) {
        const IntRecord record = ack.hops[i];
        if (parameters.hpcc.sample_feedback && !full && (record >> kIntQueueShift) == 0) {
            least = smaller(least, hpcc.hop_rate[i]);
            continue;
        }
        heard = true;
        const std::int64_t elapsed = int_time_delta(record, hpcc.hop[i]);
        const double u = utilization(state, parameters, rates, record, hpcc.hop[i], elapsed);
        hpcc.hop_u[i] = averaged(hpcc.hop_u[i], u, elapsed, base_rtt);
        hpcc.hop[i] = record;
        const Step step =
            next_step(state, parameters, hpcc.hop_rate[i], hpcc.hop_u[i], hpcc.hop_stage[i]);
        least = smaller(least, step.rate);
        if (full) {
            hpcc.hop_rate[i] = step.rate;
            hpcc.hop_stage[i] = step.stage;
        }
    }
    if (!heard) {
        return false;
    }
    state.rate = least;
    if (full) {
        hpcc.current_rate = least;
    }
    return true;
}

/// True if the rate was decided anew (it may be the same).
SLUICE_HD inline bool on_ack(State& state, const Parameters& parameters, const IntRates& rates,
                             const Ack& ack) {
    HpccState& hpcc = state.hpcc;
    const bool full = ack.acked > hpcc.last_update;
    if (!full && !parameters.hpcc.fast_reaction) {
        return false;
    }
    // A path longer than the records a packet can carry gives no feedback.
    const bool readable = ack.hop_count <= kMaxIntHops;
    if (hpcc.last_update == 0) {
        hpcc.last_update = ack.next;
        for (int i = 0; readable && i < ack.hop_count; ++i) {
            hpcc.hop[i] = ack.hops[i];
        }
        return false;
    }
    bool decided = false;
    if (readable) {
        decided = parameters.hpcc.multi_rate ? react_per_hop(state, parameters, rates, ack, full)
                                             : react_to_path(state, parameters, rates, ack, full);
    }
    if (full) {
        hpcc.last_update = larger(hpcc.last_update, ack.next);
    }
    return decided;
}

}  // namespace sluice::congestion::hpcc
