// SPDX-License-Identifier: Apache-2.0
/// Congestion control, what the laws have in common: what a NIC obeys, what an ACK tells, and what a
/// law may say of itself. A law is one header beside this one, listed in laws.h; its model is in
/// docs/models/congestion.md. Plain trivially copyable structs that every engine stores in its own
/// columns.
#pragma once

#include <cstdint>

#include "core/fields.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion {

/// Parameters of every law. Rates are bits/s as integers; products with a double are truncated, as
/// ns-3's DataRate does.
struct CommonParameters {
    std::int64_t min_rate = 1'000'000'000;
    bool pacing = true;           ///< rate-bound sending; false: only the window bounds
    bool window = true;           ///< bound bytes in flight
    bool variable_window = true;  ///< scale the window by rate / line rate
    double sprayed_window = 1.5;  ///< bandwidth-delay products of flows that take several paths
    bool whole_packets = false;   ///< Traits::whole_packets of the law
    bool rate_is_window = false;  ///< Traits::rate_is_window of the law
    std::int64_t payload = 1000;  ///< bytes per full packet (MTU)
};

/// One INT record: 64 bits as on the wire. time 24 bits (ns), bytes 20 bits (units of
/// 128 x multiplier), queue 17 bits (units of 80 x multiplier), line rate 3 bits (an index into
/// IntRates). Packed and unpacked in core/congestion/int_record.h.
using IntRecord = std::uint64_t;
inline constexpr int kMaxIntHops = 7;
inline constexpr int kMaxIntRates = 8;

/// The distinct port rates of a network (bits/s): all of them under laws that use INT.
struct IntRates {
    std::int64_t bits_per_second[kMaxIntRates] = {};
};

/// What the NIC obeys of a flow, and what every law is told of it.
struct FlowControl {
    std::int64_t rate = 0;        ///< current sending rate, bits/s
    std::int64_t line_rate = 0;   ///< its NIC port's rate, bits/s
    std::int64_t max_window = 0;  ///< bytes, one bandwidth-delay product; 0: no window
    Tick base_rtt = 0;            ///< T
    /// The law re-times the packet in wait when the rate changes (HPCC): the NIC then moves the
    /// flow's next departure by the difference of the two pacing gaps of its last packet. Fixed by
    /// start(); with an unchanged rate the difference is zero.
    bool retime = false;
    float products =
        1;  ///< of max_window, how many may be in flight; beside `retime` it takes no room
};
#define SLUICE_FIELDS_OF_FLOW_CONTROL(FIRST, NEXT) \
    FIRST(rate, content)                           \
    NEXT(line_rate, content)                       \
    NEXT(max_window, content)                      \
    NEXT(base_rtt, content)                        \
    NEXT(retime, content)                          \
    NEXT(products, content)
SLUICE_DESCRIBE(FlowControl, SLUICE_FIELDS_OF_FLOW_CONTROL)

/// Bytes in flight that keep the flow's idle path full.
SLUICE_HD inline double bandwidth_delay_product(const FlowControl& flow) {
    const auto base_rtt = static_cast<double>(flow.base_rtt > 1 ? flow.base_rtt : 1);
    return flow.max_window > 0 ? static_cast<double>(flow.max_window)
                               : static_cast<double>(flow.line_rate) * base_rtt / 8e12;
}

/// What an ACK tells a law.
struct Ack {
    Tick now = 0;
    std::int64_t acked = 0;  ///< bytes acknowledged cumulatively (next expected byte)
    std::int64_t next = 0;   ///< bytes: the sender's snd_nxt; after a NACK, already rewound
    bool echo = false;       ///< congestion experienced echo (CNP bit)
    bool nack = false;  ///< it says that its packet did not arrive whole, or that one is missing
    std::uint32_t packets = 1;  ///< whose ACKs it stands for, all alike (core/packet/trains.h)
    Tick sent = 0;              ///< the data packet's departure from its NIC (TIMELY)
    const IntRecord* hops = nullptr;  ///< the packet's INT records, first switch first
    int hop_count = 0;                ///< 0 with hops == nullptr: no INT in this ACK
    std::int64_t arrived = 0;         ///< bytes that are known to have arrived, `acked` or more
    std::int64_t trimmed = 0;         ///< bytes beyond `acked` that are to be sent again because a
                                      ///< switch has trimmed them: not in flight
    int links = 0;                    ///< that it has crossed on its way back
    bool sprayed =
        false;  ///< each packet may take another path: the ports that wrote its records are
                ///< others each time, but for the last one
};

