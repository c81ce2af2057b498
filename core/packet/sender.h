// SPDX-License-Identifier: Apache-2.0
/// The sending side of a queue pair: window and pacing, go-back-N, time-out, congestion control. Behaviour is that of the
/// HPCC ns-3 RDMA NIC (docs/models/nic.md), plus a retransmission time-out. core/ns3/ starts from the same parts.
#pragma once

#include "core/memory_space.h"
#include "core/packet/credits.h"
#include "core/packet/egress.h"
#include "core/packet/policies/entropy.h"
#include "core/packet/selective_repeat.h"
#include "core/packet/timers.h"

namespace sluice::step {

/// Time from the departure of a packet of `bytes` to the next one at rate `rate`.
SLUICE_HD inline Tick pacing_gap(const World& world, const Sender& sender, std::int64_t rate) {
    if (rate == sender.cc.line_rate || !world.config->congestion.pacing) {
        return world.egress[sender.port].serialization[sender.last_bytes];
    }
    return serialization_time(sender.last_bytes, Rate{rate}, world.config->arithmetic);
}

/// Packets are under way, and no ACK of them will come: with NicConfig::ack_every the last packet that fits
/// the window asks for one, but the window has shrunk since others were sent. One packet more asks then.
SLUICE_HD inline bool awaits_no_ack(const World& world, const Sender& sender) {
    const NicConfig& nic = world.config->nic;
    const auto every = static_cast<std::uint32_t>(nic.ack_every);
    const auto chunk = static_cast<std::uint32_t>(nic.ack_chunk);
    return every > 1 && sender.next > sender.una && sender.next - sender.una < every &&
           sender.asked <= sender.una && sender.behind == 0 &&
           (chunk == 0 || sender.next / chunk == sender.una / chunk);
}

/// The queue pair's next departure is that of a packet which is missing at its receiver. What was trimmed waits for the
/// window, as it is not in flight.
SLUICE_HD inline bool sends_again(const World& world, const Sender& sender) {
    return repeats_selectively(world) && has_credit(world, sender.flow) &&
           (has_missing(world, sender.flow) ||
            (has_trimmed(world, sender.flow) && bytes_in_flight(world, sender) < sender.window));
}

/// Recomputes from when the queue pair may send.
SLUICE_HD inline void update_ready(World& world, const Sender& sender) {
    const bool open = (sender.next < sender.packets && is_let_in(world, sender) &&
                       (has_window(world, sender) || awaits_no_ack(world, sender))) ||
                      sends_again(world, sender);
    world.host_port[sender.port].ready[sender.position] = open ? sender.next_avail : kNever;
}

/// How long after the last progress the sender starts over; 0: never.
SLUICE_HD inline Tick timeout_of(const World& world, const Sender& sender) {
    return repeats_selectively(world) ? selective_timeout(world, sender)
                                      : world.config->nic.retransmit_timeout;
}

/// Puts the sender's next own instant (law timer or time-out) into the host's heap, if that is
/// earlier than what is there for it already.
SLUICE_HD inline void arm(World& world, Host& host, std::uint32_t index) {
    Sender& sender = host.senders[index];
    Tick at = congestion::next_timer(sender.cc, world.config->congestion);
    const Tick timeout = timeout_of(world, sender);
    if (timeout > 0 && awaits_answer(world, sender) && sender.last_progress + timeout < at) {
        at = sender.last_progress + timeout;
    }
    if (at < sender.armed) {
#if !defined(__CUDA_ARCH__)
        // At three quarters, because flow starts are pushed, too, and would make it grow first. A device's heaps are
        // allocated beforehand.
        if (host.timers.count >= host.timers.capacity / 4 * 3) {
            tidy_timers(world, host);
        }
#endif
        sender.armed = at;
        Timer timer;
        timer.time = at;
        timer.kind = TimerKind::sender;
        timer.slot = index;
        timer.id = world.id[sender.flow];
        push_timer(world.memory, host, timer);
    }
}

/// Adds a queue pair to the end of a NIC port's round.
SLUICE_HD inline void attach(World& world, Host& host, std::uint32_t index, PortId port) {
    HostPort& nic = world.host_port[port];
    Sender& sender = host.senders[index];
    sender.port = port;
    sender.position = nic.sender.count;
    nic.sender.push(world.memory, index);
    nic.ready.push(world.memory, Tick{kNever});
}

/// Takes a queue pair out of its port's round; the others keep their order.
SLUICE_HD inline void detach(World& world, Host& host, std::uint32_t index) {
    Sender& sender = host.senders[index];
    HostPort& nic = world.host_port[sender.port];
    const std::uint32_t position = sender.position;
    nic.sender.erase(position);
    nic.ready.erase(position);
    for (std::uint32_t i = position; i < nic.sender.count; ++i) {
        host.senders[nic.sender[i]].position = i;
    }
    if (nic.last >= position && nic.last > 0) {
        --nic.last;
    }
    if (nic.last >= nic.sender.count) {
        nic.last = nic.sender.count > 0 ? nic.sender.count - 1 : 0;
    }
}

/// Brings `flow` into service by a queue pair for `port`, in no port's round yet. Returns its sender's
/// index.
SLUICE_HD inline std::uint32_t create_sender(World& world, FlowSlot flow, PortId port, Tick now) {
    const FlowSpec& spec = world.spec[flow];
    Host& host = world.host[spec.src];
    std::uint32_t index = 0;
    if (host.free_senders.count > 0) {
        index = host.free_senders[--host.free_senders.count];
    } else {
        index = host.senders.count;
        host.senders.push(world.memory, Sender{});
    }
    ++counts_of(world).active_senders;
    Sender& sender = host.senders[index];
    sender = Sender{};
    sender.flow = flow;
    sender.size = spec.size;
    sender.packets = static_cast<std::uint32_t>((spec.size + world.payload - 1) / world.payload);
    sender.traffic_class = spec.priority;
    sender.int_shift = static_cast<std::uint8_t>(world.int_shift);
    sender.next_avail = now;
    sender.last_progress = now;
    const bool global = world.config->nic.global_base_rtt;
    congestion::start(sender.cc, world.config->congestion, world.egress[port].line_rate,
                      global ? world.max_window : world.flow_window[flow],
                      global ? world.base_rtt : world.flow_base_rtt[flow],
                      window_products(world, flow));
    sender.window = congestion::window(sender.cc, world.config->congestion);
    begin_credits(world, sender);
    world.sender_at[flow] = index;
    world.result[flow].start = now;
    note_change(world, flow);
    take_int_slots(world, host, flow, sender.packets);
    return index;
}

/// Brings `flow` into service at the end of `port`'s round, by a queue pair of its own or by its
/// connection's. Returns its sender's index.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline std::uint32_t open_sender(World& world, FlowSlot flow,
                                                                  PortId port, Tick now) {
    is_in_shared_memory(world);
    const std::uint32_t index = create_sender(world, flow, port, now);
    const std::uint32_t before = come_into_service(world, flow);
    Host& host = source_of(world, flow);
    if (before != kNone) {
        take_over(world, host, index, before);
    }
    attach(world, host, index, port);
    update_ready(world, host.senders[index]);
    arm(world, host, index);
    return index;
}

