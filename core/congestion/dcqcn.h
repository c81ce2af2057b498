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

struct Parameters {
    Tick alpha_interval = 1 * kMicrosecond;
    Tick decrease_interval = 4 * kMicrosecond;
    Tick increase_interval = 300 * kMicrosecond;
    double gain = 1.0 / 256;
    int fast_recovery_stages = 1;
    std::int64_t additive_rate = 20'000'000;
    std::int64_t hyper_rate = 200'000'000;
    bool clamp_target_rate = false;
    double rate_on_first_cnp = 1.0;
};

struct State {
    std::int64_t target_rate = 0;
    double alpha = 1.0;
    Tick alpha_due = kNever;     ///< next alpha update; applied lazily
    Tick decrease_due = kNever;  ///< next decrease check; may lie in the past while unmarked
    Tick increase_due = kNever;
    std::int64_t echoes = 0;
    std::int32_t stage = 0;
    bool alpha_marked = false;     ///< an echo arrived since the last alpha update
    bool decrease_marked = false;  ///< an echo arrived since the last decrease check
    bool started = false;          ///< the first echo has been seen
};
#define SLUICE_FIELDS_OF_DCQCN(FIRST, NEXT) \
    FIRST(target_rate, content)             \
    NEXT(alpha, content)                    \
    NEXT(alpha_due, instant)                \
    NEXT(decrease_due, instant)             \
    NEXT(increase_due, instant)             \
    NEXT(echoes, content)                   \
    NEXT(stage, content)                    \
    NEXT(alpha_marked, content)             \
    NEXT(decrease_marked, content)          \
    NEXT(started, content)
SLUICE_DESCRIBE(State, SLUICE_FIELDS_OF_DCQCN)

