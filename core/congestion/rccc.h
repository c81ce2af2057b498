// SPDX-License-Identifier: Apache-2.0
/// RCCC, the receiver-credit congestion control of Ultra Ethernet (UEC 1.0). A packet costs its sender a credit, and the
/// receiver gives credits out, to one flow after the other, at a little less than the rate of its link. So it is the last link
/// that RCCC keeps from congestion. Here are its parameters and its arithmetic; core/packet/credits.h is what NICs do.
///
///   first credits: maxwnd bandwidth-delay products, gone with the first answer that comes back
///   a sender asks for  min(what it has to send, maxwnd products) - its credits,  in each data packet
///   a receiver gives   packets_per_pull credits at a time, every packets_per_pull frames / (pull_rate x link rate)
///
/// The sender's rate is its link's, and it has no window.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion::rccc {

struct Parameters {
    Tick base_rtt = 0;        ///< 0: the flow's
    double maxwnd = 1.5;      ///< bandwidth-delay products
    double pull_rate = 0.99;  ///< of the receiver's link
    int packets_per_pull = 4;
};

/// Credits are of the flow (Credit in core/packet/flow_state.h), not of the law at its sender.
struct State {};
SLUICE_DESCRIBE_EMPTY(State)

/// Credits that a flow may have at most, in packets of `frame` bytes on the wire, rounded up. Packets name them by 14 bits, so that at
/// most half of those may be on their way.
SLUICE_HD inline std::uint32_t most_credits(const Parameters& p, std::int64_t line_rate,
                                            Tick base_rtt, std::int64_t frame) {
    constexpr std::int64_t kMost = 8191;
    const auto trip = static_cast<double>(p.base_rtt > 0 ? p.base_rtt : base_rtt);
    const double bytes = p.maxwnd * (static_cast<double>(line_rate) * trip / 8e12);
    const auto packets = (static_cast<std::int64_t>(bytes) + frame - 1) / frame;
    return static_cast<std::uint32_t>(smaller(larger(packets, 1), kMost));
}

/// Time that a receiver lets pass after it has given `credits`.
SLUICE_HD inline Tick pull_gap(const Parameters& p, std::uint32_t credits, std::int64_t frame,
                               std::int64_t line_rate) {
    const double bits = 8.0 * static_cast<double>(frame) * credits;
    return larger(static_cast<Tick>(bits * 1e12 / (p.pull_rate * static_cast<double>(line_rate))),
                  1);
}

struct Hooks : LawHooks {
    static constexpr Traits traits() {
        Traits traits;
        traits.window = false;
        traits.credits = true;
        return traits;
    }

    template <class P, class Visit>
    static void describe(P& p, Visit& visit) {
        visit.time("base_rtt", p.base_rtt, 0, kSecond);
        visit.number("maxwnd", p.maxwnd, 0.1, 16.0);
        visit.number("pull_rate", p.pull_rate, 0.01, 1.0);
        visit.integer("packets_per_pull", p.packets_per_pull, 1, 64);
    }
};

}  // namespace sluice::congestion::rccc
