// SPDX-License-Identifier: Apache-2.0
/// Swift (Kumar et al., SIGCOMM 2020), algorithm 1: a window of `cwnd` packets that follows the round-trip time of every
/// packet, as a rate law: a window of one base bandwidth-delay product is the line rate. Where packets take several paths it
/// may be larger (FlowControl::products).
///
///   target = base_target + links x hop_scale + min(fs_range, max(0, a / sqrt(cwnd) + b))
///            a = fs_range / (1 / sqrt(fs_min_cwnd) - 1 / sqrt(fs_max_cwnd)),   b = -a / sqrt(fs_max_cwnd)
///   rtt < target:           cwnd + ai x packets / max(cwnd, 1)
///   otherwise, if it may:   cwnd x max(1 - beta (rtt - target) / rtt, 1 - max_mdf)
///   a loss, if it may:      cwnd x (1 - max_mdf);   retx_reset_threshold time-outs in a row: min_cwnd
///
/// Of sprayed packets, whose paths have delays of their own, rtt is the mean over a window of them.
///
/// It may decrease once per round trip. The paper sets that mark where cwnd <= its previous value, so that ACKs which may
/// not decrease would put the next decrease off for ever; here it is where cwnd became less.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion::swift {

struct Parameters {
    Tick base_target = 0;  ///< 0: the flow's base RTT, times FlowControl::products if above 1
    Tick hop_scale = kMicrosecond;
    Tick fs_range = 20 * kMicrosecond;
    double fs_min_cwnd = 0.1;
    double fs_max_cwnd = 100;
    double ai = 1.0;
    double beta = 0.8;
    double max_mdf = 0.5;
    double min_cwnd = 0.001;
    int retx_reset_threshold = 5;
};

struct State {
    double cwnd = 0;                  ///< packets
    Tick rtt = 0;                     ///< of the last ACK
    Tick last_decrease = kNever;      ///< kNever: none yet
    std::int64_t arrived = 0;         ///< bytes that are known to have arrived
    std::int32_t retransmit_cnt = 0;  ///< time-outs since the last ACK
    double mean_rtt = 0;              ///< ticks, of a sprayed flow: over a round trip
};
#define SLUICE_FIELDS_OF_SWIFT(FIRST, NEXT) \
    FIRST(cwnd, content)                    \
    NEXT(rtt, content)                      \
    NEXT(last_decrease, instant)            \
    NEXT(arrived, content)                  \
    NEXT(retransmit_cnt, content)           \
    NEXT(mean_rtt, content)
SLUICE_DESCRIBE(State, SLUICE_FIELDS_OF_SWIFT)

/// The delay that a window of `cwnd` packets aims at, ticks, over so many links.
SLUICE_HD inline double target_delay(const FlowControl& flow, const Parameters& p, double cwnd,
                                     int links) {
    const double least = 1 / std::sqrt(p.fs_max_cwnd);
    const auto range = static_cast<double>(p.fs_range);
    const double a = range / (1 / std::sqrt(p.fs_min_cwnd) - least);
    const double scaling = a / std::sqrt(cwnd) - a * least;
    const double bounded = scaling < 0 ? 0 : scaling > range ? range : scaling;
    // A window of several products keeps the rtt of a flow alone at as many base RTTs. No rtt is below one.
    const auto products = static_cast<double>(flow.products);
    const double base = p.base_target > 0
                            ? static_cast<double>(p.base_target)
                            : static_cast<double>(flow.base_rtt) * (products > 1 ? products : 1);
    return base + static_cast<double>(links * p.hop_scale) + bounded;
}

/// The rate that stands for the largest window. Above the line rate it paces nothing.
SLUICE_HD inline std::int64_t fastest_rate(const FlowControl& flow) {
    return truncated_rate(static_cast<double>(flow.products) * static_cast<double>(flow.line_rate));
}

/// Takes the window `cwnd`, within its bounds, at `now`, and the rate that stands for it. Less than a packet leaves every
/// rtt / cwnd.
SLUICE_HD inline void set_window(FlowControl& flow, State& swift, const CommonParameters& common,
                                 const Parameters& p, double cwnd, Tick now) {
    const auto payload = static_cast<double>(common.payload);
    const double product = bandwidth_delay_product(flow);
    const double largest = static_cast<double>(flow.products) * product;
    const double most = largest > payload ? largest / payload : 1;
    const double before = swift.cwnd;
    swift.cwnd = cwnd > most ? most : cwnd < p.min_cwnd ? p.min_cwnd : cwnd;
    if (swift.cwnd < before) {
        swift.last_decrease = now;
    }
    const std::int64_t fastest = fastest_rate(flow);
    if (swift.cwnd == most) {
        flow.rate = fastest;
        return;
    }
    const double rate =
        swift.cwnd < 1 && swift.rtt > 0
            ? swift.cwnd * payload * 8e12 / static_cast<double>(swift.rtt)
            : static_cast<double>(flow.line_rate) * (swift.cwnd * payload / product);
    flow.rate = smaller(fastest, larger(common.min_rate, truncated_rate(rate)));
}

