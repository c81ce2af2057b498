// SPDX-License-Identifier: Apache-2.0
/// NSCC, the network-signalled congestion control of Ultra Ethernet (UEC 1.0): a window of `cwnd` bytes that follows the
/// marks and the delays of ACKs together. As a rate law: a window of one bandwidth-delay product of the flow's base RTT is the
/// line rate, and a larger one is a rate above it. Nothing is paced by it: the window is all there is, and packets leave only
/// if all of them fits.
///
///   delay = rtt - the smallest rtt so far, at most base_rtt; avg_delay: its average, with the weight delay_alpha
///   no mark, delay >= target_qdelay:  inc + fi x bytes                                      fair increase
///   no mark, delay < target_qdelay:   inc + alpha x bytes x (target_qdelay - delay)         proportional increase; or,
///       after a window whose delays were below 1 us, cwnd + fi_scale x bytes at once        fast increase
///   mark, delay >= target_qdelay:     cwnd x max(1 - gamma (avg_delay - target_qdelay) / avg_delay, max_md),
///                                     once per base RTT, if avg_delay is above the target   multiplicative decrease
///   mark, delay < target_qdelay:      nothing
///   every adjust_bytes packets or base_rtt:  cwnd + inc / cwnd;  after a base_rtt + eta, too
///   b bytes lost, or timed out:       cwnd - b
///   quick adapt: what arrived in the last rtt and target_qdelay is less than maxwnd / 2^qa_gate, and something was
///       lost or the delay is above qa_threshold targets: cwnd is what arrived; signals of what is in flight are ignored
///
/// fi, alpha, eta and fi_scale grow with the bandwidth-delay product over that of 100 Gb/s and 12 us.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/types.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion::nscc {

struct Parameters {
    Tick base_rtt = 0;       ///< 0: the flow's
    Tick target_qdelay = 0;  ///< 0: base_rtt
    double maxwnd = 1.5;     ///< bandwidth-delay products
    double alpha = 4.0;
    double fi = 5.0;
    double fi_scale = 0.25;
    double eta = 0.15;
    double gamma = 0.8;
    double max_md = 0.5;
    double delay_alpha = 0.0125;
    int qa_gate = 3;
    double qa_threshold = 4;
    int adjust_bytes = 8;  ///< packets
};

struct State {
    double cwnd = 0;       ///< bytes; 0: not begun
    double inc = 0;        ///< bytes x bytes
    double avg_delay = 0;  ///< ticks
    Tick base = 0;         ///< the smallest rtt so far, at most base_rtt
    std::int64_t arrived = 0;
    std::int64_t received = 0;     ///< bytes since the last adjustment
    std::int64_t achieved = 0;     ///< bytes since quick adapt was last asked
    std::int64_t ignored = 0;      ///< bytes since quick adapt, of `to_ignore`
    std::int64_t to_ignore = 0;    ///< bytes that were in flight then
    std::int64_t uncongested = 0;  ///< bytes in a row whose delays were below 1 us
    Tick asks = kNever;            ///< quick adapt is asked again after
    Tick last_decrease = kNever;
    Tick last_adjust = kNever;
    bool increases = false;  ///< fast
    bool lost = false;       ///< something, since quick adapt was last asked
};
#define SLUICE_FIELDS_OF_NSCC(FIRST, NEXT) \
    FIRST(cwnd, content)                   \
    NEXT(inc, content)                     \
    NEXT(avg_delay, content)               \
    NEXT(base, content)                    \
    NEXT(arrived, content)                 \
    NEXT(received, content)                \
    NEXT(achieved, content)                \
    NEXT(ignored, content)                 \
    NEXT(to_ignore, content)               \
    NEXT(uncongested, content)             \
    NEXT(asks, instant)                    \
    NEXT(last_decrease, instant)           \
    NEXT(last_adjust, instant)             \
    NEXT(increases, content)               \
    NEXT(lost, content)
