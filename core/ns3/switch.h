// SPDX-License-Identifier: Apache-2.0
/// A switch of Arithmetic::ns3, event by event: admission and PFC at each packet's instant, classes
/// served packet by packet in turn, an idle port transmitting inside the reception of a packet.
#pragma once

#include "core/bits.h"
#include "core/ns3/link.h"
#include "core/packet/switch.h"

namespace sluice::ns3 {

/// The class to be served: 0 first, paused or not, then the next one after the last served.
/// kNone if none may send.
inline std::uint32_t next_class(const step::Egress& egress) {
    if ((egress.nonempty & 1U) != 0) {
        return 0;
    }
    const std::uint32_t mask = step::eligible(egress);
    if ((mask & (mask - 1)) == 0) {
        return mask == 0 ? kNone : first_bit(mask);
    }
    const std::uint32_t after = mask & ~((2U << egress.last_class) - 1);
    return first_bit(after != 0 ? after : mask);
}

inline void switch_transmit(State& state, PortId port, Tick now);

inline void send_pfc(State& state, PortId port, std::uint32_t queue, bool pause, Tick now) {
    step::enqueue_pfc(state.world, port, queue, pause);
    switch_transmit(state, port, now);
}

/// Counts a departing packet out of the buffer and lets its peer go on where that allows it.
inline void leave_buffer(State& state, NodeId node, const step::Packet& packet, std::uint32_t queue,
                         Tick now) {
    step::World& world = state.world;
    const PortId in = world.first_port[node] + packet.ingress;
    step::Buffer& buffer = world.buffer[node];
    step::Ingress& ingress = world.ingress[in];
    step::release(buffer, ingress, queue, packet.bytes, world.pfc);
    if (world.pfc && step::should_resume(world, buffer, ingress, queue)) {
        step::end_pause(buffer, ingress, queue);
        send_pfc(state, in, queue, false, now);
    }
}

/// Sends what a queue let go at `now`.
inline void emit(State& state, PortId port, step::Egress& egress, const step::Packet& packet,
                 std::uint32_t queue, Tick now) {
    const step::Written written =
        step::mark_and_stamp(state.world, port, egress, packet, queue, now);
    start_transmission(state, port, egress, packet, written.int_hops, written.ce, now);
}

/// The port looks for something to send. A resume frame that a departure releases is scheduled
/// before the departing packet, which is marked by what the class holds then.
inline void switch_transmit(State& state, PortId port, Tick now) {
    step::Egress& egress = state.world.egress[port];
    if (!egress.up) {
        return;
    }
    if (transmitting(state, port, egress, now)) {
        await_end(state, port, egress);
        return;
    }
    const std::uint32_t queue = next_class(egress);
    if (queue == kNone) {
        return;
    }
    const step::Packet& packet = step::dequeue(egress, queue);
    if (queue != 0) {
        egress.last_class = static_cast<std::uint8_t>(queue);
        leave_buffer(state, state.port[port].node, packet, queue, now);
    }
    emit(state, port, egress, packet, queue, now);
    if (egress.nonempty != 0) {
        await_end(state, port, egress);
    }
}

/// Admission of a packet to the shared buffer; false if it is dropped.
inline bool enter_buffer(State& state, NodeId node, PortId in, const step::Packet& packet,
                         const step::Egress& egress, std::uint32_t queue, Tick now) {
    step::World& world = state.world;
    step::Buffer& buffer = world.buffer[node];
    step::Ingress& ingress = world.ingress[in];
    if (!world.pfc) {
        return step::admit_lossy(world, buffer, egress.class_bytes[queue], packet.bytes);
    }
    if (!step::admit_lossless(world, buffer, ingress, queue, packet.bytes)) {
        return false;
    }
    if (step::should_pause(world, buffer, ingress, queue)) {
        step::begin_pause(buffer, ingress, queue);
        send_pfc(state, in, queue, true, now);
    }
    return true;
}

/// True if a packet that passes without waiting cannot be told by the buffer: nothing of its ingress
/// is buffered or paused, it stays within its reserve, and neither a pause nor a resume can follow.
inline bool passes_unnoticed(const step::World& world, NodeId node, PortId in,
                             std::uint32_t bytes) {
    const step::Buffer& buffer = world.buffer[node];
    const step::Ingress& ingress = world.ingress[in];
    return world.pfc && ingress.total_bytes == 0 && ingress.paused == 0 &&
           bytes <= buffer.reserve && step::threshold(world, buffer, ingress) > bytes;
}

inline void switch_arrive(State& state, NodeId node, PortId in, const step::Packet& packet,
                          Tick now) {
    step::World& world = state.world;
    if (packet.packet_kind() >= step::PacketKind::pause) {
        step::obey_pfc(world, in, packet, now);
        if (packet.packet_kind() == step::PacketKind::resume) {
            switch_transmit(state, in, now);
        }
        return;
    }
    const PortId out = step::egress_of(world, node, packet);
    const bool lost = step::lost_on_link(world, in, world.ingress[in]);
    if (lost || out == kNone) {
        step::lose(world, world.egress[out == kNone ? in : out],
                   lost ? &step::Egress::drops_cable : &step::Egress::drops_no_way);
        return;
    }
    step::Egress& egress = world.egress[out];
    const std::uint32_t queue = step::switch_queue(world, packet);
    if (egress.nonempty == 0 && (egress.paused >> queue & 1U) == 0 && queue != 0 &&
        passes_unnoticed(world, node, in, packet.bytes) && egress.up &&
        !transmitting(state, out, egress, now)) {
        egress.last_class = static_cast<std::uint8_t>(queue);
        egress.max_queued_bytes =
            egress.max_queued_bytes < packet.bytes ? packet.bytes : egress.max_queued_bytes;
        emit(state, out, egress, packet, queue, now);
        return;
    }
    if (queue != 0 && !enter_buffer(state, node, in, packet, egress, queue, now)) {
        step::lose(world, egress, &step::Egress::drops_no_room);
        return;
    }
    step::Packet queued = packet;
    queued.ingress = static_cast<std::uint16_t>(in - world.first_port[node]);
    step::enqueue(world, egress, queued, queue);
    switch_transmit(state, out, now);
}

}  // namespace sluice::ns3
