// SPDX-License-Identifier: Apache-2.0
/// DCQCN (Zhu et al., SIGCOMM 2015) in the timer-driven form of Mellanox NICs, as in the HPCC ns-3:
/// echoes only set marks; three periodic timers, started by the first echo, act on them.
///
///   alpha     every alpha_interval:     alpha = (1 - g) alpha [+ g if marked]
///   decrease  every decrease_interval:  if marked, rate = rate x (1 - alpha / 2), stage = 0,
///             the target becomes the old rate if an increase came since the last decrease
///             (always under clamp_target_rate), and the increase timer starts anew
///   increase  every increase_interval:  target + 0, AI or HAI while stage is below, at or above
///             fast_recovery_stages; rate = rate / 2 + target / 2; stage + 1
///
/// Alpha updates change no rate, so they are applied when alpha is next read or marked, and
/// unmarked decrease checks are skipped over: next_timer() names only instants at which the rate
/// may change. The result is that of running every timer (tests/core/congestion/dcqcn.cpp).
///
/// Order at one instant: echo, alpha, then increase before decrease if its interval is the longer,
/// else decrease before increase (ns-3 runs the event that was scheduled first). The first
/// decrease check comes 1 ns late, so that alpha updates precede checks in whole microseconds too.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion::dcqcn {

SLUICE_HD inline void start(State& state) {
    state.dcqcn = DcqcnState{};
    state.dcqcn.target_rate = state.line_rate;
}

/// Applies the alpha updates due at or before `limit`.
SLUICE_HD inline void apply_alpha(DcqcnState& dcqcn, const DcqcnParameters& p, Tick limit) {
    if (dcqcn.alpha_due > limit) {
        return;
    }
    std::int64_t updates = (limit - dcqcn.alpha_due) / p.alpha_interval + 1;
    dcqcn.alpha_due += updates * p.alpha_interval;
    const double kept = 1 - p.gain;
    if (dcqcn.alpha_marked) {
        dcqcn.alpha = kept * dcqcn.alpha + p.gain;
        dcqcn.alpha_marked = false;
        --updates;
    }
    for (; updates > 0; --updates) {
        const double next = kept * dcqcn.alpha;
        if (next == dcqcn.alpha) {
            return;  // zero, or a denormal that rounds to itself: stays so
        }
        dcqcn.alpha = next;
    }
}

SLUICE_HD inline void on_echo(State& state, const Parameters& parameters, Tick now) {
    DcqcnState& dcqcn = state.dcqcn;
    const DcqcnParameters& p = parameters.dcqcn;
    if (!dcqcn.started) {
        dcqcn.started = true;
        dcqcn.alpha = 1.0;
        dcqcn.alpha_due = now + p.alpha_interval;
        dcqcn.decrease_due = now + p.decrease_interval + kNanosecond;
        dcqcn.decrease_marked = true;
        state.rate = truncated_rate(p.rate_on_first_cnp * static_cast<double>(state.rate));
        dcqcn.target_rate = state.rate;
        return;
    }
    apply_alpha(dcqcn, p, now - 1);  // the update at this very instant sees the mark
    dcqcn.alpha_marked = true;
    if (!dcqcn.decrease_marked) {
        dcqcn.decrease_marked = true;
        if (dcqcn.decrease_due < now) {
            const Tick late = now - dcqcn.decrease_due + p.decrease_interval - 1;
            dcqcn.decrease_due += late / p.decrease_interval * p.decrease_interval;
        }
    }
}

SLUICE_HD inline void decrease(State& state, const Parameters& parameters) {
    DcqcnState& dcqcn = state.dcqcn;
    const DcqcnParameters& p = parameters.dcqcn;
    const Tick now = dcqcn.decrease_due;
    apply_alpha(dcqcn, p, now);
    if (p.clamp_target_rate || dcqcn.stage != 0) {
        dcqcn.target_rate = state.rate;
    }
    const double kept = static_cast<double>(state.rate) * (1 - dcqcn.alpha / 2);
    state.rate = larger(parameters.min_rate, truncated_rate(kept));
    dcqcn.stage = 0;
    dcqcn.decrease_marked = false;
    dcqcn.decrease_due = now + p.decrease_interval;
    dcqcn.increase_due = now + p.increase_interval;
}

SLUICE_HD inline void increase(State& state, const Parameters& parameters) {
    DcqcnState& dcqcn = state.dcqcn;
    const DcqcnParameters& p = parameters.dcqcn;
    if (dcqcn.stage >= p.fast_recovery_stages) {
        const std::int64_t step =
            dcqcn.stage == p.fast_recovery_stages ? p.additive_rate : p.hyper_rate;
        dcqcn.target_rate = smaller(dcqcn.target_rate + step, state.line_rate);
    }
    const std::int64_t before = state.rate;
    state.rate = before / 2 + dcqcn.target_rate / 2;
    dcqcn.stage = dcqcn.stage <= p.fast_recovery_stages ? dcqcn.stage + 1 : dcqcn.stage;
    // Recovered: no later increase changes anything, and a decrease starts the timer anew.
    const bool recovered = dcqcn.target_rate == state.line_rate && state.rate == before;
    dcqcn.increase_due = recovered ? kNever : dcqcn.increase_due + p.increase_interval;
}

SLUICE_HD inline Tick next_timer(const State& state) {
    const DcqcnState& dcqcn = state.dcqcn;
    const Tick check = dcqcn.decrease_marked ? dcqcn.decrease_due : kNever;
    return smaller(check, dcqcn.increase_due);
}

SLUICE_HD inline void on_timer(State& state, const Parameters& parameters, Tick now) {
    const DcqcnParameters& p = parameters.dcqcn;
    const bool increase_first = p.increase_interval > p.decrease_interval;
    for (Tick due = next_timer(state); due <= now && due != kNever; due = next_timer(state)) {
        const bool check_due = state.dcqcn.decrease_marked && state.dcqcn.decrease_due == due;
        const bool increase_due = state.dcqcn.increase_due == due;
        if (increase_due && (increase_first || !check_due)) {
            increase(state, parameters);
        } else {
            decrease(state, parameters);
        }
    }
}

SLUICE_HD inline void shift(State& state, Tick dt) {
    DcqcnState& dcqcn = state.dcqcn;
    for (Tick* due : {&dcqcn.alpha_due, &dcqcn.decrease_due, &dcqcn.increase_due}) {
        if (*due != kNever) {
            *due += dt;
        }
    }
}

/// The increase timer is the slowest to act in any sensible setting; all three bound what a
/// detector must have seen.
SLUICE_HD inline Tick slowest_period(const DcqcnParameters& p) {
    return larger(p.increase_interval, larger(p.decrease_interval, p.alpha_interval));
}

}  // namespace sluice::congestion::dcqcn