SLUICE_DESCRIBE(State, SLUICE_FIELDS_OF_NSCC)

/// What a flow's law is measured in.
struct Scale {
    double line = 1;    ///< bytes of the window that stands for the line rate
    double most = 1;    ///< largest window, bytes
    double least = 1;   ///< smallest: a packet
    double factor = 1;  ///< of the bandwidth-delay product over that of 100 Gb/s and 12 us
    double target = 1;  ///< ticks
    double period = 1;  ///< base_rtt, ticks
};

SLUICE_HD inline Tick base_rtt_of(const FlowControl& flow, const Parameters& p) {
    return larger(p.base_rtt > 0 ? p.base_rtt : flow.base_rtt, 1);
}

/// Bandwidth-delay product of the NIC's rate, bytes. The flow's window is that of its path's slowest link (FlowControl).
SLUICE_HD inline double product_of(const FlowControl& flow, Tick rtt) {
    return static_cast<double>(flow.line_rate) * static_cast<double>(rtt) / 8e12;
}

SLUICE_HD inline Scale scale_of(const FlowControl& flow, const State& nscc,
                                const CommonParameters& common, const Parameters& p) {
    constexpr double kReferenceProduct = 150'000;
    Scale scale;
    scale.period = static_cast<double>(base_rtt_of(flow, p));
    scale.line = bandwidth_delay_product(flow);
    scale.least = static_cast<double>(common.payload);
    const double most = p.maxwnd * product_of(flow, nscc.base);
    scale.most = most > scale.least ? most : scale.least;
    scale.factor = product_of(flow, base_rtt_of(flow, p)) / kReferenceProduct;
    scale.target = p.target_qdelay > 0 ? static_cast<double>(p.target_qdelay) : scale.period;
    return scale;
}

/// The window within its bounds, and the rate that stands for it.
SLUICE_HD inline void set_window(FlowControl& flow, State& nscc, const CommonParameters& common,
                                 const Scale& scale, double cwnd) {
    nscc.cwnd = cwnd < scale.least ? scale.least : cwnd > scale.most ? scale.most : cwnd;
    // Half a byte more, so that windows of whole packets survive the truncations on the way back.
    const double rate = static_cast<double>(flow.line_rate) * ((nscc.cwnd + 0.5) / scale.line);
    flow.rate = larger(common.min_rate, truncated_rate(rate));
}

SLUICE_HD inline void average(State& nscc, const Parameters& p, const Scale& scale, double delay,
                              bool marked) {
    // Long delays without a mark are another path's, or a burst's: they count as short.
    const double sample =
        !marked && delay > scale.target ? static_cast<double>(nscc.base) * 0.25 : delay;
    nscc.avg_delay = p.delay_alpha * sample + (1 - p.delay_alpha) * nscc.avg_delay;
}

/// Takes the window down to what arrived, if that is far less. True if what was in flight then is still to be ignored.
SLUICE_HD inline bool quick_adapt(FlowControl& flow, State& nscc, const CommonParameters& common,
                                  const Parameters& p, const Scale& scale, Tick now,
                                  std::int64_t flight, double delay, bool marked) {
    bool ignores = nscc.ignored < nscc.to_ignore && marked;
    if (!ignores && (nscc.asks == kNever || now > nscc.asks)) {
        const double gate = scale.most / static_cast<double>(std::int64_t{1} << p.qa_gate);
        if (nscc.asks != kNever && (nscc.lost || delay > p.qa_threshold * scale.target) &&
            static_cast<double>(nscc.achieved) < gate) {
            set_window(flow, nscc, common, scale, static_cast<double>(nscc.achieved));
            nscc.to_ignore = flight;
            nscc.ignored = 0;
            nscc.lost = false;
            ignores = true;
        }
        nscc.achieved = 0;
        nscc.asks = now + nscc.base + static_cast<Tick>(scale.target);
    }
    if (ignores) {
        nscc.inc = 0;
        nscc.received = 0;
    }
    return ignores;
}