/// What a sender learns of packets that did not arrive.
struct Loss {
    Tick now = 0;
    std::int64_t bytes = 0;   ///< payload, as far as it is known: of one packet at least
    std::int64_t flight = 0;  ///< bytes of its queue pair that are in flight all the same
    bool timed_out = false;   ///< nothing came for too long
};

/// Where a law is that updates its rate once in each round trip.
struct UpdatePhase {
    /// Additive increases since the last multiplicative one (HPCC's incStage).
    std::int64_t stage = 0;
    /// The next update comes when so many bytes of what is not acknowledged yet are.
    std::int64_t bytes = 0;
};

/// What a flow went through in a steady phase in which it was not simulated. Its packets have stood
/// still meanwhile: in the law's sequence space it is `packets` behind of where they would be.
struct Observed {
    Tick until = 0;            ///< packets go on from here
    std::int64_t packets = 0;  ///< full packets that were acknowledged, one ACK each
    std::int64_t acked = 0;    ///< bytes acknowledged before it, in the law's sequence space
    std::int64_t flight = 0;   ///< bytes in flight as an ACK finds them
    double marked = 0;         ///< share of ACKs with an echo, as the phase was seen before
};

/// What the rest of the simulator must know of a law before the first packet.
struct Traits {
    std::int32_t extra_header = 0;  ///< bytes that its data packets carry besides
    bool uses_int = false;          ///< switches write INT records for it
    bool reacts_to_marks = false;   ///< Ack::echo (ECN marks, CNPs) may change its rate
    bool weighs_marks = false;   ///< by the share of ACKs with an echo, not by whether there is one
    bool follows_delay = false;  ///< single round-trip times change its rate
    bool window = true;          ///< default of CommonParameters::window
    bool variable_window = false;  ///< default of CommonParameters::variable_window
    bool credits = false;          ///< receivers grant its packets (core/packet/credits.h)
    bool pacing = true;            ///< default of CommonParameters::pacing
    /// A packet leaves only if the window has room for all of it. Else it leaves if there is any room.
    bool whole_packets = false;
    /// The law sizes the window itself: its rate, which may exceed the line's, stands for so many products.
    bool rate_is_window = false;
    /// Marking that suits it by default, on ports of 100 Gb/s.
    std::int64_t ecn_kmin = 400'000;
    std::int64_t ecn_kmax = 1'600'000;
    double ecn_pmax = 0.2;

    /// Bytes of an ACK: 46 of headers and what the data packet carried besides, padded to an
    /// Ethernet frame.
    constexpr std::int32_t ack() const { return extra_header > 14 ? 46 + extra_header : 60; }
};

/// A group of flows that share a bottleneck, as far as the length of a law's swing depends on it.
struct Crowd {
    double flows = 1;
    double bdp_packets = 1;      ///< C x RTT in full packets
    Tick base_rtt = 0;           ///< of the slowest flow
    std::int64_t line_rate = 0;  ///< bits/s
};

/// A parameter that is wrong beside another one; no name: none is.
struct Conflict {
    const char* name = nullptr;
    const char* rule = nullptr;  ///< "must ..."
};

/// The hooks of a law. A law's own (struct Hooks in its header) derives from this and defines those
/// that it needs; State and Parameters are the structs of its header. The roles of State's fields (core/fields.h)
/// say what a skip moves and what must be equal in copies.
struct LawHooks {
    static constexpr Traits traits() { return {}; }

    // Parameters, host only.
    /// Names every parameter to `visit` with its range, once for all who read, check or list them:
    /// visit.number, .integer and .time (name, value, lowest, highest), .flag and .rate (name,
    /// value). Defaults are the struct's.
    template <class Parameters, class Visit>
    static void describe(Parameters&, Visit&) {}
    /// Defaults that depend on the NIC's rate, bits/s; they are given at 100 Gb/s.
    template <class Parameters>
    static void scale_to(Parameters&, std::int64_t) {}
    /// Defaults that depend on the bytes of a full packet's payload.
    template <class Parameters>
    static void fit_to_packets(Parameters&, std::int64_t) {}
    /// A parameter that does not go with another one, and what must hold.
    template <class Parameters>
    static Conflict conflict(const Parameters&) {
        return {};
    }

