// SPDX-License-Identifier: Apache-2.0
/// DCTCP (Alizadeh et al., SIGCOMM 2010), rate-based as in the HPCC ns-3: alpha estimates the share
/// of marked ACKs per window; a window with a mark cuts the rate once by alpha / 2, a window
/// without one adds a step.
///
///   alpha = (1 - g) alpha + g min(1, marked ACKs / packets of the window)    once per window
///   rate  = rate x (1 - alpha / 2)    on a mark, when the last cut's window is acknowledged
///   rate  = rate + AI                 once per window, outside a cut's window
///
/// The window here is the bytes sent by the previous update (snd_nxt), not the bound on flight.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/congestion/windows.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion::dctcp {

struct Parameters {
    double gain = 1.0 / 16;
    std::int64_t additive_rate = 615'000'000;
};

struct State {
    double alpha = 1.0;
    std::int64_t last_update = 0;
    std::int64_t high_seq = 0;
    std::int64_t marked = 0;
    std::int64_t batch = 0;
    std::int64_t marked_before = 0;  ///< marked ACKs of all windows before
    bool reduced = false;            ///< in CWR
};
#define SLUICE_FIELDS_OF_DCTCP(FIRST, NEXT) \
    FIRST(alpha, content)                   \
    NEXT(last_update, content)              \
    NEXT(high_seq, content)                 \
    NEXT(marked, content)                   \
    NEXT(batch, content)                    \
    NEXT(marked_before, content)            \
    NEXT(reduced, content)
SLUICE_DESCRIBE(State, SLUICE_FIELDS_OF_DCTCP)

SLUICE_HD inline void update_alpha(State& dctcp, const CommonParameters& common,
                                   const Parameters& p, const Ack& ack) {
    if (dctcp.last_update == 0) {
        dctcp.batch = ack.next / common.payload + 1;
    } else {
        const double share = static_cast<double>(dctcp.marked) / static_cast<double>(dctcp.batch);
        const double fraction = share < 1.0 ? share : 1.0;
        dctcp.alpha = (1 - p.gain) * dctcp.alpha + p.gain * fraction;
        dctcp.marked_before += dctcp.marked;
        dctcp.marked = 0;
        // An ACK from before a go-back may lie beyond the rewound snd_nxt: nothing is in flight.
        dctcp.batch = larger(ack.next - ack.acked, 0) / common.payload + 1;
    }
    dctcp.last_update = ack.next;
}

/// A phase without a mark: every window of it takes its part of alpha and, outside a cut's window, adds
/// a step, as if packets had been acknowledged.
SLUICE_HD inline void advance_unmarked(FlowControl& flow, State& dctcp,
                                       const CommonParameters& common, const Parameters& p,
                                       const Observed& seen) {
    const Windows windows = windows_ended(dctcp.last_update, seen, common.payload);
    // Bytes acknowledged when the window ends that is being counted.
    std::int64_t acked = larger(dctcp.last_update, seen.acked) + common.payload;
    for (std::int64_t left = windows.ended; left > 0; --left) {
        const double share = static_cast<double>(dctcp.marked) / static_cast<double>(dctcp.batch);
        const double alpha = (1 - p.gain) * dctcp.alpha + p.gain * (share < 1.0 ? share : 1.0);
        dctcp.reduced = dctcp.reduced && acked <= dctcp.high_seq;
        const std::int64_t rate =
            dctcp.reduced ? flow.rate : smaller(flow.line_rate, flow.rate + p.additive_rate);
        dctcp.marked_before += dctcp.marked;
        dctcp.marked = 0;
        dctcp.batch = seen.flight / common.payload + 1;
        if (share == 0 && alpha == dctcp.alpha && rate == flow.rate && !dctcp.reduced) {
            break;  // so it stays: at line rate, with an alpha that rounds to itself
        }
        dctcp.alpha = alpha;
        flow.rate = rate;
        acked += dctcp.batch * common.payload;
    }
    const std::int64_t skipped = seen.packets * common.payload;
    dctcp.reduced = dctcp.reduced && seen.acked + skipped <= dctcp.high_seq;
    dctcp.high_seq -= skipped;
    dctcp.last_update = windows.mark;
}

/// Alpha after a window in which all packets are marked, if that is one window in `windows`; between two
/// of them it falls to as much x (1 - g)^(windows - 1).
SLUICE_HD inline double swing_top(double gain, std::int64_t windows) {
    double kept = 1;
    for (std::int64_t i = 0; i < windows && kept > 1e-3; ++i) {
        kept *= 1 - gain;
    }
    return gain / (1 - kept);
}

