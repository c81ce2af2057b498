// SPDX-License-Identifier: Apache-2.0
#include "core/world/told_flows.h"

#include <algorithm>

#include "core/packet/buffer.h"
#include "core/world/skip.h"

namespace sluice::step {

namespace {

void drop_timers(World& world, NodeId node, TimerKind kind, FlowSlot flow) {
    PlainVector<Timer>& timers = world.host[node].timers;
    Timer* const end = std::remove_if(
        timers.data, timers.data + timers.count,
        [&](const Timer& timer) { return timer.kind == kind && timer.slot == flow; });
    timers.count = static_cast<std::uint32_t>(end - timers.data);
    order_timers(timers);
    refresh_wake(world, node);
}

/// Data packets of a flow, with their headers.
struct Amount {
    std::int64_t packets = 0;
    std::int64_t bytes = 0;

    Amount& operator+=(const Amount& more) {
        packets += more.packets;
        bytes += more.bytes;
        return *this;
    }
};

/// Takes the packets of `flow` out of a queue or link; visit(packet) sees each.
template <class Visit>
Amount take_out(const World& world, Ring& ring, FlowSlot flow, Visit&& visit) {
    Amount taken;
    std::uint32_t kept = ring.head;
    for (std::uint32_t at = ring.head; at != ring.tail; ++at) {
        const Packet packet = ring.at(at);
        if (packet.flow != flow || packet.packet_kind() != PacketKind::data) {
            ring.at(kept++) = packet;
            continue;
        }
        visit(packet);
        taken += {packets_of_train(world, packet.bytes), packet.bytes};
    }
    ring.tail = kept;
    return taken;
}

/// The same, of all that is queued at a port.
Amount take_from_queues(WorldStore& store, PortId port, FlowSlot flow) {
    World& world = store.world();
    Egress& egress = world.egress[port];
    const NodeId node = store.topology().node_of(port);
    const bool of_switch = !store.topology().is_host(node);
    Amount taken;
    for (std::uint32_t queue = 1; queue < kClasses; ++queue) {
        const Amount more = take_out(world, egress.queue[queue], flow, [&](const Packet& packet) {
            if (of_switch) {
                release(world.buffer[cell_of(world, port)],
                        world.ingress[world.first_port[node] + packet.ingress], queue, packet.bytes,
                        world.pfc);
            }
        });
        taken += more;
        egress.class_bytes[queue] -= static_cast<std::uint32_t>(more.bytes);
        egress.queued_bytes -= static_cast<std::uint32_t>(more.bytes);
        if (egress.queue[queue].empty()) {
            egress.nonempty = static_cast<std::uint8_t>(egress.nonempty & ~(1U << queue));
        }
    }
    if (of_switch && egress.nonempty == 0) {
        world.link[port].decision = kNever;
    }
    return taken;
}

/// The same, of what is on the link that a port feeds.
Amount take_from_link(World& world, PortId port, FlowSlot flow) {
    const Egress& egress = world.egress[port];
    Wire& link = world.link[egress.peer];
    const Amount taken = take_out(world, link, flow, [](const Packet&) {});
    if (taken.packets > 0) {
        link.arrival = next_arrival(link);
    }
    return taken;
}

}  // namespace

bool stands_alone(const World& world, FlowSlot flow) {
    if (world.sender_at[flow] == kNone || world.following[flow] != kNone) {
        return false;
    }
    const Sender& sender = sender_of(world, flow);
    return sender.heir == kNone && sender.behind == 0 && sender.retransmitted == 0;
}

void hold_opened(World& world, FlowSlot flow) {
    const NodeId node = world.spec[flow].src;
    Host& host = world.host[node];
    const std::uint32_t index = world.sender_at[flow];
    Sender& sender = host.senders[index];
    for (std::uint32_t i = 0; i < host.timers.count; ++i) {
        Timer& timer = host.timers[i];
        if (timer.kind == TimerKind::sender && timer.slot == index && timer.time == sender.armed) {
            timer.time += kHeld;
        }
    }
    order_timers(host.timers);
    Tick& ready = world.host_port[sender.port].ready[sender.position];
    if (ready != kNever) {
        ready += kHeld;
    }
    shift_flow(world, flow, kHeld);
    decide(world, host, sender.port, world.result[flow].start);
    refresh_wake(world, node);
}

void tell_ends(World& world, FlowSlot flow, Tick received, Tick finish) {
    const FlowSpec& spec = world.spec[flow];
    schedule(world, spec.dst, Timer{received, TimerKind::last_byte, flow, world.id[flow]});
    schedule(world, spec.src, Timer{finish, TimerKind::last_ack, flow, world.id[flow]});
}

void untell_ends(World& world, FlowSlot flow) {
    const FlowSpec& spec = world.spec[flow];
    drop_timers(world, spec.dst, TimerKind::last_byte, flow);
    drop_timers(world, spec.src, TimerKind::last_ack, flow);
}

void drop_sender(World& world, FlowSlot flow) {
    const NodeId node = world.spec[flow].src;
    const std::uint32_t index = world.sender_at[flow];
    Host& host = world.host[node];
    detach(world, host, index);
    world.sender_at[flow] = kNone;
    free_sender(world, host, index);
}

void reopen(World& world, FlowSlot flow, std::int64_t packets, double factor, Tick now) {
    const NodeId node = world.spec[flow].src;
    Host& host = world.host[node];
    const Tick start = world.result[flow].start;
    const PortId port = departure_port(world, node, flow);
    return_int_slots(world, host, flow);
    const std::uint32_t index = create_sender(world, flow, port, now);
    world.result[flow].start = start;
    shorten_flow(world, flow, packets);
    Sender& sender = host.senders[index];
    congestion::resume(sender.cc, world.config->congestion, factor, now);
    sender.window = congestion::window(sender.cc, world.config->congestion);
    attach(world, host, index, port);
    update_ready(world, sender);
    arm(world, host, index);
    decide(world, host, port, now);
    refresh_wake(world, node);
}

void tell_rest(WorldStore& store, FlowSlot flow, const std::vector<PortId>& way, Tick received,
               Tick finish, Tick now) {
    World& world = store.world();
    const Sender& sender = sender_of(world, flow);
    Amount left = {std::int64_t{sender.packets} - sender.next, sender.size - sender.next_bytes};
    left.bytes += left.packets * world.data_overhead;
    for (const PortId port : way) {
        left += take_from_queues(store, port, flow);
        store.add_skipped(port, left.packets, left.bytes);
        store.settle_skipped(port);
        left += take_from_link(world, port, flow);
    }
    Wire& answers = world.answers[flow];
    answers.head = answers.tail;
    const NodeId source = world.spec[flow].src;
    const PortId port = sender.port;
    drop_timers(world, source, TimerKind::answer, flow);
    drop_sender(world, flow);
    decide(world, world.host[source], port, now);
    for (const PortId passed : way) {
        refresh_wake(world, store.topology().node_of(passed));
        refresh_wake(world, store.topology().neighbor(passed));
    }
    tell_ends(world, flow, received, finish);
}

void drop_packets(WorldStore& store, PortId port) {
    World& world = store.world();
    Egress& egress = world.egress[port];
    for (std::uint32_t queue = 0; queue < kClasses; ++queue) {
        egress.class_bytes[queue] = 0;
        egress.deficit[queue] = 0;
        egress.queue[queue].head = egress.queue[queue].tail;
    }
    egress.queued_bytes = 0;
    egress.nonempty = 0;
    world.link[port].decision = kNever;
    Wire& link = world.link[egress.peer];
    link.head = link.tail;
    link.arrival = kNever;
    refresh_wake(world, store.topology().node_of(port));
    refresh_wake(world, store.topology().node_of(egress.peer));
}

}  // namespace sluice::step
