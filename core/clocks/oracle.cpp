// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/oracle.h"

#include "core/packet/nic.h"

namespace sluice::step {

Oracle::Oracle(WorldStore& store)
    : store_(store),
      world_(store.world()),
      arrival_(store.topology().port_count(), kNever),
      decision_(store.topology().port_count(), kNever),
      timer_(store.topology().node_count(), kNever) {
    refresh_all();
}

void Oracle::refresh(Phase phase, NodeId node, PortId port, Tick at) {
    Tick& entered = phase == Phase::arrival    ? arrival_[port]
                    : phase == Phase::decision ? decision_[port]
                                               : timer_[node];
    if (entered == at) {
        return;
    }
    if (entered != kNever) {
        events_.erase(Event{entered, phase, node, port});
    }
    if (at != kNever) {
        events_.insert(Event{at, phase, node, port});
    }
    entered = at;
}

void Oracle::refresh_node(NodeId node) {
    for (PortId p = world_.first_port[node]; p < world_.first_port[node + 1]; ++p) {
        const PortId peer = world_.egress[p].peer;
        refresh(Phase::arrival, node, p, world_.link[p].arrival);
        refresh(Phase::decision, node, p, world_.link[p].decision);
        refresh(Phase::arrival, store_.topology().neighbor(p), peer, world_.link[peer].arrival);
    }
    const Host& host = world_.host[node];
    refresh(Phase::timer, node, 0, host.timers.count > 0 ? host.timers.data[0].time : kNever);
    world_.wake[node] = kNever;
}

void Oracle::refresh_all() {
    for (NodeId n = 0; n < world_.node_count; ++n) {
        refresh_node(n);
        world_.block_wake[n >> 6] = kNever;
    }
}

void Oracle::arrive(NodeId node, PortId in, Tick now) {
    Wire& link = world_.link[in];
    Packet packet = link.front();
    link.pop();
    world_.link[in].arrival = next_arrival(link);
    if (world_.is_host[node] != 0) {
        host_arrive(world_, node, in, packet, now);
        return;
    }
    ++world_.events;
    packet.ingress = static_cast<std::uint16_t>(in - world_.first_port[node]);
    PortId out = in;
    if (packet.packet_kind() < PacketKind::pause) {
        out = egress_of(world_, node, packet, false);
        const bool lost = lost_on_link(world_, in, world_.ingress[in]);
        if (lost || out == kNone) {
            lose(world_, world_.egress[out == kNone ? in : out],
                 lost ? &Egress::drops_cable : &Egress::drops_no_way);
            return;
        }
    }
    if (world_.in_order && packet.packet_kind() < PacketKind::pause) {
        out = egress_of(world_, node, packet);
        if (out == kNone) {
            lose(world_, world_.egress[in], &Egress::drops_no_way);
            return;
        }
    }
    switch_arrive<ScenarioPolicies>(world_, whole_node(node), in, out, packet, now);
}

bool Oracle::run(Tick until, const Look& look) {
    while (!events_.empty() || world_.disturbed.count > 0) {
        if (look && look(events_.empty() ? kNever : std::get<0>(*events_.begin()))) {
            refresh_all();
            continue;
        }
        const auto [now, phase, node, port] = *events_.begin();
        if (now >= until) {
            return true;
        }
        now_ = now;
        if (phase == Phase::arrival) {
            arrive(node, port, now);
        } else if (phase == Phase::timer) {
            if (!host_timer(world_, node, now)) {
                refresh(Phase::timer, node, 0, kNever);  // until `look` has woken the host
                continue;
            }
        } else if (world_.is_host[node] != 0) {
            host_transmit(world_, node, port, now);
        } else {
            world_.link[port].decision =
                switch_transmit<ScenarioPolicies, true>(world_, whole_node(node), port, now);
        }
        refresh_node(node);
        // An application may have set a timer of another host: whoever was woken is taken up.
        for (std::uint32_t b = 0; b * 64 < world_.node_count; ++b) {
            if (world_.block_wake[b] == kNever) {
                continue;
            }
            world_.block_wake[b] = kNever;
            const NodeId last = b * 64 + 64 < world_.node_count ? b * 64 + 64 : world_.node_count;
            for (NodeId n = b * 64; n < last; ++n) {
                if (world_.wake[n] != kNever) {
                    refresh_node(n);
                }
            }
        }
    }
    return false;
}

}  // namespace sluice::step