/// The window after unmarked bytes with a delay below the target.
SLUICE_HD inline double increased(State& nscc, const Parameters& p, const Scale& scale,
                                  double bytes, double delay) {
    constexpr double kReferenceRtt = 12.0 * kMicrosecond;
    nscc.uncongested =
        delay < kMicrosecond ? nscc.uncongested + static_cast<std::int64_t>(bytes) : 0;
    nscc.increases = delay < kMicrosecond &&
                     (nscc.increases || static_cast<double>(nscc.uncongested) > nscc.cwnd);
    if (nscc.increases) {
        return nscc.cwnd + bytes * p.fi_scale * scale.factor;
    }
    const double alpha = p.alpha * scale.least * scale.factor / kReferenceRtt;
    nscc.inc += alpha * bytes * (scale.target - delay);
    return nscc.cwnd;
}

struct Hooks : LawHooks {
    static constexpr Traits traits() {
        Traits traits;
        traits.follows_delay = true;
        traits.reacts_to_marks = true;
        traits.variable_window = true;
        traits.pacing = false;
        traits.whole_packets = true;
        traits.rate_is_window = true;
        return traits;
    }

    template <class P, class Visit>
    static void describe(P& p, Visit& visit) {
        visit.time("base_rtt", p.base_rtt, 0, kSecond);
        visit.time("target_qdelay", p.target_qdelay, 0, kSecond);
        visit.number("maxwnd", p.maxwnd, 0.1, 16.0);
        visit.number("alpha", p.alpha, 0.0, 1000.0);
        visit.number("fi", p.fi, 0.0, 1000.0);
        visit.number("fi_scale", p.fi_scale, 0.0, 1000.0);
        visit.number("eta", p.eta, 0.0, 1000.0);
        visit.number("gamma", p.gamma, 0.0, 1.0);
        visit.number("max_md", p.max_md, 0.0, 1.0);
        visit.number("delay_alpha", p.delay_alpha, 0.0, 1.0);
        visit.integer("qa_gate", p.qa_gate, 0, 16);
        visit.number("qa_threshold", p.qa_threshold, 0.0, 1000.0);
        visit.integer("adjust_bytes", p.adjust_bytes, 1, 1'000'000);
    }

    /// The first window is the largest.
    SLUICE_HD static void start(FlowControl& flow, State& nscc, const Parameters& p) {
        nscc = State{};
        nscc.base = base_rtt_of(flow, p);
        const double window = p.maxwnd * product_of(flow, nscc.base);
        flow.rate = larger(truncated_rate(static_cast<double>(flow.line_rate) *
                                          (window / bandwidth_delay_product(flow))),
                           1);
    }

    SLUICE_HD static bool on_ack(FlowControl& flow, State& nscc, const CommonParameters& common,
                                 const Parameters& p, const IntRates&, const Ack& ack) {
        const Tick rtt = ack.now - ack.sent;
        nscc.base = ack.nack ? nscc.base : larger(smaller(nscc.base, rtt), 1);
        const Scale scale = scale_of(flow, nscc, common, p);
        begin(flow, nscc, scale);
        const std::int64_t bytes = larger(ack.arrived - nscc.arrived, 0);
        nscc.arrived += bytes;
        nscc.received += bytes;
        nscc.achieved += bytes;
        nscc.ignored += bytes;
        if (ack.nack) {
            return false;  // on_loss() has reacted
        }
        const auto delay = static_cast<double>(larger(rtt - nscc.base, 0));
        average(nscc, p, scale, delay, ack.echo);
        const std::int64_t flight = larger(ack.next - ack.arrived - ack.trimmed, 0);
        if (!quick_adapt(flow, nscc, common, p, scale, ack.now, flight, delay, ack.echo)) {
            react(flow, nscc, common, p, scale, ack, static_cast<double>(bytes), delay);
        }
        return false;
    }