    // A flow, host and device.
    template <class State, class Parameters>
    SLUICE_HD static void start(FlowControl&, State& own, const Parameters&) {
        own = State{};
    }
    /// An ACK (or NACK). True if the rate was decided anew and the packet in wait is to be re-timed.
    template <class State, class Parameters>
    SLUICE_HD static bool on_ack(FlowControl&, State&, const CommonParameters&, const Parameters&,
                                 const IntRates&, const Ack&) {
        return false;
    }
    /// Packets are lost: a receiver says so, `reorder_threshold` later ones have arrived, or nothing came for too long.
    template <class State, class Parameters>
    SLUICE_HD static void on_loss(FlowControl&, State&, const CommonParameters&, const Parameters&,
                                  const Loss&) {}
    /// The earliest instant at which on_timer() may change the rate.
    template <class State>
    SLUICE_HD static Tick next_timer(const State&) {
        return kNever;
    }
    /// Runs what is due by `now`, each at its own instant and in order.
    template <class State, class Parameters>
    SLUICE_HD static void on_timer(FlowControl&, State&, const CommonParameters&, const Parameters&,
                                   Tick) {}
    /// Takes the law through a steady phase of `dt` for which the flow stood still: its instants have
    /// been moved, and it learns what it would have learned from packets. The rate is the
    /// phase's own and stays, but for what the law does to it by itself where nothing is marked. A law
    /// whose memory is its last round trips need do nothing: they come round again with the packets.
    template <class State, class Parameters>
    SLUICE_HD static void advance(FlowControl&, State&, const CommonParameters&, const Parameters&,
                                  Tick, const Observed&) {}
    /// The flow has another share of its bottleneck than when it fell asleep: its rate, and whatever else
    /// stands for it, times `factor` > 0, within what the law allows. Where in a swing it is stays.
    template <class State, class Parameters>
    SLUICE_HD static void rescale(FlowControl&, State&, const CommonParameters&, const Parameters&,
                                  double) {}
    /// Of a flow that is begun anew in the midst of it: as if it had been slowed down once, long before `now`.
    template <class State, class Parameters>
    SLUICE_HD static void settle_in(const FlowControl&, State&, const Parameters&, Tick) {}
    /// ACKs with an echo so far; a law that never asks for Observed::marked need not count.
    template <class State>
    SLUICE_HD static std::int64_t echoes(const State&) {
        return 0;
    }
    /// Additive increases since the last multiplicative one.
    template <class State>
    static std::int64_t increase_stage(const State&) {
        return 0;
    }
    template <class State>
    static void set_increase_stage(State&, std::int64_t, std::int64_t) {}
    template <class State>
    static void forget_records(State&) {}
    /// Marks in the sequence space follow a cut of `bytes` in flight (rewound(), arithmetic.h).
    template <class State>
    SLUICE_HD static void rewind(State&, std::int64_t, std::int64_t) {}
    /// The flow is the copy of one at other ports: the one at `hop` of its path (0: the first switch's) has
    /// sent so many of INT's units more, modulo the field, than what the law remembers of it says.
    template <class State>
    static void renumber_hop(State&, int, std::uint64_t) {}

    // What a detector of steady phases must know.
    /// The slowest period with which the law acts by itself.
    template <class Parameters>
    SLUICE_HD static Tick slowest_period(const Parameters&) {
        return 0;
    }
    /// Round trips for which it may hold still before it acts by itself.
    template <class Parameters>
    static std::int64_t waiting_trips(const Parameters&) {
        return 0;
    }
    /// A whole swing of its rate around a share; 0: it settles instead of swinging.
    template <class Parameters>
    static Tick swing_period(const Parameters&, const Crowd&) {
        return 0;
    }

    // What the network's other parts take from a law's parameters.
    /// The part of a link that it uses.
    template <class Parameters>
    static double convergence_trips(const Parameters&, double) {
        return 0;
    }
    template <class Parameters>
    static double target_utilization(const Parameters&) {
        return 1.0;
    }
    /// Of INT's units (int_record.h).
    template <class Parameters>
    static int int_multiplier(const Parameters&) {
        return 1;
    }
};

}  // namespace sluice::congestion
