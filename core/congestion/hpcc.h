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
///
/// Of sprayed packets that may come in any order (selective repeat), records of a hop are of different ports but at the
/// last one, to the host. There the rate is measured as above, unless the later packet's record is the earlier one; at
/// the others the queue counts alone: u_hop = queue now / (line rate x T).
///
/// Nothing to advance() through a steady phase: u forgets within a round trip, the reference and the
/// stage within max_stage + 1 of them, and a phase is only skipped if it lasted longer before. What the
/// law holds when it falls asleep is one of the states that it goes through over and over (where it
/// would be of these, no closed form tells: truncated INT counters drive it), and agrees with the
/// records of the packets that sleep with it.
#pragma once

#include <cstdint>

#include "core/congestion/arithmetic.h"
#include "core/congestion/int_record.h"
#include "core/congestion/types.h"
#include "core/hd.h"
#include "core/random.h"
#include "core/units.h"

namespace sluice::congestion::hpcc {

struct Parameters {
    double target_utilization = 0.95;  ///< eta
    int max_stage = 5;                 ///< additive steps before a multiplicative one
    std::int64_t additive_rate = 50'000'000;
    bool fast_reaction = true;     ///< react to every ACK, not once per RTT
    bool multi_rate = false;       ///< one rate per hop instead of one for the path
    bool sample_feedback = false;  ///< fast reaction ignores hops with an empty queue
    int int_multiplier = 4;        ///< INT units: bytes in 128 x this, queue in 80 x this
};

/// What every ACK touches comes first; the per-hop columns are read under multi_rate only.
struct State {
    std::int64_t current_rate = 0;
    /// snd_nxt, in bytes, when the last full update was made. 0: no ACK has come. Negative: none has come, and after the first
    /// one the next full update waits for the ACK of this many bytes.
    std::int64_t last_update = 0;
    double u = 1.0;
    std::int32_t stage = 0;
    IntRecord hop[kMaxIntHops] = {};
    std::int64_t hop_rate[kMaxIntHops] = {};
    double hop_u[kMaxIntHops] = {};
    std::int32_t hop_stage[kMaxIntHops] = {};
};
// `hop`: what copies remember of ports' counters differs by what renumber_hop() adds.
#define SLUICE_FIELDS_OF_HPCC(FIRST, NEXT) \
    FIRST(current_rate, content)           \
    NEXT(last_update, content)             \
    NEXT(u, content)                       \
    NEXT(stage, content)                   \
    NEXT(hop, content)                     \
    NEXT(hop_rate, content)                \
    NEXT(hop_u, content)                   \
    NEXT(hop_stage, content)
SLUICE_DESCRIBE(State, SLUICE_FIELDS_OF_HPCC)

/// What an ACK is judged by.
struct Context {
    const FlowControl& flow;
    const CommonParameters& common;
    const Parameters& p;
    const IntRates& rates;
};

/// T, whole nanoseconds, truncated.
SLUICE_HD inline std::int64_t base_rtt_ns(const FlowControl& flow) {
    return larger(flow.base_rtt / kNanosecond, 1);
}

/// The divisor of the queue term: the flow's window, or T x line rate where it has none.
SLUICE_HD inline double window_bytes(const FlowControl& flow) {
    if (flow.max_window > 0) {
        return static_cast<double>(flow.max_window);
    }
    return static_cast<double>(flow.line_rate) * static_cast<double>(base_rtt_ns(flow)) / 8e9;
}

/// How busy one hop was between two of its records, `elapsed` ns apart. Two records of one instant
/// say nothing: 0.
SLUICE_HD inline double utilization(const Context& context, IntRecord now, IntRecord before,
                                    std::int64_t elapsed) {
    if (elapsed == 0) {
        return 0;
    }
    const int multiplier = context.p.int_multiplier;
    const auto hop_rate = static_cast<double>(context.rates.bits_per_second[int_rate_index(now)]);
    const double seconds = static_cast<double>(elapsed) * 1e-9;
    const double sent_rate =
        static_cast<double>(int_bytes_delta(now, before, multiplier) * 8) / seconds;
    const double sent_share = sent_rate / hop_rate;
    const std::int64_t queue =
        smaller(int_queue_bytes(now, multiplier), int_queue_bytes(before, multiplier));
    if (queue == 0) {
        return sent_share;  // saves two divisions and changes no bit
    }
    return sent_share + static_cast<double>(queue) * static_cast<double>(context.flow.line_rate) /
                            hop_rate / window_bytes(context.flow);
}

/// The same of a hop whose record before was another port's: its queue, which `elapsed` says nothing about.
SLUICE_HD inline double utilization_by_queue(const Context& context, IntRecord now) {
    const auto hop_rate = static_cast<double>(context.rates.bits_per_second[int_rate_index(now)]);
    return static_cast<double>(int_queue_bytes(now, context.p.int_multiplier)) *
           static_cast<double>(context.flow.line_rate) / hop_rate / window_bytes(context.flow);
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

SLUICE_HD inline Step next_step(const Context& context, std::int64_t current, double u,
                                std::int32_t stage) {
    const Parameters& p = context.p;
    const double excess = u / p.target_utilization;
    Step step;
    if (excess >= 1 || stage >= p.max_stage) {
        step.rate = truncated_rate(static_cast<double>(current) / excess) + p.additive_rate;
        step.stage = 0;
    } else {
        step.rate = current + p.additive_rate;
        step.stage = stage + 1;
    }
    step.rate = smaller(larger(step.rate, context.common.min_rate), context.flow.line_rate);
    return step;
}

/// How busy the hop of record `i` was since `before`, the records that are kept, and over how long.
struct HopLoad {
    double u;
    std::int64_t elapsed;
};

SLUICE_HD inline HopLoad load_of_hop(const Context& context, const Ack& ack, int i,
                                     const IntRecord* before) {
    const int last = ack.hop_count - 1;
    const int timed = ack.sprayed ? last : i;
    const std::int64_t elapsed = int_time_delta(ack.hops[timed], before[timed]);
    if (ack.sprayed && i != last) {
        return {utilization_by_queue(context, ack.hops[i]), elapsed};
    }
    return {utilization(context, ack.hops[i], before[i], elapsed), elapsed};
}

/// Whether an ACK of sprayed packets has been overtaken by one that is known already.
SLUICE_HD inline bool is_overtaken(const Ack& ack, const IntRecord* before) {
    const int last = ack.hop_count - 1;
    return ack.sprayed && int_time_delta(ack.hops[last], before[last]) > (1 << (kIntTimeBits - 1));
}

/// One rate for the path, from its busiest hop. False if no hop was heard of.
SLUICE_HD inline bool react_to_path(FlowControl& flow, State& hpcc, const Context& context,
                                    const Ack& ack, bool full) {
    double busiest = 0;
    std::int64_t busiest_elapsed = 0;
    bool heard = false;
    for (int i = 0; i < ack.hop_count; ++i) {
        const IntRecord record = ack.hops[i];
        if (context.p.sample_feedback && !full && (record >> kIntQueueShift) == 0) {
            continue;
        }
        heard = true;
        const HopLoad load = load_of_hop(context, ack, i, hpcc.hop);
        if (load.u > busiest) {
            busiest = load.u;
            busiest_elapsed = load.elapsed;
        }
        hpcc.hop[i] = record;
    }
    if (!heard) {
        return false;
    }
    hpcc.u = averaged(hpcc.u, busiest, busiest_elapsed, base_rtt_ns(flow));
    const Step step = next_step(context, hpcc.current_rate, hpcc.u, hpcc.stage);
    flow.rate = step.rate;
    if (full) {
        hpcc.current_rate = step.rate;
        hpcc.stage = step.stage;
    }
    return true;
}

/// One rate per hop; the flow sends at the least of them. False if no hop was heard of.
SLUICE_HD inline bool react_per_hop(FlowControl& flow, State& hpcc, const Context& context,
                                    const Ack& ack, bool full) {
    const std::int64_t base_rtt = base_rtt_ns(flow);
    std::int64_t least = flow.line_rate;
    bool heard = false;
    for (int i = 0; i < ack.hop_count; ++i) {
        const IntRecord record = ack.hops[i];
        if (context.p.sample_feedback && !full && (record >> kIntQueueShift) == 0) {
            least = smaller(least, hpcc.hop_rate[i]);
            continue;
        }
        heard = true;
        const HopLoad load = load_of_hop(context, ack, i, hpcc.hop);
        hpcc.hop_u[i] = averaged(hpcc.hop_u[i], load.u, load.elapsed, base_rtt);
        hpcc.hop[i] = record;
        const Step step = next_step(context, hpcc.hop_rate[i], hpcc.hop_u[i], hpcc.hop_stage[i]);
        least = smaller(least, step.rate);
        if (full) {
            hpcc.hop_rate[i] = step.rate;
            hpcc.hop_stage[i] = step.stage;
        }
    }
    if (!heard) {
        return false;
    }
    flow.rate = least;
    if (full) {
        hpcc.current_rate = least;
    }
    return true;
}

struct Hooks : LawHooks {
    static constexpr Traits traits() {
        Traits traits;
        traits.extra_header = 42;  // INT, always full size
        traits.uses_int = true;
        traits.variable_window = true;
        return traits;
    }

    template <class P, class Visit>
    static void describe(P& p, Visit& visit) {
        visit.number("target_utilization", p.target_utilization, 0.01, 1.0);
        visit.integer("max_stage", p.max_stage, 0, 1'000'000);
        visit.rate("additive_rate", p.additive_rate);
        visit.flag("fast_reaction", p.fast_reaction);
        visit.flag("multi_rate", p.multi_rate);
        visit.flag("sample_feedback", p.sample_feedback);
        visit.integer("int_multiplier", p.int_multiplier, 1, kMaxIntMultiplier);
    }

    static void scale_to(Parameters& p, std::int64_t line_rate) {
        p.additive_rate = in_proportion(p.additive_rate, line_rate);
        p.int_multiplier =
            static_cast<int>(smaller(larger(line_rate / 25'000'000'000, 1), kMaxIntMultiplier));
    }

    /// INT's unit of sent bytes grows with the NIC's rate, so that its counters do not overflow. A
    /// unit above a frame makes the law see twice the utilization on paths of several hops: a hop's
    /// counter then moves by one unit or not at all between two packets, and the law takes the
    /// greatest hop.
    static void fit_to_packets(Parameters& p, std::int64_t payload) {
        constexpr int kHeaders = 48 + 42;  // of a data packet, by default
        const std::int64_t most =
            larger((payload + kHeaders) / static_cast<std::int64_t>(kIntBytesUnit), 1);
        p.int_multiplier = static_cast<int>(smaller(p.int_multiplier, most));
    }

    SLUICE_HD static void start(FlowControl& flow, State& hpcc, const Parameters& p) {
        hpcc = State{};
        hpcc.current_rate = flow.line_rate;
        if (p.multi_rate) {
            for (int i = 0; i < kMaxIntHops; ++i) {
                hpcc.hop_rate[i] = flow.line_rate;
                hpcc.hop_u[i] = 1.0;
            }
        }
        flow.retime = true;
    }

    SLUICE_HD static bool on_ack(FlowControl& flow, State& hpcc, const CommonParameters& common,
                                 const Parameters& p, const IntRates& rates, const Ack& ack) {
        const bool readable = ack.hop_count > 0 && ack.hop_count <= kMaxIntHops;
        return ack.packets > 1 && readable && hpcc.last_update != 0
                   ? on_train(flow, hpcc, common, p, rates, ack)
                   : on_packet(flow, hpcc, common, p, rates, ack);
    }

    /// The ACK of a train, as the ACKs of its packets. Between two packets a hop's truncated counter moves unevenly, each hop's
    /// at other times, and the law takes the busiest hop. One step over the whole train would see less load.
    SLUICE_COLD SLUICE_HD static bool on_train(FlowControl& flow, State& hpcc,
                                               const CommonParameters& common, const Parameters& p,
                                               const IntRates& rates, const Ack& ack) {
        IntRecord before[kMaxIntHops];
        std::uint32_t phase[kMaxIntHops];
        for (int i = 0; i < ack.hop_count; ++i) {
            before[i] = hpcc.hop[i];
            // Drawn from what symmetric copies have in common: their ports' counters differ.
            const std::uint64_t bits = mix_bits(static_cast<std::uint64_t>(ack.acked * 8 + i));
            phase[i] = static_cast<std::uint32_t>(bits % ack.packets);
        }
        IntRecord hops[kMaxIntHops];
        Ack one = ack;
        one.packets = 1;
        one.hops = hops;
        bool decided = false;
        for (std::uint32_t k = 1; k <= ack.packets; ++k) {
            one.acked = ack.acked - std::int64_t{ack.packets - k} * common.payload;
            for (int i = 0; i < ack.hop_count; ++i) {
                hops[i] = record_between(before[i], ack.hops[i], k, ack.packets, phase[i]);
            }
            decided = on_packet(flow, hpcc, common, p, rates, one) || decided;
        }
        return decided;
    }

    SLUICE_HD static bool on_packet(FlowControl& flow, State& hpcc, const CommonParameters& common,
                                    const Parameters& p, const IntRates& rates, const Ack& ack) {
        const bool full = ack.acked > hpcc.last_update;
        if (!full && !p.fast_reaction) {
            return false;
        }
        // A path longer than the records a packet can carry gives no feedback.
        const bool readable = ack.hop_count <= kMaxIntHops;
        if (hpcc.last_update <= 0) {
            if (hpcc.last_update < 0 && ack.hop_count == 0) {
                return false;  // there is nothing to compare the next one with
            }
            hpcc.last_update = hpcc.last_update < 0 ? -hpcc.last_update : ack.next;
            for (int i = 0; readable && i < ack.hop_count; ++i) {
                hpcc.hop[i] = ack.hops[i];
            }
            return false;
        }
        bool decided = false;
        if (readable && !(ack.hop_count > 0 && is_overtaken(ack, hpcc.hop))) {
            const Context context{flow, common, p, rates};
            decided = p.multi_rate ? react_per_hop(flow, hpcc, context, ack, full)
                                   : react_to_path(flow, hpcc, context, ack, full);
        }
        if (full) {
            hpcc.last_update = larger(hpcc.last_update, ack.next);
        }
        return decided;
    }

    /// What was heard of hops stays: they are as busy as before, by whomever.
    SLUICE_HD static void rescale(FlowControl& flow, State& hpcc, const CommonParameters& common,
                                  const Parameters& p, double factor) {
        const auto scale = [&](std::int64_t& rate) {
            rate = rescaled(rate, factor, common.min_rate, flow.line_rate);
        };
        scale(flow.rate);
        scale(hpcc.current_rate);
        for (int i = 0; p.multi_rate && i < kMaxIntHops; ++i) {
            scale(hpcc.hop_rate[i]);
        }
    }

    /// The path is as busy as the law wants it. Then the rate at which it sends is the one that full updates start from.
    SLUICE_HD static void settle_in(const FlowControl& flow, State& hpcc, const Parameters& p,
                                    Tick) {
        hpcc.current_rate = flow.rate;
        hpcc.u = p.target_utilization;
        for (int i = 0; i < kMaxIntHops; ++i) {
            hpcc.hop_u[i] = p.target_utilization;
        }
    }

    static std::int64_t increase_stage(const State& hpcc) { return hpcc.stage; }
    static void set_increase_stage(State& hpcc, std::int64_t stage, std::int64_t next) {
        hpcc.stage = static_cast<std::int32_t>(stage);
        hpcc.last_update = hpcc.last_update <= 0 ? -next : next;
    }

    static void forget_records(State& hpcc) {
        const std::int64_t next =
            hpcc.last_update < 0 ? -hpcc.last_update : larger(hpcc.last_update, 1);
        hpcc.last_update = -next;
    }

    SLUICE_HD static void rewind(State& hpcc, std::int64_t acked, std::int64_t bytes) {
        hpcc.last_update = rewound(hpcc.last_update, acked, bytes);
    }

    static void renumber_hop(State& hpcc, int hop, std::uint64_t units) {
        if (hop < kMaxIntHops && hpcc.hop[hop] != 0) {
            hpcc.hop[hop] = with_more_units(hpcc.hop[hop], units);
        }
    }

    /// max_stage additive steps, one per round trip, which end in a jump to the free bandwidth, and
    /// two round trips to see it.
    static std::int64_t waiting_trips(const Parameters& p) { return p.max_stage + 2; }
    static double target_utilization(const Parameters& p) { return p.target_utilization; }
    /// A rate takes the same part off whatever it is, and AI is added: what one has more than another becomes less by
    /// AI / rate in each round trip.
    static double convergence_trips(const Parameters& p, double rate) {
        return p.additive_rate > 0 ? rate / static_cast<double>(p.additive_rate) : 0;
    }
    static int int_multiplier(const Parameters& p) { return p.int_multiplier; }
};

}  // namespace sluice::congestion::hpcc