/// Applies the alpha updates due at or before `limit`.
SLUICE_HD inline void apply_alpha(State& dcqcn, const Parameters& p, Tick limit) {
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

SLUICE_HD inline void on_echo(FlowControl& flow, State& dcqcn, const Parameters& p, Tick now) {
    if (!dcqcn.started) {
        dcqcn.started = true;
        dcqcn.alpha = 1.0;
        dcqcn.alpha_due = now + p.alpha_interval;
        dcqcn.decrease_due = now + p.decrease_interval + kNanosecond;
        dcqcn.decrease_marked = true;
        flow.rate = truncated_rate(p.rate_on_first_cnp * static_cast<double>(flow.rate));
        dcqcn.target_rate = flow.rate;
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

SLUICE_HD inline void decrease(FlowControl& flow, State& dcqcn, const CommonParameters& common,
                               const Parameters& p) {
    const Tick now = dcqcn.decrease_due;
    apply_alpha(dcqcn, p, now);
    if (p.clamp_target_rate || dcqcn.stage != 0) {
        dcqcn.target_rate = flow.rate;
    }
    const double kept = static_cast<double>(flow.rate) * (1 - dcqcn.alpha / 2);
    flow.rate = larger(common.min_rate, truncated_rate(kept));
    dcqcn.stage = 0;
    dcqcn.decrease_marked = false;
    dcqcn.decrease_due = now + p.decrease_interval;
    dcqcn.increase_due = now + p.increase_interval;
}

SLUICE_HD inline void increase(FlowControl& flow, State& dcqcn, const Parameters& p) {
    if (dcqcn.stage >= p.fast_recovery_stages) {
        const std::int64_t step =
            dcqcn.stage == p.fast_recovery_stages ? p.additive_rate : p.hyper_rate;
        dcqcn.target_rate = smaller(dcqcn.target_rate + step, flow.line_rate);
    }
    const std::int64_t before = flow.rate;
    flow.rate = before / 2 + dcqcn.target_rate / 2;
    dcqcn.stage = dcqcn.stage <= p.fast_recovery_stages ? dcqcn.stage + 1 : dcqcn.stage;
    // Recovered: no later increase changes anything, and a decrease starts the timer anew.
    const bool recovered = dcqcn.target_rate == flow.line_rate && flow.rate == before;
    dcqcn.increase_due = recovered ? kNever : dcqcn.increase_due + p.increase_interval;
}

struct Hooks : LawHooks {
    static constexpr Traits traits() {
        Traits traits;
        traits.reacts_to_marks = true;
        traits.window = false;
        return traits;
    }

    template <class P, class Visit>
    static void describe(P& p, Visit& visit) {
        visit.time("alpha_interval", p.alpha_interval, kNanosecond, kSecond);
        visit.time("decrease_interval", p.decrease_interval, kNanosecond, kSecond);
        visit.time("increase_interval", p.increase_interval, kNanosecond, kSecond);
        visit.number("gain", p.gain, 0.0, 1.0);
        visit.integer("fast_recovery_stages", p.fast_recovery_stages, 0, 1'000'000);
        visit.rate("additive_rate", p.additive_rate);
        visit.rate("hyper_rate", p.hyper_rate);
        visit.flag("clamp_target_rate", p.clamp_target_rate);
        visit.number("rate_on_first_cnp", p.rate_on_first_cnp, 0.001, 1.0);
    }

    static void scale_to(Parameters& p, std::int64_t line_rate) {
        p.additive_rate = in_proportion(p.additive_rate, line_rate);
        p.hyper_rate = in_proportion(p.hyper_rate, line_rate);
    }

    SLUICE_HD static void start(FlowControl& flow, State& dcqcn, const Parameters&) {
        dcqcn = State{};
        dcqcn.target_rate = flow.line_rate;
    }

    SLUICE_HD static bool on_ack(FlowControl& flow, State& dcqcn, const CommonParameters&,
                                 const Parameters& p, const IntRates&, const Ack& ack) {
        if (ack.echo) {
            dcqcn.echoes += ack.packets;
            on_echo(flow, dcqcn, p, ack.now);
        }
        return false;
    }

    SLUICE_HD static Tick next_timer(const State& dcqcn) {
        const Tick check = dcqcn.decrease_marked ? dcqcn.decrease_due : kNever;
        return smaller(check, dcqcn.increase_due);
    }

    SLUICE_HD static void on_timer(FlowControl& flow, State& dcqcn, const CommonParameters& common,
                                   const Parameters& p, Tick now) {
        const bool increase_first = p.increase_interval > p.decrease_interval;
        for (Tick due = next_timer(dcqcn); due <= now && due != kNever; due = next_timer(dcqcn)) {
            const bool check_due = dcqcn.decrease_marked && dcqcn.decrease_due == due;
            const bool increase_due = dcqcn.increase_due == due;
            if (increase_due && (increase_first || !check_due)) {
                increase(flow, dcqcn, p);
            } else {
                decrease(flow, dcqcn, common, p);
            }
        }
    }

    /// Without an echo the timers are all there is, and they ran on: they go back to their instants,
    /// and what was due meanwhile is done. With echoes the phase is a sawtooth, whose queue stands
    /// still: timers, stage and alpha, which swings with it, go on from where they are in it.
    SLUICE_HD static void advance(FlowControl& flow, State& dcqcn, const CommonParameters& common,
                                  const Parameters& p, Tick dt, const Observed& seen) {
        if (seen.marked > 0 || dcqcn.decrease_marked) {
            return;
        }
        shift_fields(dcqcn, -dt);
        on_timer(flow, dcqcn, common, p, seen.until - 1);
    }

    /// A flow without an increase to come has recovered: it is at line rate, and no share holds it.
    SLUICE_HD static void rescale(FlowControl& flow, State& dcqcn, const CommonParameters& common,
                                  const Parameters&, double factor) {
        if (dcqcn.increase_due == kNever) {
            return;
        }
        flow.rate = rescaled(flow.rate, factor, common.min_rate, flow.line_rate);
        dcqcn.target_rate = rescaled(dcqcn.target_rate, factor, flow.rate, flow.line_rate);
    }

    /// Alpha is between what the first mark sets and where it goes without.
    SLUICE_HD static void settle_in(const FlowControl&, State& dcqcn, const Parameters& p,
                                    Tick now) {
        dcqcn.started = true;
        dcqcn.alpha = 0.5;
        dcqcn.alpha_due = now + p.alpha_interval;
        dcqcn.decrease_due = now + p.decrease_interval;
        dcqcn.increase_due = now + p.increase_interval;
    }

    SLUICE_HD static std::int64_t echoes(const State& dcqcn) { return dcqcn.echoes; }

    /// The increase timer is the slowest to act in any sensible setting; all three bound what a
    /// detector must have seen.
    SLUICE_HD static Tick slowest_period(const Parameters& p) {
        return larger(p.increase_interval, larger(p.decrease_interval, p.alpha_interval));
    }

    /// Five increase timers: each halves what the last decrease took.
    static Tick swing_period(const Parameters& p, const Crowd&) {
        constexpr Tick kRecoverySteps = 5;
        return kRecoverySteps * slowest_period(p);
    }
};

}  // namespace sluice::congestion::dcqcn
