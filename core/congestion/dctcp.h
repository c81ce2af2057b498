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
    bool reduced = false;  ///< in CWR
};

SLUICE_HD inline void update_alpha(State& dctcp, const CommonParameters& common,
                                   const Parameters& p, const Ack& ack) {
    if (dctcp.last_update == 0) {
        dctcp.batch = ack.next / common.payload + 1;
    } else {
        const double share = static_cast<double>(dctcp.marked) / static_cast<double>(dctcp.batch);
        const double fraction = share < 1.0 ? share : 1.0;
        dctcp.alpha = (1 - p.gain) * dctcp.alpha + p.gain * fraction;
        dctcp.marked = 0;
        // An ACK from before a go-back may lie beyond the rewound snd_nxt: nothing is in flight.
        dctcp.batch = larger(ack.next - ack.acked, 0) / common.payload + 1;
    }
    dctcp.last_update = ack.next;
}

struct Hooks : LawHooks {
    static constexpr Traits traits() {
        Traits traits;
        traits.reacts_to_marks = true;
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
        dctcp.marked += ack.echo ? 1 : 0;
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
