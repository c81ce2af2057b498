// SPDX-License-Identifier: Apache-2.0
#include "core/world/told_flows.h"

#include <algorithm>

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

}  // namespace

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