    SLUICE_HD static void on_loss(FlowControl& flow, State& nscc, const CommonParameters& common,
                                  const Parameters& p, const Loss& loss) {
        const Scale scale = scale_of(flow, nscc, common, p);
        begin(flow, nscc, scale);
        const double less = nscc.cwnd - static_cast<double>(loss.bytes);
        if (loss.timed_out) {  // which says nothing of delays
            set_window(flow, nscc, common, scale, less);
            return;
        }
        nscc.ignored += loss.bytes;
        nscc.lost = true;
        average(nscc, p, scale, scale.period, true);
        // What is lost was in flight until now.
        if (!quick_adapt(flow, nscc, common, p, scale, loss.now, loss.flight + loss.bytes, 0,
                         true)) {
            set_window(flow, nscc, common, scale, less);
        }
    }

    SLUICE_HD static void rescale(FlowControl& flow, State& nscc, const CommonParameters& common,
                                  const Parameters& p, double factor) {
        const Scale scale = scale_of(flow, nscc, common, p);
        begin(flow, nscc, scale);
        set_window(flow, nscc, common, scale, nscc.cwnd * factor);
    }

    SLUICE_HD static void rewind(State& nscc, std::int64_t acked, std::int64_t bytes) {
        nscc.arrived = rewound(nscc.arrived, acked, bytes);
    }

  private:
    /// The first window stands for the rate: start()'s, or that of a queue pair that is taken over.
    SLUICE_HD static void begin(const FlowControl& flow, State& nscc, const Scale& scale) {
        if (nscc.cwnd == 0) {
            nscc.cwnd =
                scale.line * static_cast<double>(flow.rate) / static_cast<double>(flow.line_rate);
        }
    }

    SLUICE_HD static void react(FlowControl& flow, State& nscc, const CommonParameters& common,
                                const Parameters& p, const Scale& scale, const Ack& ack,
                                double bytes, double delay) {
        double cwnd = nscc.cwnd;
        if (!ack.echo && delay >= scale.target) {
            nscc.inc += p.fi * scale.least * scale.factor * bytes;
        } else if (!ack.echo) {
            cwnd = increased(nscc, p, scale, bytes, delay);
        } else if (delay >= scale.target) {
            nscc.increases = false;
            nscc.uncongested = 0;
            if (nscc.avg_delay > scale.target &&
                (nscc.last_decrease == kNever || ack.now - nscc.last_decrease > nscc.base)) {
                const double kept = 1 - p.gamma * (nscc.avg_delay - scale.target) / nscc.avg_delay;
                cwnd *= kept > p.max_md ? kept : p.max_md;
                nscc.last_decrease = ack.now;
            }
        }
        set_window(flow, nscc, common, scale, adjusted(nscc, common, p, scale, ack, cwnd));
    }

    /// What has been added up goes into the window, now and then.
    SLUICE_HD static double adjusted(State& nscc, const CommonParameters& common,
                                     const Parameters& p, const Scale& scale, const Ack& ack,
                                     double cwnd) {
        if (nscc.last_adjust == kNever) {
            nscc.last_adjust = ack.sent;
        }
        const auto elapsed = static_cast<double>(ack.now - nscc.last_adjust);
        if (nscc.received <= p.adjust_bytes * common.payload && elapsed <= scale.period) {
            return cwnd;
        }
        const double window = cwnd < scale.least  ? scale.least
                              : cwnd > scale.most ? scale.most
                                                  : cwnd;
        double next = window + nscc.inc / window;
        if (elapsed >= scale.period) {
            next += p.eta * scale.least * scale.factor;
            nscc.last_adjust = ack.now;
        }
        nscc.inc = 0;
        nscc.received = 0;
        return next;
    }
};

}  // namespace sluice::congestion::nscc