/// Of packets that take several paths the slowest one says nothing of the others: the delay is the mean over a window.
SLUICE_HD inline double averaged_rtt(State& swift, double packets) {
    const auto rtt = static_cast<double>(swift.rtt);
    const double weight = (packets > 1 ? packets : 1) / (swift.cwnd > 1 ? swift.cwnd : 1);
    if (swift.mean_rtt == 0 || weight >= 1) {
        swift.mean_rtt = rtt;
    } else {
        swift.mean_rtt += (rtt - swift.mean_rtt) * weight;
    }
    return swift.mean_rtt;
}

/// A round trip has passed since the last decrease.
SLUICE_HD inline bool can_decrease(const State& swift, Tick now) {
    return swift.last_decrease == kNever || now - swift.last_decrease >= swift.rtt;
}

struct Hooks : LawHooks {
    static constexpr Traits traits() {
        Traits traits;
        traits.follows_delay = true;
        traits.extra_header = 8;  // the time stamp
        traits.variable_window = true;
        traits.rate_is_window = true;
        return traits;
    }

    template <class P, class Visit>
    static void describe(P& p, Visit& visit) {
        visit.time("base_target", p.base_target, 0, kSecond);
        visit.time("hop_scale", p.hop_scale, 0, kSecond);
        visit.time("fs_range", p.fs_range, 0, kSecond);
        visit.number("fs_min_cwnd", p.fs_min_cwnd, 0.001, 1e6);
        visit.number("fs_max_cwnd", p.fs_max_cwnd, 0.001, 1e6);
        visit.number("ai", p.ai, 0.0, 1e6);
        visit.number("beta", p.beta, 0.0, 1.0);
        visit.number("max_mdf", p.max_mdf, 0.0, 1.0);
        visit.number("min_cwnd", p.min_cwnd, 0.000001, 1.0);
        visit.integer("retx_reset_threshold", p.retx_reset_threshold, 1, 1'000'000);
    }

    static Conflict conflict(const Parameters& p) {
        return p.fs_min_cwnd < p.fs_max_cwnd ? Conflict{}
                                             : Conflict{"fs_min_cwnd", "must be below fs_max_cwnd"};
    }

    /// The first window is the largest.
    SLUICE_HD static void start(FlowControl& flow, State& swift, const Parameters&) {
        swift = State{};
        flow.rate = fastest_rate(flow);
    }

    SLUICE_HD static bool on_ack(FlowControl& flow, State& swift, const CommonParameters& common,
                                 const Parameters& p, const IntRates&, const Ack& ack) {
        begin(flow, swift, common);
        const std::int64_t bytes = larger(ack.arrived - swift.arrived, 0);
        swift.arrived += bytes;
        swift.rtt = ack.now - ack.sent;
        swift.retransmit_cnt = 0;
        const double target = target_delay(flow, p, swift.cwnd, ack.links);
        const double packets = static_cast<double>(bytes) / static_cast<double>(common.payload);
        const double delay =
            ack.sprayed ? averaged_rtt(swift, packets) : static_cast<double>(swift.rtt);
        double cwnd = swift.cwnd;
        if (delay < target) {
            cwnd += p.ai * packets / (cwnd < 1 ? 1 : cwnd);
        } else if (can_decrease(swift, ack.now)) {
            const double kept = 1 - p.beta * (delay - target) / delay;
            cwnd *= kept > 1 - p.max_mdf ? kept : 1 - p.max_mdf;
        }
        set_window(flow, swift, common, p, cwnd, ack.now);
        return false;
    }

    SLUICE_HD static void on_loss(FlowControl& flow, State& swift, const CommonParameters& common,
                                  const Parameters& p, const Loss& loss) {
        begin(flow, swift, common);
        swift.retransmit_cnt = loss.timed_out ? swift.retransmit_cnt + 1 : 0;
        const double cwnd = swift.retransmit_cnt >= p.retx_reset_threshold ? p.min_cwnd
                            : can_decrease(swift, loss.now) ? swift.cwnd * (1 - p.max_mdf)
                                                            : swift.cwnd;
        set_window(flow, swift, common, p, cwnd, loss.now);
    }

    SLUICE_HD static void rescale(FlowControl& flow, State& swift, const CommonParameters& common,
                                  const Parameters& p, double factor) {
        begin(flow, swift, common);
        const Tick last_decrease = swift.last_decrease;  // nothing was decided
        set_window(flow, swift, common, p, swift.cwnd * factor, 0);
        swift.last_decrease = last_decrease;
    }

    SLUICE_HD static void rewind(State& swift, std::int64_t acked, std::int64_t bytes) {
        swift.arrived = rewound(swift.arrived, acked, bytes);
    }

    /// A round trip up and one down.
    static Tick swing_period(const Parameters&, const Crowd& crowd) { return 3 * crowd.base_rtt; }

  private:
    /// A flow starts with the window of its rate: the largest, or that of a queue pair that is taken over.
    SLUICE_HD static void begin(const FlowControl& flow, State& swift,
                                const CommonParameters& common) {
        if (swift.cwnd == 0) {
            swift.cwnd = bandwidth_delay_product(flow) * static_cast<double>(flow.rate) /
                         static_cast<double>(flow.line_rate) / static_cast<double>(common.payload);
        }
    }
};

}  // namespace sluice::congestion::swift
