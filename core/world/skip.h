// SPDX-License-Identifier: Apache-2.0
/// Skipping time for a group of flows and the ports they use, while everything else goes on: the
/// group's packets stay where they are and its instants move (packet pausing and timestamp
/// offsetting, Wormhole 6.2 and 6.3). Nothing here costs per packet: a link's packets are timed
/// from its base, and a flow that advances becomes a shorter flow, so no sequence number changes.
///
/// A skip of dt at instant t: shift_port() for every port of the group by which packets of it leave,
/// shift_host() for every host whose queue pairs are in the group, shift_flow() and shorten_flow()
/// for every flow. Skipping back is the same with negative amounts, before anything of the group
/// was executed. Between windows only. Once it is certain how long the skip was, advance_law() for every
/// flow takes its law through it.
#pragma once

#include "core/packet/nic.h"
#include "core/packet/state_fields.h"

namespace sluice::step {

/// Moves everything that `port` will send, and the packets on their way from it, by `dt`.
inline void shift_port(World& world, PortId port, Tick dt) {
    Egress& egress = world.egress[port];
    shift_fields(egress, dt);
    world.link[port].decision = shifted(world.link[port].decision, dt);
    world.link[egress.peer].base += dt;
    if (egress.out != egress.peer) {
        world.link[egress.out].base += dt;
    }
    world.link[egress.peer].arrival = shifted(world.link[egress.peer].arrival, dt);
    HostPort& nic = world.host_port[port];
    for (std::uint32_t i = 0; i < nic.ready.count; ++i) {
        nic.ready[i] = shifted(nic.ready[i], dt);
    }
}

/// Makes a host's timers a heap again after their times were changed.
void order_timers(PlainVector<Timer>& timers);

/// Moves the timers of a host's queue pairs and of answers on their way to them; those that start flows and the application's stay.
void shift_host(World& world, NodeId host, Tick dt);

/// Moves a sender's instants, and its law's.
inline void shift_sender(const World& world, Sender& sender, Tick dt) {
    shift_fields(sender, dt);
    congestion::shift(sender.cc, world.config->congestion, dt);
}

/// Moves the sender's and the receiver's instants of an active flow.
inline void shift_flow(World& world, FlowSlot flow, Tick dt) {
    shift_sender(world, sender_of(world, flow), dt);
    shift_fields(world.receiver[flow], dt);
    if (world.answers != nullptr) {
        world.answers[flow].base += dt;
    }
}

/// How often a receiver acknowledges a flow that loses nothing: `acks` ACKs every `packets` data packets, at
/// most `every` packets apart (receive_data()).
struct AckPace {
    std::int64_t acks = 1;
    std::int64_t packets = 1;
    std::int64_t every = 1;