/// Records that the queue pair's flow is complete.
SLUICE_HD inline void complete_flow(World& world, const Sender& sender, Tick now) {
    const FlowSlot flow = sender.flow;
    world.result[flow].finish = now;
    world.result[flow].retransmitted = sender.retransmitted;
    world.result[flow].resent_late = sender.resent_late;
    counts_of(world).retransmitted += static_cast<std::uint64_t>(sender.retransmitted);
    counts_of(world).resent_late += static_cast<std::uint64_t>(sender.resent_late);
    world.sender_at[flow] = kNone;
    note_change(world, flow);
}

/// Gives back the place of a sender that is in no port's round.
SLUICE_HD inline void free_sender(World& world, Host& host, std::uint32_t index) {
    Sender& sender = host.senders[index];
    sender.flow = kNone;
    sender.armed = kNever;
    host.free_senders.push(world.memory, index);
    --counts_of(world).active_senders;
}

/// Removes a finished queue pair.
SLUICE_HD inline void close_sender(World& world, Host& host, std::uint32_t index, Tick now) {
    detach(world, host, index);
    complete_flow(world, host.senders[index], now);
    free_sender(world, host, index);
}

/// A data packet of the queue pair's message, `index` with `payload` bytes, as it departs at `now`.
SLUICE_HD inline Packet make_data(World& world, Sender& sender, std::uint32_t index,
                                  std::int64_t payload, Tick now) {
    Packet packet;
    packet.stamp = now - sender.skipped;
    if (world.has_entropy) {
        packet.stamp = stamp_of(packet.stamp, next_entropy(world, sender));
    }
    packet.flow = sender.flow;
    packet.sequence = index;
    packet.bytes = static_cast<std::uint16_t>(payload + world.data_overhead);
    packet.kind = static_cast<std::uint16_t>(PacketKind::data);
    packet.traffic_class = sender.traffic_class & (kClasses - 1);
    const std::uint32_t count = sender.transmissions++;
    const std::uint32_t row = count >> sender.int_shift;
    packet.transmission = static_cast<std::uint16_t>(row);
    const FlowRoute& route = world.route[sender.flow];
    if (count - (row << sender.int_shift) != place_of_slot(row, sender.int_shift)) {
        packet.int_hops = hops_without_slot(world) & 15U;
    } else if (!route.ints.empty()) {
        set_slot_tag(int_slot(world, route, packet.transmission),
                     int_tag(packet.flow, packet.transmission));
        SLUICE_PREFETCH(
            int_slot(world, route, static_cast<std::uint16_t>(packet.transmission + 2)));
    }
    return packet;
}