/// A phase with marks is a sawtooth: its rate, its queue and where in it a cut's window lies belong
/// together and stand still together, and so does alpha within the widest swing that the share of
/// marks allows, which is one window marked as a whole in 1 / share. From beyond it comes as near as the
/// windows bring it.
SLUICE_HD inline void advance_marked(State& dctcp, const CommonParameters& common,
                                     const Parameters& p, const Observed& seen) {
    if (!(p.gain > 0)) {
        return;
    }
    constexpr double kLongest = 1e6;  // windows
    const double between = seen.marked * kLongest > 1 ? 1 / seen.marked : kLongest;
    const std::int64_t whole = larger(static_cast<std::int64_t>(between), 1);
    const double most = swing_top(p.gain, whole);
    double least = swing_top(p.gain, whole + 1);
    for (std::int64_t i = 0; i < whole && least > 0; ++i) {
        least *= 1 - p.gain;
    }
    const double bound = dctcp.alpha > most ? most : dctcp.alpha < least ? least : dctcp.alpha;
    double beyond = dctcp.alpha - bound;
    const Windows windows = windows_ended(dctcp.last_update, seen, common.payload);
    for (std::int64_t left = windows.ended; left > 0 && beyond != beyond * (1 - p.gain); --left) {
        beyond *= 1 - p.gain;
    }
    dctcp.alpha = bound + beyond;
}

struct Hooks : LawHooks {
    static constexpr Traits traits() {
        Traits traits;
        traits.reacts_to_marks = true;
        traits.weighs_marks = true;
        traits.variable_window = true;
        traits.ecn_kmin = traits.ecn_kmax = 300'000;  // one threshold, certain above it
        traits.ecn_pmax = 1.0;
        return traits;
    }

    template <class P, class Visit>
    static void describe(P& p, Visit& visit) {
        visit.number("gain", p.gain, 0.0, 1.0);
        visit.rate("additive_rate", p.additive_rate);
    }

    SLUICE_HD static bool on_ack(FlowControl& flow, State& dctcp, const CommonParameters& common,
                                 const Parameters& p, const IntRates&, const Ack& ack) {
        dctcp.marked += ack.echo ? ack.packets : 0;
        const bool new_window = ack.acked > dctcp.last_update;
        if (new_window) {
            update_alpha(dctcp, common, p, ack);
        }
        if (dctcp.reduced && ack.acked > dctcp.high_seq) {
            dctcp.reduced = false;
        }
        if (ack.echo && !dctcp.reduced) {
            const double kept = static_cast<double>(flow.rate) * (1 - dctcp.alpha / 2);
            flow.rate = larger(common.min_rate, truncated_rate(kept));
            dctcp.reduced = true;
            dctcp.high_seq = ack.next;
        }
        if (new_window && !dctcp.reduced) {
            flow.rate = smaller(flow.line_rate, flow.rate + p.additive_rate);
        }
        return false;
    }

    SLUICE_HD static void advance(FlowControl& flow, State& dctcp, const CommonParameters& common,
                                  const Parameters& p, Tick, const Observed& seen) {
        if (dctcp.last_update == 0) {
            return;  // not one ACK yet
        }
        if (seen.marked > 0) {
            advance_marked(dctcp, common, p, seen);
        } else {
            advance_unmarked(flow, dctcp, common, p, seen);
        }
    }

    SLUICE_HD static void rescale(FlowControl& flow, State&, const CommonParameters& common,
                                  const Parameters&, double factor) {
        flow.rate = rescaled(flow.rate, factor, common.min_rate, flow.line_rate);
    }

    SLUICE_HD static std::int64_t echoes(const State& dctcp) {
        return dctcp.marked_before + dctcp.marked;
    }

    SLUICE_HD static void rewind(State& dctcp, std::int64_t acked, std::int64_t bytes) {
        dctcp.last_update = rewound(dctcp.last_update, acked, bytes);
        dctcp.high_seq = rewound(dctcp.high_seq, acked, bytes);
    }

    /// sqrt(4 C RTT / (7 N)) round trips (Wormhole eq. 24).
    static Tick swing_period(const Parameters&, const Crowd& crowd) {
        const double trips = std::sqrt(4 * crowd.bdp_packets / (7 * crowd.flows));
        return static_cast<Tick>((trips < 1.0 ? 1.0 : trips) * static_cast<double>(crowd.base_rtt));
    }
};

}  // namespace sluice::congestion::dctcp