    /// ACKs a data packet brings.
    double per_packet() const { return static_cast<double>(acks) / static_cast<double>(packets); }
    /// ACKs of so many packets out of the middle of a flow.
    std::int64_t of(std::int64_t count) const { return count * acks / packets; }
    /// ACKs of the first so many packets of a flow.
    std::int64_t of_first(std::int64_t count) const {
        return count / packets * acks + count % packets / every;
    }
    /// ACKs of a whole flow of so many packets, the last of which is acknowledged in any case.
    std::int64_t of_whole(std::int64_t count) const {
        return count / packets * acks + (count % packets + every - 1) / every;
    }
};

inline AckPace ack_pace(const NicConfig& nic) {
    const std::int64_t every = nic.ack_every > 1 ? nic.ack_every : 1;
    // With coalescing, chunk ends are acknowledged too.
    const bool chunks = every > 1 && nic.ack_chunk > 0;
    return chunks ? AckPace{(nic.ack_chunk + every - 1) / every, nic.ack_chunk, every}
                  : AckPace{1, every, every};
}

/// Payload bytes in flight as the last ACK found them: without the packet that may have left since. The
/// ACKs of a steady flow come as its packets leave, so that it is one or none.
inline std::int64_t flight_at_ack(const World& world, const Sender& sender) {
    const std::int64_t flight = sender.next_bytes - sender.una_bytes + sender.behind;
    const bool left_since = sender.next_avail - sender.last_gap >= sender.last_progress;
    const std::int64_t last =
        std::int64_t{world.payload} * packets_of_train(world, sender.last_bytes);
    return left_since && flight >= last ? flight - last : flight;
}

/// What follows from a rate that the law has changed between two windows.
inline void take_rate(World& world, Host& host, Sender& sender, Tick now) {
    sender.window = congestion::window(sender.cc, world.config->congestion);
    update_ready(world, sender);
    decide(world, host, sender.port, now);
}

/// Takes the law of an active flow through a skip of `dt` that ends at `now`, in which `packets` of it
/// were taken out; `marked`: the share of its ACKs with an echo. True if its host or port may have to
/// act earlier: refresh_wake().
inline bool advance_law(World& world, FlowSlot flow, Tick dt, std::int64_t packets, double marked,
                        Tick now) {
    Host& host = source_of(world, flow);
    Sender& sender = sender_of(world, flow);
    congestion::Observed seen;
    seen.until = now;
    seen.packets = packets;
    seen.acked = sender.offset + sender.una_bytes - sender.behind;
    seen.flight = flight_at_ack(world, sender);
    seen.marked = marked;
    const std::int64_t rate = sender.cc.rate;
    const Tick armed = sender.armed;
    congestion::advance(sender.cc, world.config->congestion, dt, seen);
    if (sender.cc.rate != rate) {
        take_rate(world, host, sender, now);
    }
    arm(world, host, world.sender_at[flow]);
    return sender.cc.rate != rate || sender.armed != armed;
}

/// The flow's law wakes at `now` with its rate times `factor`, after advance_law(). What is in flight
/// fits the window again within a round trip. True if refresh_wake() is due, as above.
inline bool rescale_law(World& world, FlowSlot flow, double factor, Tick now) {
    Sender& sender = sender_of(world, flow);
    const std::int64_t rate = sender.cc.rate;
    congestion::rescale(sender.cc, world.config->congestion, factor);
    if (sender.cc.rate == rate) {
        return false;
    }
    take_rate(world, source_of(world, flow), sender, now);
    return true;
}

/// As rescale_law(), of a flow that has settled in the meantime.
inline bool resume_law(World& world, FlowSlot flow, double factor,
                       const congestion::UpdatePhase& phase, Tick now) {
    Sender& sender = sender_of(world, flow);
    const std::int64_t rate = sender.cc.rate;
    congestion::resume(sender.cc, world.config->congestion, factor, now);
    congestion::set_increase_stage(sender.cc, world.config->congestion, phase.stage,
                                   sender.offset + sender.una_bytes + phase.bytes);
    if (sender.cc.rate == rate) {
        return false;
    }
    take_rate(world, source_of(world, flow), sender, now);
    return true;
}

/// ACKs of what is under way tell the flow's law nothing: it was sent at another rate than what follows.
inline void forget_records(World& world, FlowSlot flow) {
    const FlowRoute& route = world.route[flow];
    for (std::uint32_t i = 0; !route.ints.empty() && i <= route.ints.mask(); ++i) {
        set_slot_tag(route.ints.words() + std::size_t{i} * world.int_stride, 0);
    }
    congestion::forget_records(sender_of(world, flow).cc, world.config->congestion);
}

/// Full packets of an active flow that are not sent yet, but for the last one.
inline std::int64_t unsent_packets(const World& world, FlowSlot flow) {
    const Sender& sender = sender_of(world, flow);
    return std::int64_t{sender.packets} - sender.high - 1;
}

/// Takes `packets` full packets out of the part of an active flow that is not sent yet
/// (packets <= unsent_packets()); negative: puts them back.
inline void shorten_flow(World& world, FlowSlot flow, std::int64_t packets) {
    Sender& sender = sender_of(world, flow);
    const auto fewer = static_cast<std::uint32_t>(packets);
    sender.packets -= fewer;
    sender.size -= packets * world.payload;
    world.receiver[flow].packets -= fewer;
}

/// Takes `packets` full packets of an active flow out of the network, which are no longer in any
/// queue or link; those behind them have been renumbered. The flow is that much shorter.
inline void remove_in_flight(World& world, FlowSlot flow, std::uint32_t packets) {
    Sender& sender = sender_of(world, flow);
    const std::int64_t bytes = std::int64_t{packets} * world.payload;
    sender.next -= packets;
    sender.high -= packets;
    sender.next_bytes -= bytes;
    shorten_flow(world, flow, packets);
    congestion::rewind(sender.cc, world.config->congestion, sender.offset + sender.una_bytes,
                       bytes);
    update_ready(world, sender);
}

/// At `now` `packets` full packets more of an active flow are in the network, already in a queue: those behind them
/// have been renumbered. At most unsent_packets(), and what the window leaves.
inline void place_in_flight(World& world, FlowSlot flow, std::uint32_t packets, Tick now) {
    Sender& sender = sender_of(world, flow);
    if (sender.next == sender.una) {
        sender.last_progress = now;
    }
    const std::int64_t bytes = std::int64_t{packets} * world.payload;
    sender.next += packets;
    sender.high += packets;
    sender.next_bytes += bytes;
    congestion::rewind(sender.cc, world.config->congestion, sender.offset + sender.una_bytes,
                       -bytes);
    update_ready(world, sender);
    if (world.config->nic.retransmit_timeout > 0) {
        arm(world, source_of(world, flow), world.sender_at[flow]);
    }
}

/// Recomputes from when a node has something to do, after its ports were moved.
inline void refresh_wake(World& world, NodeId node) {
    if (world.followed != nullptr && world.home[node] != node) {
        return;  // a host that follows another: that one's cell is woken for both
    }
    // A block may look too early, never too late.
    world.wake[world.home[node]] = kNever;
    if (world
            .whole_nodes) {  // a port's cell is looked up at its cable's other end, far away in memory
        const PortId first = world.first_port[node];
        wake_cell(world, node,
                  next_instant(world, first, AllPorts{world.first_port[node + 1] - first}));
    } else {
        for (PortId p = world.first_port[node]; p < world.first_port[node + 1]; ++p) {
            world.wake[cell_of(world, p)] = kNever;
        }
        for (PortId p = world.first_port[node]; p < world.first_port[node + 1]; ++p) {
            const Tick arrival = world.link[p].arrival;
            const Tick decision = world.link[p].decision;
            wake_cell(world, cell_of(world, p), arrival < decision ? arrival : decision);
        }
    }
    const Host& host = world.host[node];
    if (host.timers.count > 0) {
        wake_cell(world, world.home[node], host.timers.data[0].time);
    }
    if (world.followed != nullptr && world.followed[node] >= 0) {
        wake_cell(world, world.home[node], world.followed[node]);
    }
}

/// Other hosts do what this one does, unless something tells them apart (Columns::followed).
inline bool has_followers(const World& world, NodeId host) {
    return world.followed != nullptr && world.followed[host] != kUnfollowed;
}

/// Executes what the applications of a host whose packets stand still have ordered for up to `at`, and the starts of its
/// flows, but for the first one for which `stop(flow)` says so. True if there was one. Between windows.
template <class Stop>
bool run_paused_timers(World& world, NodeId host, Tick at, Stop&& stop) {
    PlainVector<Timer>& timers = world.host[host].timers;
    for (;;) {
        // The network's own timers of a paused host lie behind; stale ones are popped by the way.
        const bool due = timers.count > 0 && timers[0].time <= at;
        const bool own = due && timers[0].kind != TimerKind::sender;
        if (has_followers(world, host) && (own || world.followed[host] <= at)) {
            world.callbacks.meet_paused(world, host, at, own);
        }
        if (!due) {
            break;
        }
        if (timers[0].kind == TimerKind::flow_start) {
            Timer& start = timers[0];
            start.slot = slot_of(world, host, start);
            if (stop(start.slot)) {
                return true;
            }
        }
        if (own && has_followers(world, host)) {
            world.callbacks.go_on_together(world, host, at);
        }
        host_timer(world, host, at);
    }
    refresh_wake(world, host);
    return false;
}

/// Takes out timers that mean nothing any more and recomputes from when every node has something
/// to do, so that the next instant is one at which something happens. Costs the ports.
void forget_stale_wakes(World& world);

}  // namespace sluice::step