/// The queue pair's next packet, or train, as it departs at `now`.
SLUICE_HD inline Packet take_packet(World& world, Sender& sender, Tick now) {
    const std::int64_t left = sender.size - sender.next_bytes;
    const std::uint32_t length = train_length(world, sender, now);
    const std::int64_t full = std::int64_t{world.payload} * length;
    const std::int64_t payload = left < full ? left : full;
    Packet packet = make_data(world, sender, sender.next, payload, now);
    if (length > 1) {
        packet.bytes = static_cast<std::uint16_t>(full_frame(world) * length);
    }
    if (sender.next == sender.una) {
        sender.last_progress = now;
    }
    sender.next += length;
    sender.next_bytes += payload;
    if (sender.next > sender.high) {
        sender.high = sender.next;
    } else {
        sender.retransmitted += payload;
        sender.resent_late += sender.timed_out ? payload : 0;
    }
    packet.echo = sender.next == sender.packets ||
                  bytes_in_flight(world, sender) >= sender.window || !is_let_in(world, sender);
    sender.asked = packet.echo != 0 ? sender.next : sender.asked;
    sender.last_bytes = packet.bytes;
    return packet;
}

/// The first packet that is to be sent again selectively, as it departs at `now`.
SLUICE_HD inline Packet take_missing(World& world, Sender& sender, Tick now) {
    const std::uint32_t index = next_missing(world, sender);
    const std::int64_t payload = payload_of(world, index, sender.size);
    Packet packet = make_data(world, sender, index, payload, now);
    sender.retransmitted += payload;
    sender.resent_late += sender.timed_out ? payload : 0;
    packet.echo = 1;
    sender.last_bytes = packet.bytes;
    return packet;
}

/// What the queue pair sends at `now`.
SLUICE_HD inline Packet next_departure(World& world, Sender& sender, Tick now) {
    if (!repeats_selectively(world)) {
        return take_packet(world, sender, now);
    }
    note_departure(world, sender, now);
    sender.last_progress = now;
    const bool again = sends_again(world, sender);
    spend_credit(world, sender);
    Packet packet = again ? take_missing(world, sender, now) : take_packet(world, sender, now);
    ask_for_credits(world, sender, packet);
    return packet;
}

/// Sends the queue pair's next packet.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void send_data(World& world, NodeId node,
                                                       std::uint32_t index, Tick now) {
    is_in_shared_memory(world);
    Host& host = world.host[node];
    Sender& sender = host.senders[index];
    Egress& egress = world.egress[sender.port];
    const bool leaves = is_last_departure(sender) && !sends_again(world, sender);
    const Packet packet = next_departure(world, sender, now);
    sender.last_gap = pacing_gap(world, sender, sender.cc.rate);
    sender.next_avail = now + sender.last_gap;
    put_on_wire(world, sender.port, egress, packet, packet.int_hops, 0, now);
    update_ready(world, sender);
    if (leaves) {
        pass_turn(world, node, sender.flow, egress.free_at);
    }
    if (world.config->nic.retransmit_timeout > 0) {
        arm(world, host, index);
    }
}

/// Starts over from the first unacknowledged packet, because of a time-out or of a NACK.
SLUICE_HD inline void go_back(World& world, Sender& sender, bool timed_out) {
    sender.timed_out = timed_out;
    if (repeats_selectively(world)) {
        give_up(world, sender);
        return;
    }
    sender.next = sender.una;
    sender.next_bytes = sender.una_bytes;
    sender.asked = sender.una;
    if (world.track_flows) {
        world.went_back.push(world.memory, sender.flow);
    }
}

/// What `packet`, an ACK or NACK, tells the law of its flow, whose queue pair `lead` has now.
SLUICE_HD inline congestion::Ack feedback(const World& world, const Sender& sender,
                                          const Sender& lead, const Packet& packet, Tick now) {
    congestion::Ack ack;
    ack.now = now;
    ack.acked = sender.offset + bytes_before(world, packet.sequence, sender.size);
    ack.next = lead.offset + lead.next_bytes;
    ack.echo = packet.echo != 0;
    ack.nack = packet.packet_kind() == PacketKind::nack;
    ack.packets = packets_of_ack(world, packet);
    ack.sent = departure_of(world, sender, packet, now);
    ack.arrived = ack.acked + arrived_beyond(world, sender);
    ack.trimmed = trimmed_beyond(world, sender);
    ack.links = packet.hop;
    ack.sprayed = takes_several_paths(world, sender.flow);
    const FlowRoute& route = world.route[sender.flow];
    if (!route.ints.empty()) {
        const congestion::IntRecord* const slot = int_slot(world, route, packet.transmission);
        if (slot_tag(slot) == int_tag(packet.flow, packet.transmission) &&
            packet.int_hops < world.int_stride) {
            ack.hops = slot + 1;
            ack.hop_count = packet.int_hops;
        }
    }
    return ack;
}

