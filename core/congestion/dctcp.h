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

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/hd.h"

namespace sluice::congestion::dctcp {

SLUICE_HD inline void start(State& state) { state.dctcp = DctcpState{}; }

SLUICE_HD inline void update_alpha(DctcpState& dctcp, const Parameters& parameters,
                                   const Ack& ack) {
    if (dctcp.last_update == 0) {
        dctcp.batch = ack.next / parameters.payload + 1;
    } else {
        const double share = static_cast<double>(dctcp.marked) / static_cast<double>(dctcp.batch);
        const double fraction = share < 1.0 ? share : 1.0;
        const double gain = parameters.dctcp.gain;
        dctcp.alpha = (1 - gain) * dctcp.alpha + gain * fraction;
        dctcp.marked = 0;
        // An ACK from before a go-back may lie beyond the rewound snd_nxt: nothing is in flight.
        dctcp.batch = larger(ack.next - ack.acked, 0) / parameters.payload + 1;
    }
    dctcp.last_update = ack.next;
}

SLUICE_HD inline void on_ack(State& state, const Parameters& parameters, const Ack& ack) {
    DctcpState& dctcp = state.dctcp;
    dctcp.marked += ack.echo ? 1 : 0;
    const bool new_window = ack.acked > dctcp.last_update;
    if (new_window) {
        update_alpha(dctcp, parameters, ack);
    }
    if (dctcp.reduced && ack.acked > dctcp.high_seq) {
        dctcp.reduced = false;
    }
    if (ack.echo && !dctcp.reduced) {
        const double kept = static_cast<double>(state.rate) * (1 - dctcp.alpha / 2);
        state.rate = larger(parameters.min_rate, truncated_rate(kept));
        dctcp.reduced = true;
        dctcp.high_seq = ack.next;
    }
    if (new_window && !dctcp.reduced) {
        state.rate = smaller(state.line_rate, state.rate + parameters.dctcp.additive_rate);
    }
}

}  // namespace sluice::congestion::dctcp
