// SPDX-License-Identifier: Apache-2.0
/// Congestion control: one entry point per event, for every law.
/// One law, one place: each law is one header beside this one, listed in laws.h: plain structs and
/// pure SLUICE_HD functions that every engine compiles.
/// Arithmetic is integers and + - x / on doubles only, never contracted, so that every engine and
/// every machine gets the same bits. Parameter names, defaults and behaviours are those of the
/// HPCC ns-3 simulator (docs/models/congestion.md).
///
/// Protocol of a NIC: start() once; then, in time order, on_ack() and on_timer(). At one instant
/// ACKs come before timers and timers before transmissions. Timers due before an ACK must have run
/// when it is handed in.
#pragma once

#include <cstdint>
#include <string>

#include "core/congestion/laws.h"
#include "core/hd.h"
#include "core/units.h"

namespace sluice::congestion {

/// Defaults of `law` at NIC rate `line_rate` (bits/s): the additive rates of HPCC, DCQCN and TIMELY
/// scale with it, as in the reference's run.py; the values at 100 Gb/s are those of
/// docs/models/congestion.md.
Parameters default_parameters(Law law, std::int64_t line_rate);

/// Lowers what must not exceed the unit of a packet of `payload` bytes (INT's multiplier).
void fit_to_packets(Parameters& parameters, std::int64_t payload);

/// What makes `parameters` unusable, naming the parameter and what is allowed; empty if nothing. Of
/// the laws only the chosen one counts.
std::string parameter_error(const Parameters& parameters);

/// Prepares a new flow's state: rate = line rate. line_rate > 0. `max_window` is one bandwidth-delay product, of which
/// `products` may be in flight.
SLUICE_HD inline void start(State& state, const Parameters& parameters, std::int64_t line_rate,
                            std::int64_t max_window, Tick base_rtt, double products = 1);
/// An ACK (or NACK) arrived. True if the law re-times the packet in wait (State::retime) for a rate
/// that it has just decided, be it the same as before.
SLUICE_HD inline bool on_ack(State& state, const Parameters& parameters, const IntRates& rates,
                             const Ack& ack);
/// Packets of the flow are lost. Before on_ack() of the ACK or NACK that says so.
SLUICE_HD inline void on_loss(State& state, const Parameters& parameters, const Loss& loss);
/// The earliest instant at which on_timer may change the rate, kNever if none.
SLUICE_HD inline Tick next_timer(const State& state, const Parameters& parameters);
/// Runs what is due by `now` (>= next_timer), each at its own instant and in order.
SLUICE_HD inline void on_timer(State& state, const Parameters& parameters, Tick now);
/// Moves the law's own instants by `dt`: the flow's local time stood still meanwhile.
SLUICE_HD inline void shift(State& state, const Parameters& parameters, Tick dt);
/// Takes the law through a steady phase of `dt`, after shift() by as much: what it would have learned
/// from packets meanwhile. The rate is the phase's own and stays, but for what the law does to it by
/// itself where nothing is marked; what is left to it beside that is in each law's header.
SLUICE_HD inline void advance(State& state, const Parameters& parameters, Tick dt,
                              const Observed& seen);
/// After advance(): the flow has another share of its bottleneck than when it fell asleep, its rate and
/// what stands for it are multiplied by `factor` > 0, within [min_rate, line rate].
SLUICE_HD inline void rescale(State& state, const Parameters& parameters, double factor);
/// The flow goes on in the midst of it, as one that has settled, with its present rate (after start(): line rate) times
/// `factor`.
SLUICE_HD inline void resume(State& state, const Parameters& parameters, double factor, Tick now);
/// ACKs with an echo so far, under laws that look at their share in a steady phase; else 0.
SLUICE_HD inline std::int64_t echoes(const State& state, const Parameters& parameters);
/// Additive increases that the law has made since its last multiplicative one; 0 under laws that do not count them.
inline std::int64_t increase_stage(const State& state, const Parameters& parameters);
/// It has made so many, and updates its rate again when bytes beyond `next` are acknowledged.
inline void set_increase_stage(State& state, const Parameters& parameters, std::int64_t stage,
                               std::int64_t next);
/// The law forgets what it knows of the path: the next ACK with INT records is only recorded, as the first of a flow is.
inline void forget_records(State& state, const Parameters& parameters);
/// `bytes` of what is in flight have left the flow, and what came after them was renumbered: marks
/// that the law holds in the sequence space follow, but not below `acked`.
SLUICE_HD inline void rewind(State& state, const Parameters& parameters, std::int64_t acked,
                             std::int64_t bytes);
/// Whether two flows of one law are in the same state, bit for bit; false under a law that cannot tell.
inline bool same(const State& a, const State& b, const Parameters& parameters);
/// The flow is the copy of one at other ports, of which the one at `hop` of its path (0: the first
/// switch's) has sent so many of INT's units more, modulo the field.
inline void renumber_hop(State& state, const Parameters& parameters, int hop, std::uint64_t units);
/// Bytes that may be in flight; a very large number without a window. Under variable_window it is
/// products x max_window x rate / line_rate, truncated. Under laws that send whole packets only it is what a further full
/// packet would exceed. At least 1.
SLUICE_HD inline std::int64_t window(const State& state, const Parameters& parameters);
/// The slowest period with which the law may act by itself (0: it acts on ACKs only): a steady
/// phase must have observed at least this long.
SLUICE_HD inline Tick slowest_period(const Parameters& parameters);

/// How long the law may hold still before it acts by itself: its slowest period, or so many round
/// trips.
Tick waiting_time(const Parameters& parameters, Tick base_rtt);
/// A whole swing of the law's rate around its share; 0: it settles instead of swinging.
Tick swing_period(const Parameters& parameters, const Crowd& crowd);
/// The part of every link that the law uses, above 0 and at most 1.
double target_utilization(const Parameters& parameters);
/// Base round trips in which differences between the rates of flows that share a port shrink to a part of 1/e, where each
/// has about `rate`, bits/s; 0: nothing is known of that.
double convergence_trips(const Parameters& parameters, double rate);
/// The multiplier of INT's units (int_record.h).
int int_multiplier(const Parameters& parameters);

}  // namespace sluice::congestion

#include "core/congestion/dispatch.h"