/// The packet up to which an ACK of `sequence` acknowledges; under go-back-0 whole chunks only.
SLUICE_HD inline std::uint32_t acknowledged_index(const NicConfig& nic, const Sender& sender,
                                                  std::uint32_t sequence) {
    const auto chunk = static_cast<std::uint32_t>(nic.ack_chunk);
    return nic.back_to_zero && chunk > 0 && sequence < sender.packets ? sequence / chunk * chunk
                                                                      : sequence;
}

/// An ACK or NACK of an active flow, for the law of whoever has its queue pair now. Returns true if
/// it completed the flow.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline bool acknowledge(World& world, Host& host,
                                                         std::uint32_t index, const Packet& packet,
                                                         Tick now) {
    is_in_shared_memory(world);
    is_in_global_memory(host);
    Sender& sender = host.senders[index];
    const std::uint32_t acked = acknowledged_index(world.config->nic, sender, packet.sequence);
    const std::int64_t una_bytes = sender.una_bytes;
    const bool went_back = packet.packet_kind() == PacketKind::nack && !repeats_selectively(world);
    std::int64_t lost = went_back ? world.payload : 0;
    if (repeats_selectively(world)) {
        lost = heed_sack(world, sender, packet, acked, now);
    }
    if (acked > sender.una) {
        sender.una = acked;
        sender.una_bytes = bytes_before(world, acked, sender.size);
        sender.last_progress = now;
        if (sender.una > sender.next) {  // an ACK from before a go-back
            sender.next = sender.una;
            sender.next_bytes = sender.una_bytes;
        }
    }
    if (went_back) {
        go_back(world, sender, false);
    }
    const std::uint32_t heir = credit_heirs(host, index, sender.una_bytes - una_bytes);
    Sender& lead = host.senders[heir];
    const std::int64_t rate = lead.cc.rate;
    if (lost > 0) {
        const congestion::Loss loss{now, lost, bytes_in_flight(world, lead), false};
        congestion::on_loss(lead.cc, world.config->congestion, loss);
    }
    congestion::on_ack(lead.cc, world.config->congestion, world.int_rates,
                       feedback(world, sender, lead, packet, now));
    if (lead.cc.rate != rate) {
        if (lead.cc.retime) {
            const Tick gap = pacing_gap(world, lead, lead.cc.rate);
            lead.next_avail += gap - lead.last_gap;
            lead.last_gap = gap;
        }
        lead.window = congestion::window(lead.cc, world.config->congestion);
    }
    if (heir != index) {
        // Messages in between that go back have waited for the window, too, and have no timer.
        for (std::uint32_t i = sender.heir; i != heir; i = host.senders[i].heir) {
            update_ready(world, host.senders[i]);
        }
        update_ready(world, lead);
        arm(world, host, heir);
    }
    if (is_complete(sender)) {
        return true;
    }
    update_ready(world, sender);
    arm(world, host, index);
    return false;
}

/// The law of whoever has the queue pair of the host's sender `index` now learns of a time-out.
SLUICE_HD inline void note_time_out(World& world, Host& host, std::uint32_t index, Tick now) {
    Sender& lead = host.senders[credit_heirs(host, index, 0)];
    const std::int64_t rate = lead.cc.rate;
    const congestion::Loss loss{now, world.payload, bytes_in_flight(world, lead), true};
    congestion::on_loss(lead.cc, world.config->congestion, loss);
    if (lead.cc.rate != rate) {
        lead.window = congestion::window(lead.cc, world.config->congestion);
        update_ready(world, lead);
    }
}

/// A sender's timer came up: law timers, then the time-out.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void sender_timer(World& world, Host& host,
                                                          std::uint32_t index, Tick now) {
    is_in_shared_memory(world);
    is_in_global_memory(host);
    Sender& sender = host.senders[index];
    sender.armed = kNever;
    if (congestion::next_timer(sender.cc, world.config->congestion) <= now) {
        congestion::on_timer(sender.cc, world.config->congestion, now);
        sender.window = congestion::window(sender.cc, world.config->congestion);
    }
    const Tick timeout = timeout_of(world, sender);
    if (timeout > 0 && awaits_answer(world, sender) && sender.last_progress + timeout <= now) {
        go_back(world, sender, true);
        sender.last_progress = now;
        note_time_out(world, host, index, now);
    }
    update_ready(world, sender);
    arm(world, host, index);
}

}  // namespace sluice::step
