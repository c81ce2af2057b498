// SPDX-License-Identifier: Apache-2.0
#include "core/step/oracle.h"

#include "core/step/nic.h"

namespace sluice::step {

Oracle::Oracle(WorldStore& store)
    : store_(store),
      world_(store.world()),
      arrival_(store.topology().port_count(), kNever),
      arrival_order_(store.topology().port_count()),
      decision_(store.topology().port_count(), kNever),
      timer_(store.topology().node_count(), kNever) {
    refresh_all();
}

void Oracle::refresh(Phase phase, NodeId node, PortId port, Tick at, const EventOrder& order) {
    Tick& entered = phase == Phase::arrival    ? arrival_[port]
                    : phase == Phase::decision ? decision_[port]
                                               : timer_[node];
    EventOrder known;
    if (phase == Phase::arrival) {
        known = arrival_order_[port];
    }
    // A tiny frame may take no time in ns-3's arithmetic: the next arrival may have the same time.
    if (entered == at && known.scheduled == order.scheduled && known.key == order.key) {
        return;
    }
    if (phase == Phase::arrival) {
        arrival_order_[port] = order;
    }
    if (entered != kNever) {
        events_.erase(Event{entered, phase, known.scheduled, known.key, node, port});
    }
    if (at != kNever) {
        events_.insert(Event{at, phase, order.scheduled, order.key, node, port});
    }
    entered = at;
}

void Oracle::refresh_arrival(NodeId node, PortId port) {
    const bool ordered = world_.ns3_order && world_.arrival[port] != kNever;
    refresh(Phase::arrival, node, port, world_.arrival[port],
            ordered ? arrival_order(world_, port, world_.link[port].front()) : EventOrder{});
}

void Oracle::refresh_node(NodeId node) {
    for (PortId p = world_.first_port[node]; p < world_.first_port[node + 1]; ++p) {
        refresh_arrival(node, p);
        refresh(Phase::decision, node, p, world_.decision[p]);
        refresh_arrival(store_.topology().neighbor(p), world_.egress[p].peer);
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
    if (world_.ns3_order && world_.is_host[node] != 0 && wake_up_first(world_, in, now)) {
        host_transmit(world_, node, in, now);
        return;
    }
    Wire& link = world_.link[in];
    Packet packet = link.front();
    link.pop();
    world_.arrival[in] = next_arrival(link);
    if (world_.is_host[node] != 0) {
        host_arrive(world_, node, in, packet, now);
        return;
    }
    ++world_.events;
    packet.ingress = static_cast<std::uint16_t>(in - world_.first_port[node]);
    PortId out = in;
    if (packet.packet_kind() < PacketKind::pause) {
        out = egress_of(world_, node, packet);
        if (lost_on_link(world_, in, world_.ingress[in]) || out == kNone) {
            ++world_.drops;
            ++world_.egress[out == kNone ? in : out].drops;
            return;
        }
    }
    switch_arrive(world_, whole_node(node), in, out, packet, now);
}

/// Before an instant later than the last one: takes up flows that opened and closed, and lets the
/// supervisor look if that comes before the next event and before `until`. True if it did anything.
bool Oracle::look(Tick until) {
    if (tracker_ == nullptr) {
        return false;
    }
    if (world_.changed.count > 0 && std::get<0>(*events_.begin()) > now_) {
        tracker_->update();
        refresh_all();
        return true;
    }
    const Tick cut = tracker_->supervisor().next_cut();
    if (cut >= until || cut > std::get<0>(*events_.begin())) {
        return false;
    }
    tracker_->supervisor().at_cut(cut);
    refresh_all();
    return true;
}

bool Oracle::run(Tick until) {
    while (!events_.empty()) {
        if (look(until)) {
            continue;
        }
        const auto [now, phase, scheduled, key, node, port] = *events_.begin();
        if (now >= until) {
            return true;
        }
        now_ = now;
        if (phase == Phase::arrival) {
            arrive(node, port, now);
        } else if (phase == Phase::timer) {
            host_timer(world_, node, now);
        } else if (world_.is_host[node] != 0) {
            host_transmit(world_, node, port, now);
        } else {
            world_.decision[port] = switch_transmit<true>(world_, whole_node(node), port, now);
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
