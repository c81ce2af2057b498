// SPDX-License-Identifier: Apache-2.0
/// A host of Arithmetic::ns3, event by event. What differs from core/packet/nic.h is what ns-3's NIC
/// does by the way, and what decides single completion times:
///   - a finished queue pair stays in the round until a search passes it, and the position served
///     last is not moved when it goes;
///   - a search without result plans one wake-up, for the queue pair whose pacing ends first whether
///     its window is open or not; a pending wake-up is only ever moved forward, by a law;
///   - an ACK that completes a flow still goes through its law;
///   - each message of a connection has a queue pair of its own, with a fresh state;
///   - the receiver forgets a flow when its sender completes it: a later duplicate is a gap.
#pragma once

#include "core/ns3/link.h"
#include "core/packet/nic.h"

namespace sluice::ns3 {

/// HostPort::ready of a queue pair that has nothing left to do.
inline constexpr Tick kFinished = kNever - 1;

/// Recomputes from when a queue pair may send. In ns-3 an amount in flight is unsigned: an ACK from
/// before a go-back, beyond what is sent again, closes the window until the sender goes back anew.
inline void renew_ready(step::World& world, const step::Sender& sender) {
    const std::int64_t in_flight = sender.next_bytes - sender.una_bytes;
    const bool open = sender.next < sender.packets && in_flight < sender.window &&
                      (in_flight >= 0 || sender.cc.max_window == 0);
    const bool finished = sender.una >= sender.packets;
    world.host_port[sender.port].ready[sender.position] = open       ? sender.next_avail
                                                          : finished ? kFinished
                                                                     : kNever;
}

/// Takes finished queue pairs, from position `first` on, out of the round. Returns where the queue
/// pair at `chosen` (or kNone) is then.
inline std::uint32_t clear_finished(State& state, step::Host& host, step::HostPort& nic,
                                    std::uint32_t first, std::uint32_t chosen) {
    step::World& world = state.world;
    const std::uint32_t count = nic.sender.count;
    step::free_sender(world, host, nic.sender[first]);
    std::uint32_t place = first;
    for (std::uint32_t i = first + 1; i < count; ++i) {
        step::Sender& sender = host.senders[nic.sender[i]];
        if (sender.una >= sender.packets) {
            step::free_sender(world, host, nic.sender[i]);
            continue;
        }
        chosen = i == chosen ? place : chosen;
        sender.position = place;
        nic.sender[place] = nic.sender[i];
        nic.ready[place] = nic.ready[i];
        ++place;
    }
    nic.sender.count = place;
    nic.ready.count = place;
    return chosen;
}

/// The next queue pair in the round that may send, or kNone.
inline std::uint32_t search_round(State& state, step::Host& host, const step::Egress& egress,
                                  step::HostPort& nic, Tick now) {
    const std::uint32_t count = nic.sender.count;
    if (count == 0) {
        return kNone;
    }
    std::uint32_t first_finished = kNone;
    std::uint32_t chosen = kNone;
    std::uint32_t i = nic.last % count;
    for (std::uint32_t k = 0; k < count; ++k) {
        i = i + 1 == count ? 0 : i + 1;
        if (nic.ready[i] <= now && !step::sender_paused(host, egress, nic.sender[i])) {
            chosen = i;
            break;
        }
        if (nic.ready[i] == kFinished) {
            first_finished = i < first_finished ? i : first_finished;
        }
    }
    return first_finished == kNone ? chosen
                                   : clear_finished(state, host, nic, first_finished, chosen);
}

inline void plan_wake(State& state, PortId port, Tick at) {
    Port& own = state.port[port];
    own.wake_at = at;
    own.wake_order = state.queue.take_order();
    state.queue.insert(at, own.wake_order, event_code(EventKind::nic_wake, port));
}

/// Nothing to send: plans the wake-up, unless one is pending.
inline void sleep(State& state, const step::Host& host, PortId port, const step::HostPort& nic,
                  Tick now) {
    if (state.port[port].wake_at != kNever) {
        return;
    }
    Tick earliest = kNever;
    for (std::uint32_t i = 0; i < nic.sender.count; ++i) {
        const step::Sender& sender = host.senders[nic.sender[i]];
        if (sender.next < sender.packets && sender.next_avail < earliest) {
            earliest = sender.next_avail;
        }
    }
    if (earliest != kNever && earliest > now) {
        plan_wake(state, port, earliest);
    }
}

/// Time to put the sender's last packet on the wire at `rate`.
inline Tick sending_time(const step::World& world, const step::Sender& sender, std::int64_t rate) {
    return rate == sender.cc.line_rate
               ? world.egress[sender.port].serialization[sender.last_bytes]
               : serialization_time(sender.last_bytes, Rate{rate}, Arithmetic::ns3);
}

/// Keeps an event for the next own instant (law timer or time-out) of its host's sender `index`.
inline void arm(State& state, std::uint32_t index, step::Sender& sender) {
    step::World& world = state.world;
    const NicConfig& nic = world.config->nic;
    Tick at = congestion::next_timer(sender.cc, world.config->congestion);
    if (nic.retransmit_timeout > 0 && sender.next != sender.una) {
        const Tick timeout = sender.last_progress + nic.retransmit_timeout;
        at = timeout < at ? timeout : at;
    }
    if (at < sender.armed) {
        at = whole_nanoseconds(at);
        sender.armed = at;
        step::Timer timer;
        timer.time = at;
        timer.kind = step::TimerKind::sender;
        timer.slot = index;
        timer.id = world.id[sender.flow];
        set_timer(state, world.spec[sender.flow].src, timer);
    }
}

/// Sends the next packet of the queue pair at `position` of the round.
inline void send_data(State& state, step::Host& host, PortId port, step::HostPort& nic,
                      std::uint32_t position, Tick now) {
    step::World& world = state.world;
    step::Sender& sender = host.senders[nic.sender[position]];
    nic.last = position;
    nic.last_was_ack = false;
    const bool leaves = step::is_last_departure(sender);
    const step::Packet packet = step::take_packet(world, sender, now);
    start_transmission(state, port, world.egress[port], packet, packet.int_hops, 0, now);
    if (leaves) {
        step::pass_turn(world, world.spec[sender.flow].src, sender.flow,
                        world.egress[port].free_at);
    }
    const bool paced = world.config->congestion.pacing;
    sender.last_gap = sending_time(world, sender, sender.cc.rate);
    sender.next_avail =
        now + (paced ? sender.last_gap : sending_time(world, sender, sender.cc.line_rate));
    renew_ready(world, sender);
    if (world.config->nic.retransmit_timeout > 0) {
        arm(state, nic.sender[position], sender);
    }
}

/// The NIC port looks for something to send: ACKs, then queue pairs in turn.
inline void nic_transmit(State& state, PortId port, Tick now) {
    step::World& world = state.world;
    step::Egress& egress = world.egress[port];
    step::HostPort& nic = world.host_port[port];
    if (!egress.up) {
        return;
    }
    step::Host& host = world.host[state.port[port].node];
    if (transmitting(state, port, egress, now)) {
        if (nic.sender.count > 0 || egress.nonempty != 0) {
            await_end(state, port, egress);
        }
        return;
    }
    const bool ack = step::ack_ready(world, egress);
    std::uint32_t position = kNone;
    if (!ack || (!world.config->queues.ack_strict_at_host && nic.last_was_ack)) {
        position = search_round(state, host, egress, nic, now);
    }
    if (position != kNone) {
        send_data(state, host, port, nic, position, now);
    } else if (ack) {
        const step::Packet& packet = step::dequeue(egress, 0);
        nic.last_was_ack = true;
        start_transmission(state, port, egress, packet, packet.int_hops, 0, now);
    } else {
        sleep(state, host, port, nic, now);
        return;
    }
    if (nic.sender.count > 0 || egress.nonempty != 0) {
        await_end(state, port, egress);
    }
}

inline void answer(State& state, NodeId node, const step::Packet& data, step::PacketKind kind,
                   std::uint32_t expected, Tick now) {
    step::World& world = state.world;
    const step::Packet packet = step::make_answer(world, data, kind, expected, data.ce != 0);
    const PortId port = step::egress_of(world, node, packet);
    if (port == kNone) {
        step::lose(world, world.egress[world.first_port[node]], &step::Egress::drops_no_way);
        return;
    }
    step::Egress& egress = world.egress[port];
    const bool paused = (egress.paused >> world.config->queues.ack_pause_class & 1U) != 0;
    if (egress.nonempty == 0 && egress.up && !paused && world.config->queues.ack_strict_at_host &&
        !transmitting(state, port, egress, now)) {  // passes the queue by
        step::HostPort& nic = world.host_port[port];
        nic.last_was_ack = true;
        egress.max_queued_bytes =
            egress.max_queued_bytes < packet.bytes ? packet.bytes : egress.max_queued_bytes;
        start_transmission(state, port, egress, packet, packet.int_hops, 0, now);
        if (nic.sender.count > 0) {
            await_end(state, port, egress);
        }
        return;
    }
    step::enqueue(world, egress, packet, 0);
    nic_transmit(state, port, now);
}

/// True if a receiver that expects packet `expected` next acknowledges what it has.
inline bool acknowledged_at(const step::World& world, FlowSlot flow, std::uint32_t expected) {
    const NicConfig& nic = world.config->nic;
    const std::int64_t bytes = step::bytes_before(world, expected, world.spec[flow].size);
    return bytes >= nic.ack_interval.count ||
           (nic.chunk_bytes.count > 0 && bytes % nic.chunk_bytes.count == 0);
}

/// A data packet at its destination. ns-3 counts the acknowledgement interval from the flow's
/// beginning: until so much has come only whole chunks are acknowledged, every packet after that; a
/// shorter flow never completes.
inline void receive_data(State& state, NodeId node, const step::Packet& packet, Tick now) {
    step::World& world = state.world;
    step::Receiver& receiver = world.receiver[packet.flow];
    const NicConfig& nic = world.config->nic;
    if (packet.sequence == receiver.expected) {
        const std::uint32_t expected = ++receiver.expected;
        const bool complete = expected == receiver.packets;
        if (acknowledged_at(world, packet.flow, expected)) {
            answer(state, node, packet, step::PacketKind::ack, expected, now);
        }
        if (complete && world.result[packet.flow].received == kNever) {
            world.result[packet.flow].received = now;
            if (world.callbacks.received != nullptr) {
                world.callbacks.received(world, node, packet.flow, now);
            }
        }
    } else if (packet.sequence > receiver.expected) {
        if (step::note_gap(nic, receiver, now)) {
            answer(state, node, packet, step::PacketKind::nack, receiver.expected, now);
        }
    } else if (nic.retransmit_timeout > 0) {
        // A duplicate means that the sender missed an ACK; without a time-out (ns-3) it never asks.
        answer(state, node, packet, step::PacketKind::ack, receiver.expected, now);
    }
}

/// The flow is complete: its result stands, and its receiver is forgotten.
inline void finish_flow(State& state, NodeId node, const step::Sender& sender, Tick now) {
    step::World& world = state.world;
    const FlowSlot flow = sender.flow;
    step::complete_flow(world, sender, now);
    --state.open_flows;
    step::Receiver& receiver = world.receiver[flow];
    receiver.expected = 0;
    receiver.last_nack = kNone;
    receiver.nack_timer = 0;
    if (world.callbacks.sent != nullptr) {
        world.callbacks.sent(world, node, flow, now);
    }
}

/// The law has decided the rate anew: the packet in wait moves, and a pending wake-up with it if
/// that is earlier.
inline void retime(State& state, step::Sender& sender, Tick now) {
    const Tick time = sending_time(state.world, sender, sender.cc.rate);
    sender.next_avail += time - sender.last_gap;
    sender.last_gap = time;
    Port& own = state.port[sender.port];
    if (own.wake_at != kNever && sender.next_avail < own.wake_at) {
        plan_wake(state, sender.port, sender.next_avail < now ? now : sender.next_avail);
    }
}

/// Moves the sender on to what an ACK or NACK acknowledges.
inline void take_acknowledgement(step::World& world, step::Sender& sender,
                                 const step::Packet& packet, Tick now) {
    const std::uint32_t acked =
        step::acknowledged_index(world.config->nic, sender, packet.sequence);
    if (acked > sender.una) {
        sender.una = acked;
        sender.una_bytes = step::bytes_before(world, acked, sender.size);
        sender.last_progress = now;
    }
}

/// Records that the INT header of that simulator holds; a longer path gives no feedback.
inline constexpr int kIntHops = 5;

inline congestion::Ack feedback(const step::World& world, const step::Sender& sender,
                                const step::Packet& packet, Tick now) {
    congestion::Ack ack = step::feedback(world, sender, sender, packet, now);
    if (ack.hop_count > kIntHops) {
        ack.hops = nullptr;
        ack.hop_count = 0;
    }
    return ack;
}

/// An ACK or NACK at the flow's source. Those of completed flows are ignored.
inline void receive_ack(State& state, NodeId node, const step::Packet& packet, Tick now) {
    step::World& world = state.world;
    const std::uint32_t index = world.sender_at[packet.flow];
    if (index == kNone) {
        return;
    }
    step::Sender& sender = world.host[node].senders[index];
    const PortId port = sender.port;
    take_acknowledgement(world, sender, packet, now);
    const bool complete = sender.una >= sender.packets;
    const congestion::Parameters& law = world.config->congestion;
    if (packet.packet_kind() == step::PacketKind::nack) {
        step::go_back(world, sender, false);
    }
    const congestion::Ack ack = ns3::feedback(world, sender, packet, now);
    if (complete) {
        finish_flow(state, node, sender, now);
    }
    if (congestion::on_ack(sender.cc, law, world.int_rates, ack)) {
        retime(state, sender, now);
    }
    sender.window = congestion::window(sender.cc, law);
    renew_ready(world, sender);
    if (!complete) {
        arm(state, index, sender);
    }
    nic_transmit(state, port, now);
}

/// One arrival at a host.
inline void host_arrive(State& state, NodeId node, PortId in, const step::Packet& packet,
                        Tick now) {
    step::World& world = state.world;
    if (packet.packet_kind() >= step::PacketKind::pause) {
        step::obey_pfc(world, in, packet, now);
        if (packet.packet_kind() == step::PacketKind::resume) {
            nic_transmit(state, in, now);
        }
    } else if (step::lost_on_link(world, in, world.ingress[in])) {
        step::lose(world, world.egress[in], &step::Egress::drops_cable);
    } else if (packet.packet_kind() == step::PacketKind::data) {
        receive_data(state, node, packet, now);
    } else {
        receive_ack(state, node, packet, now);
    }
}

/// A flow's start: its queue pair joins the round and the NIC looks for something to send at once,
/// before the next flow that starts at the same instant.
inline void start_flow(State& state, NodeId node, FlowSlot flow, Tick now) {
    step::World& world = state.world;
    if (!step::take_turn(world, flow)) {
        return;
    }
    step::come_into_service(world, flow);
    const PortId port = step::departure_port(world, node, flow);
    const std::uint32_t index = step::create_sender(world, flow, port, now);
    ++state.open_flows;
    step::Host& host = world.host[node];
    step::attach(world, host, index, port);
    renew_ready(world, host.senders[index]);
    nic_transmit(state, port, now);
}

inline void sender_timer(State& state, NodeId node, const step::Timer& timer, Tick now) {
    step::World& world = state.world;
    step::Host& host = world.host[node];
    if (step::superseded(world, host, timer)) {
        return;
    }
    step::Sender& sender = host.senders[timer.slot];
    sender.armed = kNever;
    const congestion::Parameters& law = world.config->congestion;
    if (congestion::next_timer(sender.cc, law) <= now) {
        congestion::on_timer(sender.cc, law, now);
        sender.window = congestion::window(sender.cc, law);
        renew_ready(world, sender);
    }
    const Tick timeout = world.config->nic.retransmit_timeout;
    if (timeout > 0 && sender.next != sender.una && sender.last_progress + timeout <= now) {
        step::go_back(world, sender, true);
        sender.last_progress = now;
        renew_ready(world, sender);
        nic_transmit(state, sender.port, now);
    }
    arm(state, timer.slot, sender);
}

}  // namespace sluice::ns3
